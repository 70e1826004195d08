"""LangChain 1.x: a middleware in front of every tool. Imports LangChain when it is made."""

from __future__ import annotations

from typing import Any

from ._gate import AsyncGate, Gate
from ._self_test import Canary, SelfTestReport
from .langgraph import async_wrapper, wrapper


def remit_middleware(gate: Gate | AsyncGate) -> Any:
    """Returns a middleware for `create_agent`; an `AsyncGate` serves `ainvoke`, a `Gate` `invoke`.

    With the approval mode `return`, a pending call interrupts the graph with `approval_id`, `until` and
    `message`; resume it with `Command(resume=True)` once it is approved.
    """
    from langchain.agents.middleware import AgentMiddleware

    if isinstance(gate, AsyncGate):
        asynchronous = async_wrapper(gate)

        class AsyncRemitMiddleware(AgentMiddleware):
            awrap_tool_call = staticmethod(asynchronous)

        return AsyncRemitMiddleware()

    blocking = wrapper(gate)

    class RemitMiddleware(AgentMiddleware):
        wrap_tool_call = staticmethod(blocking)

    return RemitMiddleware()


def self_test(gate: Gate) -> SelfTestReport:
    """Drives the canary through an agent with a scripted model."""
    return gate.self_test(_drive)


def _drive(gate: Gate, canary: Canary) -> str:
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.types import Command

    call = {"name": canary.name, "args": {}, "id": canary.call_id}

    class ScriptedModel(BaseChatModel):
        turn: int = 0

        @property
        def _llm_type(self) -> str:
            return "remit-selftest"

        def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
            return self

        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            calls = [call] if self.turn == 0 else []
            self.turn += 1
            message = AIMessage(content="" if calls else "done", tool_calls=calls)
            return ChatResult(generations=[ChatGeneration(message=message)])

    def run() -> str:
        return canary.run()

    tool = StructuredTool.from_function(run, name=canary.name, description=canary.description)
    agent: Any = create_agent(
        ScriptedModel(),
        [tool],
        middleware=[remit_middleware(gate)],
        checkpointer=InMemorySaver(),
    )
    config = {"configurable": {"thread_id": canary.call_id}}
    state = agent.invoke({"messages": [("user", "Call it.")]}, config)
    if "__interrupt__" in state:
        state = agent.invoke(Command(resume=True), config)
    return " | ".join(str(message.content) for message in state["messages"])
