"""A LangChain agent with a scripted model."""

from langchain.agents import create_agent
from langchain.agents.middleware import ToolRetryMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from remit import AsyncGate, Gate
from remit.langchain import remit_middleware

PACKAGE = "langchain"
SOURCE = "from langchain.agents import create_agent\nfrom remit.langchain import remit_middleware\n"
GATES = (Gate, AsyncGate)
SKIPPED = {}


class Scripted(BaseChatModel):
    turns: list

    @property
    def _llm_type(self):
        return "scripted"

    def bind_tools(self, tools, **kwargs):
        return self

    def _next(self):
        return [{"name": name, "args": args, "id": id} for name, args, id in (self.turns.pop(0) if self.turns else [])]

    def _generate(self, messages, *_, **__):
        message = AIMessage(content="", tool_calls=self._next())
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _stream(self, messages, *_, **__):
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_calls=self._next()))


async def run(gate, tools, turns, stream=False, retries=0):
    is_async = isinstance(gate, AsyncGate)
    made = [
        StructuredTool.from_function(coroutine=tool) if is_async else StructuredTool.from_function(tool)
        for tool in tools
    ]
    middleware = [remit_middleware(gate)]
    if retries:
        middleware.append(ToolRetryMiddleware(max_retries=retries, initial_delay=0, on_failure="continue"))
    agent = create_agent(Scripted(turns=list(turns)), made, middleware=middleware)
    asked = {"messages": [("user", "Call it.")]}
    if not stream:
        state = await agent.ainvoke(asked) if is_async else agent.invoke(asked)
        return [str(one.content) for one in state["messages"] if isinstance(one, ToolMessage)]
    told = []
    async for chunk in agent.astream(asked, stream_mode="updates"):
        for update in chunk.values():
            told += [str(one.content) for one in update.get("messages", []) if isinstance(one, ToolMessage)]
    return told


async def resume(gate, tools, turns, vote):
    made = [StructuredTool.from_function(coroutine=tool) for tool in tools]
    agent = create_agent(
        Scripted(turns=list(turns)), made, middleware=[remit_middleware(gate)], checkpointer=InMemorySaver()
    )
    config = {"configurable": {"thread_id": "one"}}
    await agent.ainvoke({"messages": [("user", "Call it.")]}, config)
    vote()
    state = await agent.ainvoke(Command(resume=True), config)
    return [str(one.content) for one in state["messages"] if isinstance(one, ToolMessage)]
