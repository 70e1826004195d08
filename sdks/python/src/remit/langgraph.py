"""LangGraph: a `ToolNode` whose tools ask before they run, for a graph without an agent of LangChain, and what the
middleware for LangChain does with its calls. Imports nothing of it until used."""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any

from ._core import Ran, already_decided
from ._errors import RemitDenied
from ._gate import AsyncGate, Gate
from ._self_test import Canary, SelfTestReport
from ._verdict import Deny, Pending, tool_message

if TYPE_CHECKING:
    from langgraph.prebuilt import ToolNode


def tool_node(gate: Gate | AsyncGate, tools: Sequence[Any], **options: Any) -> ToolNode:
    """Returns a `ToolNode` for `StateGraph.add_node`; an `AsyncGate` serves `ainvoke`, a `Gate` both `invoke` and, in
    the thread of the event loop, `ainvoke`. A denial becomes the result of the call, for the model.

    `options` are those of `ToolNode`, but for its wrappers. With the approval mode `return`, a pending call interrupts
    the graph with `approval_id`, `until` and `message`; resume it with `Command(resume=True)` once it is approved.
    Raises `ValueError` for the name of a tool that Remit does not take.

    Example: `graph.add_node("tools", tool_node(gate, [transfer]))`.
    """
    from langgraph.prebuilt import ToolNode

    if isinstance(gate, AsyncGate):
        node = ToolNode(tools, wrap_tool_call=_no_thread, awrap_tool_call=async_wrapper(gate), **options)
    else:
        node = ToolNode(tools, wrap_tool_call=wrapper(gate), **options)
    for name in node.tools_by_name:
        gate.assert_tool(name)
    return node


def _no_thread(request: Any, handler: Callable[[Any], Any]) -> Any:
    """Without it, `invoke` would run tools undecided."""
    raise TypeError("an AsyncGate decides for ainvoke and astream; give tool_node a Gate for invoke and stream")


def wrapper(gate: Gate) -> Callable[[Any, Callable[[Any], Any]], Any]:
    """What asks before `handler` runs a request: a `wrap_tool_call` of the framework."""

    def wrap(request: Any, handler: Callable[[Any], Any]) -> Any:
        call = request.tool_call
        if request.tool is None:
            return _told(gate, request, Deny("unmappable", _UNKNOWN_TOOL, call["id"]))
        input, decided_request = _asked(request)

        def execute(decided: Any) -> Any:
            return handler(decided_request(decided))

        # First of all, as LangGraph runs this anew after an interrupt.
        done = gate.run(call["name"], input, execute, call_id=call["id"], is_failure=_is_failure)
        return _told(gate, request, done)

    return wrap


def async_wrapper(gate: AsyncGate) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    """What asks before `handler` runs a request: an `awrap_tool_call` of the framework."""

    async def wrap(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        call = request.tool_call
        if request.tool is None:
            return _told(gate, request, Deny("unmappable", _UNKNOWN_TOOL, call["id"]))
        input, decided_request = _asked(request)

        def execute(decided: Any) -> Awaitable[Any]:
            return handler(decided_request(decided))

        done = await gate.run(call["name"], input, execute, call_id=call["id"], is_failure=_is_failure)
        return _told(gate, request, done)

    return wrap


def _told(gate: Gate | AsyncGate, request: Any, done: Ran[Any] | Deny | Pending) -> Any:
    """The result of a call, for its graph; a pending one interrupts it."""
    from langchain_core.messages import ToolMessage
    from langchain_core.runnables.config import var_child_runnable_config
    from langgraph.types import interrupt

    if isinstance(done, Ran):
        return done.result
    if isinstance(done, Pending) and gate.does_return:
        # Before 3.11, asyncio does not pass it on to the task of the call.
        var_child_runnable_config.set(request.runtime.config)
        interrupt({"approval_id": done.approval_id, "until": done.until, "message": done.message})
    call = request.tool_call
    return ToolMessage(tool_message(done), name=call["name"], tool_call_id=call["id"], status="error")


def _is_failure(result: Any) -> bool:
    return getattr(result, "status", None) == "error"


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
    """Drives the canary through a graph with a scripted model."""
    return gate.self_test(_drive)


def _drive(gate: Gate, canary: Canary) -> str:
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langgraph.checkpoint.memory import InMemorySaver
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.types import Command

    call = {"name": canary.name, "args": {}, "id": canary.call_id}

    def model(_: Any) -> dict[str, Any]:
        return {"messages": [AIMessage(content="", tool_calls=[call])]}

    def run() -> str:
        return canary.run()

    tool = StructuredTool.from_function(run, name=canary.name, description=canary.description)
    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", tool_node(gate, [tool]))
    graph.add_edge(START, "model")
    graph.add_edge("model", "tools")
    compiled = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": canary.call_id}}
    state = compiled.invoke({"messages": []}, config)
    if "__interrupt__" in state:
        state = compiled.invoke(Command(resume=True), config)
    return " | ".join(str(message.content) for message in state["messages"])
