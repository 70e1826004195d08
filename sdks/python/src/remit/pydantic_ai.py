"""Pydantic AI: a toolset that asks before its tools run. Imports nothing of it until used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._gate import AsyncGate
from ._self_test import Canary, SelfTestReport
from ._verdict import Pending, tool_message

if TYPE_CHECKING:
    from pydantic_ai.toolsets import AbstractToolset


def governed(gate: AsyncGate, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
    """Returns the toolset such that each of its tools asks first; a denial becomes the tool's result, for the model.

    With the approval mode `return`, a pending call raises `ApprovalRequired` of the framework: the run ends with
    `DeferredToolRequests`, which must be an `output_type` of the agent, with `approval_id`, `until` and `message`
    in `metadata`. Resume with `DeferredToolResults` once it is approved; Remit is asked again then.

    Raises `ValueError` at the start of a run for a tool that runs elsewhere (`external`), and for a name that
    Remit does not take.

    Example: `Agent(model, toolsets=[governed(gate, FunctionToolset([transfer]))])`.
    """
    from pydantic_ai import ApprovalRequired
    from pydantic_ai.toolsets import WrapperToolset

    class Governed(WrapperToolset[Any]):
        async def get_tools(self, ctx: Any) -> Any:
            tools = await super().get_tools(ctx)
            for name, tool in tools.items():
                gate.assert_tool(name)
                if tool.tool_def.kind == "external":
                    raise ValueError(f"the tool {name!r} runs elsewhere (kind external): Remit cannot govern it")
            return tools

        async def call_tool(self, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
            inner = super().call_tool
            done = await gate.run(
                name, tool_args, lambda decided: inner(name, decided, ctx, tool), call_id=ctx.tool_call_id
            )
            if done.kind == "ran":
                return done.result
            if isinstance(done, Pending) and gate.does_return and not ctx.tool_call_approved:
                about = {"approval_id": done.approval_id, "until": done.until, "message": done.message}
                raise ApprovalRequired(about)
            return tool_message(done)

    return Governed(toolset)


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through an agent with the scripted model of the framework."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, FunctionToolset
    from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    def answer(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if any(isinstance(message, ModelResponse) for message in messages):
            return ModelResponse(parts=[TextPart("done")])
        return ModelResponse(parts=[ToolCallPart(canary.name, {}, canary.call_id)])

    async def run() -> str:
        return canary.run()

    toolset: FunctionToolset[Any] = FunctionToolset()
    toolset.add_function(run, name=canary.name, description=canary.description)
    output_type: Any = [str, DeferredToolRequests]
    agent: Any = Agent(FunctionModel(answer), toolsets=[governed(gate, toolset)], output_type=output_type)
    result = await agent.run("Call it.")
    if isinstance(result.output, DeferredToolRequests):
        resumed = DeferredToolResults(approvals={canary.call_id: True})
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=resumed)
    return str(result.all_messages_json().decode())
