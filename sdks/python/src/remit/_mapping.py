"""The request to Remit about a call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Union

from ._errors import Unmappable
from ._fit import fitted
from ._json import MISSING, at, canonical, without
from ._plain import to_name, to_plain

#: A function `(tool, input) -> {action, resource?, context?}`, or for each tool by name its `action`,
#: `amount` (JSON Pointer), `resource` (such as `invoice:{/id}`) and `omit` (JSON Pointers).
ToolMap = Union[Callable[[str, Any], Mapping[str, Any]], Mapping[str, Mapping[str, Any]]]

#: Actions that the server answers before all rules.
SELF_TEST_ACTIONS = "remit.selftest."


class SelfTestMap:
    """Maps the calls of a self-test to its reserved action, which no other mapping may use."""

    def __init__(self, answer: str) -> None:
        self._action = SELF_TEST_ACTIONS + answer

    def __call__(self, tool: str, input: Any) -> Mapping[str, Any]:
        return {"action": self._action}


def request_for(agent_id: str | None, tools: ToolMap | None, tool: str, input: Any) -> dict[str, Any]:
    """The body of `POST /v1/authorize`. Raises `Unmappable`, or what the mapping raises."""
    mapped = tools(tool, input) if callable(tools) else _by_table(tools or {}, tool, input)
    context = to_plain(mapped.get("context", {}))
    if not isinstance(context, dict):
        raise Unmappable("context", "is not an object")
    action = to_name(mapped["action"])
    # A tool must not get past the rules by its name.
    if action.startswith(SELF_TEST_ACTIONS) and not isinstance(tools, SelfTestMap):
        raise Unmappable("action", "is reserved for self-tests")
    fit, replaced = fitted(context)
    request: dict[str, Any] = {"action": action, "context": fit}
    if replaced:
        request["replaced"] = replaced
    if agent_id is not None:
        request["agent_id"] = agent_id
    if mapped.get("resource") is not None:
        request["resource"] = _resource(mapped["resource"])
    return request


def _resource(resource: str | Mapping[str, str]) -> Any:
    if isinstance(resource, str):
        return "" if resource == "" else to_name(resource)
    return {"id": to_name(resource["id"]), "type": to_name(resource["type"])}


def _by_table(table: Mapping[str, Mapping[str, Any]], tool: str, input: Any) -> dict[str, Any]:
    rule = table.get(tool, {})
    args = to_plain({} if input is None else input)
    kept = args
    for pointer in rule.get("omit", ()):
        kept = without(kept, pointer)
    context: dict[str, Any] = {"args": kept, "tool": to_name(tool)}
    amount = at(args, rule["amount"]) if "amount" in rule else MISSING
    if amount is not MISSING:
        context["amount_usd"] = amount
    mapped: dict[str, Any] = {"action": rule.get("action", tool), "context": context}
    if "resource" in rule:
        mapped["resource"] = _filled(rule["resource"], args)
    return mapped


def _filled(template: str, args: Any) -> str:
    def value_of(found: re.Match[str]) -> str:
        value = at(args, found[1])
        if isinstance(value, str):
            return value
        if isinstance(value, (bool, int, float)):
            return canonical(value)
        raise Unmappable(found[1], "is no text, number or boolean, and the resource needs it")

    return re.sub(r"\{(/[^}]*)\}", value_of, template)
