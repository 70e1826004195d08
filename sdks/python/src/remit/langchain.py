"""LangChain 1.x: a middleware in front of every tool. Imports LangChain when it is made."""

from __future__ import annotations

from typing import Any

from ._gate import AsyncGate, Gate
from ._verdict import Pending, tool_message


def remit_middleware(gate: Gate | AsyncGate) -> Any:
    """Returns a middleware for `create_agent`; an `AsyncGate` serves `ainvoke`, a `Gate` `invoke`.

    With the approval mode `return`, a pending call interrupts the graph with `approval_id`, `until` and
    `message`; resume it with `Command(resume=True)` once it is approved.
    """
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage
    from langgraph.types import interrupt

    does_return = gate._core.options.approval.get("mode") == "return"

    def refusal(call: dict[str, Any], verdict: Any) -> Any:
        if isinstance(verdict, Pending) and does_return:
            until, message = verdict.until, verdict.message
            interrupt({"approval_id": verdict.approval_id, "until": until, "message": message})
        content = tool_message(verdict)
        return ToolMessage(content, name=call["name"], tool_call_id=call["id"], status="error")

    if isinstance(gate, AsyncGate):

        class AsyncRemitMiddleware(AgentMiddleware):  # type: ignore[misc]
            async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
                call = request.tool_call
                name, args, call_id = call["name"], call["args"], call["id"]
                # First of all, as LangGraph runs this anew after an interrupt.
                done = await gate.run(name, args, lambda: handler(request), call_id=call_id)
                return done.result if done.kind == "ran" else refusal(call, done)

        return AsyncRemitMiddleware()

    class RemitMiddleware(AgentMiddleware):  # type: ignore[misc]
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            call = request.tool_call
            name, args, call_id = call["name"], call["args"], call["id"]
            done = gate.run(name, args, lambda: handler(request), call_id=call_id)
            return done.result if done.kind == "ran" else refusal(call, done)

    return RemitMiddleware()
