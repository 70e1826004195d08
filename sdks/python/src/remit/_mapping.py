"""The request to Remit about a call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ._address import AddressError, normal_path
from ._errors import Unmappable
from ._fit import fitted
from ._json import MISSING, at, canonical, is_object, omitted_digest, without
from ._plain import name_of, to_plain

#: A function `(tool, input) -> {action, resource?, context?}`, or for each tool by name its `action`,
#: `amount` (JSON Pointer), `resource` (such as `invoice:{/id}`) and `omit` (JSON Pointers of members that
#: Remit must not see; `context.omitted` has a keyed digest of each).
ToolMap = Callable[[str, Any], Mapping[str, Any]] | Mapping[str, Mapping[str, Any]]

#: Actions that the server answers before all rules.
SELF_TEST_ACTIONS = "remit.selftest."


class SelfTestMap:
    """Maps the calls of a self-test to its reserved action, which no other mapping may use."""

    def __init__(self, answer: str) -> None:
        self._action = SELF_TEST_ACTIONS + answer

    def __call__(self, tool: str, input: Any) -> Mapping[str, Any]:
        return {"action": self._action}


_MEMBERS = ("action", "amount", "omit", "resource")
_POINTER = re.compile("/([^~]|~[01])*", re.DOTALL)
_MAX_USD = 1e9


def check_map(tools: ToolMap) -> None:
    """Refuses a table with a mistake: a member that is not omitted would be seen. Raises `ValueError`."""
    if callable(tools):
        return
    for tool, rule in tools.items():
        for member in rule:
            if member not in _MEMBERS:
                raise ValueError(f"map.{tool}.{member} is unknown; known are {', '.join(_MEMBERS)}")
        for pointer in (rule.get("amount", "/"), *rule.get("omit", ())):
            if not _POINTER.fullmatch(pointer):
                raise ValueError(f"map.{tool}: {pointer} is no JSON Pointer such as /invoice/id")


def is_usd(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value <= _MAX_USD


def rounded_usd(usd: float) -> float:
    """Amounts have 6 decimals; half of the last one is rounded up, as in the other gate."""
    micro = usd * 1e6
    whole = math.floor(micro)
    return (whole + (micro - whole >= 0.5)) / 1e6


def request_for(
    agent_id: str | None, tools: ToolMap | None, secret: Callable[[], str], tool: str, input: Any
) -> dict[str, Any]:
    """The body of `POST /v1/authorize`. Raises `Unmappable`, or what the mapping raises.

    `secret` returns that of the digests of omitted members."""
    mapped = tools(tool, input) if callable(tools) else _by_table(tools or {}, secret, tool, input)
    context = to_plain(mapped.get("context", {}))
    if not is_object(context):
        raise Unmappable("context", "is not an object")
    action = name_of(mapped["action"], "action")
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
        return "" if resource == "" else name_of(resource, "resource")
    return {name: name_of(resource[name], f"resource.{name}") for name in ("id", "type")}


def _by_table(
    table: Mapping[str, Mapping[str, Any]], secret: Callable[[], str], tool: str, input: Any
) -> dict[str, Any]:
    rule = table.get(tool, {})
    args = to_plain({} if input is None else input)
    kept, omitted = args, {}
    for pointer in rule.get("omit", ()):
        kept = without(kept, pointer)
        member = at(args, pointer)
        if member is not MISSING:
            omitted[pointer] = omitted_digest(secret(), tool, pointer, member)
    context: dict[str, Any] = {"args": kept, "tool": tool}
    if omitted:
        context["omitted"] = omitted
    mapped: dict[str, Any] = {"action": rule.get("action", tool), "context": context}
    if "resource" in rule:
        mapped["resource"] = _filled(rule["resource"], args)
    if "amount" in rule:
        context["amount_usd"] = _amount_at(args, rule["amount"])
    name_of(tool, "tool")
    return mapped


def _amount_at(args: Any, pointer: str) -> Any:
    """An amount as limits count it: without it, a limit would count nothing."""
    amount = at(args, pointer)
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise Unmappable(pointer, "is no number, and the amount needs it")
    return rounded_usd(amount) if is_usd(amount) else amount


# With the slashes of a template that is written as an address.
_FILE = re.compile(r"file:(?:/*(?=/))?")


def _filled(template: str, args: Any) -> str:
    """A template with values of the arguments; one that begins with `file:` is a path in normal form."""
    file = _FILE.match(template)
    root = file[0] if file else ""

    def value_of(found: re.Match[str]) -> str:
        value = at(args, found[1])
        if isinstance(value, (bool, int, float)):
            value = canonical(value)
        if not isinstance(value, str):
            raise Unmappable(found[1], "is no text, number or boolean, and the resource needs it")
        if file:
            _check_path(template[len(root) : found.start()], value, found[1])
        return value

    text = re.sub(r"\{(/[^}]*)\}", value_of, template)
    if not file:
        return text
    path = text[len(root) :]
    # The values and the template make one path, as for the tool.
    return root + _in_normal_form("resource", path, not re.match(r"/|[A-Za-z]:", path))


def _check_path(before: str, value: str, pointer: str) -> None:
    """A value as a part of a path: it cannot leave what the template has before it."""
    is_whole = before == "" or (not before.endswith("/") and value.startswith("/"))
    _in_normal_form(pointer, value, not is_whole)


def _in_normal_form(place: str, path: str, is_relative: bool) -> str:
    try:
        return normal_path(path, is_relative)
    except AddressError as error:
        raise Unmappable(place, str(error)) from error
