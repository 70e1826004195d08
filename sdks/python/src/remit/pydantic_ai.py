"""Pydantic AI: a toolset that asks before its tools run. Imports Pydantic AI when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._self_test import Canary, SelfTestReport
from ._verdict import tool_message

if TYPE_CHECKING:
    from pydantic_ai import RunContext
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool


def governed(gate: AsyncGate, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
    """Returns the toolset such that each call asks first; a denial becomes its result, for the model.

    Give it to `Agent(toolsets=[…])`, and no tools besides. Raises `ValueError` in a run whose toolset has a tool
    that is executed elsewhere, which nobody here would see run.
    """
    from pydantic_ai.toolsets import WrapperToolset

    class GovernedToolset(WrapperToolset[Any]):
        async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
            tools = await super().get_tools(ctx)
            for name, tool in tools.items():
                gate.assert_tool(name)
                if tool.tool_def.kind == "external":
                    raise ValueError(f"the tool {name} is executed elsewhere, where no gate sees it")
            return tools

        async def call_tool(
            self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
        ) -> Any:
            call = super().call_tool
            done = await gate.run(
                name, tool_args, lambda decided: call(name, decided, ctx, tool), call_id=ctx.tool_call_id
            )
            return done.result if done.kind == "ran" else tool_message(done)

    return GovernedToolset(toolset)


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through an agent with a scripted model."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import FunctionToolset

    answers = [ModelResponse([ToolCallPart(canary.name, {}, canary.call_id)]), ModelResponse([TextPart("done")])]
    toolset: FunctionToolset[Any] = FunctionToolset()

    async def run() -> str:
        return canary.run()

    toolset.add_function(run, name=canary.name)
    agent = Agent(FunctionModel(lambda messages, info: answers.pop(0)), toolsets=[governed(gate, toolset)])
    result = await agent.run("Call it.")
    return result.all_messages_json().decode()
