"""A graph of LangGraph with a `ToolNode` and a scripted model."""

import contextlib
import functools

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import tools_condition
from langgraph.types import Command, RetryPolicy

from remit import AsyncGate, Gate
from remit.langgraph import tool_node

PACKAGE = "langgraph"
SOURCE = "from langgraph.graph import StateGraph\nfrom remit.langgraph import tool_node\n"
GATES = (Gate, AsyncGate)
SKIPPED = {}


def _graph(gate, tools, turns, retries=0, **options):
    left = list(turns)

    def model(state):
        calls = left.pop(0) if left else []
        made = [{"name": name, "args": args, "id": id} for name, args, id in calls]
        return {"messages": [AIMessage(content="", tool_calls=made)]}

    if isinstance(gate, AsyncGate):
        made = [StructuredTool.from_function(_undecided(tool), tool) for tool in tools]
    else:
        made = [StructuredTool.from_function(tool) for tool in tools]
    node = tool_node(gate, made)
    retry = RetryPolicy(max_attempts=retries + 1, initial_interval=0, retry_on=Exception) if retries else None
    graph = StateGraph(MessagesState)
    graph.add_node("model", model)
    graph.add_node("tools", node, retry_policy=retry)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(**options)


def _undecided(tool):
    @functools.wraps(tool)
    def run(*args, **kwargs):
        raise AssertionError("it ran undecided")

    return run


def _told(messages):
    return [str(one.content) for one in messages if isinstance(one, ToolMessage)]


async def run(gate, tools, turns, stream=False, retries=0):
    graph, asked = _graph(gate, tools, turns, retries), {"messages": [("user", "Call it.")]}
    if stream:
        chunks = [chunk async for chunk in graph.astream(asked, stream_mode="updates")]
        return [text for chunk in chunks for update in chunk.values() for text in _told(update["messages"])]
    if isinstance(gate, Gate):
        return _told(graph.invoke(asked)["messages"])
    # An `AsyncGate` cannot decide here.
    with contextlib.suppress(TypeError):
        _graph(gate, tools, turns).invoke(asked)
    return _told((await graph.ainvoke(asked))["messages"])


async def resume(gate, tools, turns, vote):
    graph = _graph(gate, tools, turns, checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "one"}}
    await graph.ainvoke({"messages": [("user", "Call it.")]}, config)
    vote()
    return _told((await graph.ainvoke(Command(resume=True), config))["messages"])
