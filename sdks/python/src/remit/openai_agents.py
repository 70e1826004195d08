"""OpenAI Agents SDK: function tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._self_test import Canary, SelfTestReport
from ._verdict import tool_message

if TYPE_CHECKING:
    from agents import FunctionTool


def governed(gate: AsyncGate, tool: FunctionTool) -> FunctionTool:
    """Returns the tool such that it asks first; a denial becomes its result, for the model."""
    from agents.tool import (
        maybe_invoke_function_tool_failure_error_function,
        set_function_tool_failure_error_function,
    )

    gate.assert_tool(tool.name)
    # The framework makes a text for the model of an error, and nobody else sees the error then.
    raising = set_function_tool_failure_error_function(dataclasses.replace(tool), None)

    async def asking(context: Any, arguments: str) -> Any:
        try:
            input = json.loads(arguments) if arguments else {}
        except ValueError:
            return "Not executed: the arguments are not JSON."
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


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through `Runner` with a scripted model."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from agents import Agent, FunctionTool, Model, ModelResponse, RunConfig, Runner, Usage
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    call = ResponseFunctionToolCall(
        type="function_call", call_id=canary.call_id, name=canary.name, arguments="{}"
    )
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    answer = ResponseOutputMessage(
        id="msg_selftest", type="message", role="assistant", status="completed", content=[text]
    )

    class ScriptedModel(Model):  # type: ignore[misc]
        def __init__(self) -> None:
            self.outputs = [call, answer]

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
