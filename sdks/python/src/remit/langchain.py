"""LangChain 1.x: a middleware in front of every tool. Imports LangChain when it is made."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any

from ._core import already_decided
from ._errors import RemitDenied
from ._gate import AsyncGate, Gate
from ._self_test import Canary, SelfTestReport
from ._verdict import Deny, Pending, tool_message


def remit_middleware(gate: Gate | AsyncGate) -> Any:
    """Returns a middleware for `create_agent`; an `AsyncGate` serves `ainvoke`, a `Gate` `invoke`.

    With the approval mode `return`, a pending call interrupts the graph with `approval_id`, `until` and
    `message`; resume it with `Command(resume=True)` once it is approved.
    """
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.messages import ToolMessage
    from langgraph.types import interrupt

    def refusal(call: dict[str, Any], verdict: Any) -> Any:
        if isinstance(verdict, Pending) and gate.does_return:
            until, message = verdict.until, verdict.message
            interrupt({"approval_id": verdict.approval_id, "until": until, "message": message})
        content = tool_message(verdict)
        return ToolMessage(content, name=call["name"], tool_call_id=call["id"], status="error")

    def is_failure(result: Any) -> bool:
        return getattr(result, "status", None) == "error"

    if isinstance(gate, AsyncGate):
        asynchronous = gate

        class AsyncRemitMiddleware(AgentMiddleware):
            async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
                call = request.tool_call
                if request.tool is None:
                    return refusal(call, Deny("unmappable", _UNKNOWN_TOOL, call["id"]))
                input, decided_request = _asked(request)
                # First of all, as LangGraph runs this anew after an interrupt.
                done = await asynchronous.run(
                    call["name"],
                    input,
                    lambda decided: handler(decided_request(decided)),
                    call_id=call["id"],
                    is_failure=is_failure,
                )
                return done.result if done.kind == "ran" else refusal(call, done)

        return AsyncRemitMiddleware()

    blocking = gate

    class RemitMiddleware(AgentMiddleware):
        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            call = request.tool_call
            if request.tool is None:
                return refusal(call, Deny("unmappable", _UNKNOWN_TOOL, call["id"]))
            input, decided_request = _asked(request)
            done = blocking.run(
                call["name"],
                input,
                lambda decided: handler(decided_request(decided)),
                call_id=call["id"],
                is_failure=is_failure,
            )
            return done.result if done.kind == "ran" else refusal(call, done)

    return RemitMiddleware()


# A later middleware may have one, whose schema makes arguments that nobody here sees.
_UNKNOWN_TOOL = "The agent has no such tool. A middleware that gives one must come before remit_middleware."


def _asked(request: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The arguments that the tool runs with, and what makes a request that runs with the decided ones."""
    call, tool = request.tool_call, request.tool
    parsed = _parsed(tool, call["args"], call["id"])
    if parsed is None:
        return call["args"], lambda decided: request.override(
            tool_call={**call, "args": decided}, tool=_once(tool, call["id"])
        )
    return parsed, lambda decided: request.override(
        tool=_once(_with_arguments(tool, decided), call["id"])
    )


def _once(tool: Any, call_id: str) -> Any:
    """The tool such that it runs once: a later middleware that repeats a call that failed would repeat a payment."""
    runs, governed = itertools.count(), copy.copy(tool)

    def first(invoke: Callable[..., Any]) -> Callable[..., Any]:
        def invoked(*args: Any, **options: Any) -> Any:
            if next(runs) > 0:
                raise RemitDenied(already_decided(call_id, None))
            return invoke(*args, **options)

        return invoked

    for name in ("invoke", "ainvoke"):
        object.__setattr__(governed, name, first(getattr(tool, name)))
    return governed


def _parsed(tool: Any, args: Any, call_id: str) -> dict[str, Any] | None:
    """A schema fills in defaults, and changes values. None where the arguments cannot be read here: the
    framework reports those that do not fit."""
    try:
        every, own = tool.get_input_schema().model_fields, tool.tool_call_schema.model_fields
        # Those that the framework adds, which a model must not choose.
        injected = frozenset(every) - frozenset(own)
        reader = copy.copy(tool)
        if injected and reader.args_schema is not None:
            object.__setattr__(reader, "args_schema", _without_needs(tool.args_schema, injected))
        positional, named = reader._to_args_and_kwargs(dict(args), call_id)
        shown = {*args, *own} - injected
        # Before 1.1, langchain-core leaves them to the function, where rules do not see them.
        defaults = {
            name: field.get_default(call_default_factory=True)
            for name, field in own.items()
            if name in shown and name not in named and not field.is_required()
        }
    except Exception:
        return None
    return None if positional else {**{name: named[name] for name in named if name in shown}, **defaults}


@functools.lru_cache(maxsize=256)
def _without_needs(schema: Any, injected: frozenset[str]) -> Any:
    """The schema with all of its validators, such that it does not need the arguments that are not there yet."""
    from pydantic import create_model

    optional: dict[str, Any] = dict.fromkeys(injected, (Any, None))
    return create_model(schema.__name__, __base__=schema, **optional)


def _with_arguments(tool: Any, decided: dict[str, Any]) -> Any:
    """The tool such that it runs with the arguments that were decided, whatever its schema makes of others."""

    def arguments(given: Any, call_id: str | None) -> tuple[tuple[()], dict[str, Any]]:
        return (), {**tool._to_args_and_kwargs(given, call_id)[1], **decided}

    governed = copy.copy(tool)
    object.__setattr__(governed, "_to_args_and_kwargs", arguments)
    return governed


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
