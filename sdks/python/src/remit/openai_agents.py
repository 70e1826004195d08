"""OpenAI Agents SDK: function tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import dataclasses
import json
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._json import at
from ._self_test import Canary, SelfTestReport
from ._verdict import tool_message

if TYPE_CHECKING:
    from agents import FunctionTool


def governed(gate: AsyncGate, tool: FunctionTool) -> FunctionTool:
    """Returns the tool such that it asks first; a denial becomes its result, for the model."""
    from agents.tool import maybe_invoke_function_tool_failure_error_function, set_function_tool_failure_error_function

    gate.assert_tool(tool.name)
    # The framework makes a text for the model of an error, and nobody else sees the error then.
    raising = set_function_tool_failure_error_function(dataclasses.replace(tool), None)

    async def asking(context: Any, arguments: str) -> Any:
        try:
            given = json.loads(arguments, object_pairs_hook=_once) if arguments else {}
        except ValueError as error:
            return f"Not executed: the arguments are not JSON ({error})."
        try:
            input = _read(tool.params_json_schema, given, tool.params_json_schema, "")
        except ValueError as error:
            return f"Not executed: {error}."
        call_id = getattr(context, "tool_call_id", None)
        try:
            done = await gate.run(
                tool.name, input, lambda: raising.on_invoke_tool(context, arguments), call_id=call_id
            )
        except Exception as error:
            told = await maybe_invoke_function_tool_failure_error_function(
                function_tool=tool, context=context, error=error
            )
            if told is None:
                raise
            return told
        return done.result if done.kind == "ran" else tool_message(done)

    return dataclasses.replace(tool, on_invoke_tool=asking)


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    # The tool may read the other one.
    if len(found) < len(members):
        raise ValueError("an object has a name twice")
    return found


def _read(schema: Any, value: Any, root: Any, path: str) -> Any:
    """The arguments with the defaults of their JSON Schema. Raises `ValueError` for those that do not fit it: the
    tool would convert them to what rules have not seen, such as "yes" to true."""
    if not isinstance(schema, dict):
        return value
    if "$ref" in schema:
        value = _read(at(root, schema["$ref"][1:]), value, root, path)
    for part in schema.get("allOf", ()):
        value = _read(part, value, root, path)
    choices = schema.get("anyOf", schema.get("oneOf"))
    if choices:
        value = _read_one(choices, value, root, path)
    kinds = schema.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if kinds and not any(_is_a(kind, value) for kind in kinds):
        raise ValueError(f"{path or 'the input'} is no {' or '.join(kinds)}")
    known = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if known is not None and not any(type(one) is type(value) and one == value for one in known):
        raise ValueError(f"{path} is none of {json.dumps(known)}")
    if isinstance(value, list):
        first, rest = schema.get("prefixItems", ()), schema.get("items")
        kinds_of = [*first, *[rest] * (len(value) - len(first))]
        return [_read(kind, item, root, f"{path}/{at}") for at, (kind, item) in enumerate(zip(kinds_of, value))]
    return _read_members(schema, value, root, path) if isinstance(value, dict) else value


def _read_members(schema: dict[str, Any], value: dict[str, Any], root: Any, path: str) -> dict[str, Any]:
    own, patterns = schema.get("properties", {}), schema.get("patternProperties", ())
    # A tool may know them by another name than rules, as pydantic does with aliases.
    others = schema.get("additionalProperties", not own)
    for name in value:
        if others is False and name not in own and not any(re.search(pattern, name) for pattern in patterns):
            raise ValueError(f"{path or 'the input'} has the member {json.dumps(name)}, which its schema does not have")
    made = {name: _read(own.get(name, others), member, root, f"{path}/{name}") for name, member in value.items()}
    for name, part in own.items():
        if name in value or not isinstance(part, dict):
            continue
        if "default" in part:
            made[name] = part["default"]
        elif name in schema.get("required", ()):
            # A strict schema requires each member, and does not have a default that is null.
            made[name] = _read(part, None, root, f"{path}/{name}")
    return made


def _read_one(choices: list[Any], value: Any, root: Any, path: str) -> Any:
    *others, last = choices
    for choice in others:
        with suppress(ValueError):
            return _read(choice, value, root, path)
    return _read(last, value, root, path)


_KINDS: dict[str, Any] = {"null": type(None), "string": str, "array": list, "object": dict, "number": (int, float)}


def _is_a(kind: str, value: Any) -> bool:
    if isinstance(value, bool) or kind == "boolean":
        return isinstance(value, bool) and kind == "boolean"
    if kind == "integer":
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return isinstance(value, _KINDS.get(kind, object))


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through `Runner` with a scripted model."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    call = ResponseFunctionToolCall(
        type="function_call", call_id=canary.call_id, name=canary.name, arguments="{}"
    )
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    answer = ResponseOutputMessage(
        id="msg_selftest", type="message", role="assistant", status="completed", content=[text]
    )

    class ScriptedModel(Model):
        def __init__(self) -> None:
            self.outputs: list[Any] = [call, answer]

        async def get_response(self, *args: Any, **kwargs: Any) -> Any:
            output = self.outputs.pop(0)
            return ModelResponse(output=[output], usage=Usage(), response_id=None)

        def stream_response(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError("the self-test does not stream")

    async def invoke(context: Any, arguments: str) -> str:
        return canary.run()

    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    tool = FunctionTool(canary.name, canary.description, schema, invoke)
    agent = Agent(name="selftest", model=ScriptedModel(), tools=[governed(gate, tool)])
    config = RunConfig(tracing_disabled=True)
    result = await Runner.run(agent, "Call it.", run_config=config)
    return json.dumps(result.to_input_list(), default=str)
