"""LlamaIndex: function tools that ask before they run. Imports nothing of it until used."""

from __future__ import annotations

import copy
import inspect
from typing import TYPE_CHECKING, Any

from ._errors import RemitDenied, RemitPending
from ._gate import AsyncGate
from ._repeats import repeat_of
from ._self_test import Canary, SelfTestReport
from ._verdict import Pending

if TYPE_CHECKING:
    from llama_index.core.tools import FunctionTool


def governed(gate: AsyncGate, tool: Any) -> FunctionTool:
    """Returns a tool for the agents of the framework that asks first.

    Takes a function or a `FunctionTool`; raises `TypeError` for another tool, whose arguments cannot be seen. The
    tool raises `RemitDenied` or `RemitPending`, which an agent tells its model as the error of the call.
    """
    from llama_index.core.tools import BaseTool, FunctionTool
    from llama_index.core.tools.function_tool import async_to_sync

    asked = tool if isinstance(tool, BaseTool) else FunctionTool.from_defaults(tool)
    title = asked.metadata.get_name()
    if not isinstance(asked, FunctionTool):
        raise TypeError(f"the tool {title!r} is no FunctionTool; make one of a function that calls it")
    gate.assert_tool(title)
    signature = inspect.signature(asked.real_fn)
    if inspect.isgeneratorfunction(asked.real_fn) or inspect.isasyncgenfunction(asked.real_fn):
        raise ValueError(f"the tool {title!r} cannot be governed: a generator runs after it was called")

    async def asking(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        # The model chose neither the context nor what the program gave, unless it gave another value.
        given = asked.partial_params
        hidden = {
            name: value
            for name, value in bound.arguments.items()
            if name == asked.ctx_param_name or (name in given and value is given[name])
        }
        shown = {name: value for name, value in bound.arguments.items() if name not in hidden}
        with repeat_of(gate, title, shown) as repeat:

            async def execute(decided: dict[str, Any]) -> Any:
                repeat.is_spent = True
                bound.arguments.update({**decided, **hidden})
                return await asked.async_fn(*bound.args, **bound.kwargs)

            done = await gate.run(title, shown, execute, call_id=repeat.call_id)
            repeat.ended(done)
        if done.kind == "ran":
            return done.result
        raise RemitPending(done) if isinstance(done, Pending) else RemitDenied(done)

    made = copy.copy(asked)
    made._async_fn, made._fn, made._real_fn = asking, async_to_sync(asking), asking
    return made


async def self_test(gate: AsyncGate) -> SelfTestReport:
    """Drives the canary through `FunctionAgent` with a scripted model."""
    return await gate.self_test(_drive)


async def _drive(gate: AsyncGate, canary: Canary) -> str:
    from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
    from llama_index.core.llms.function_calling import FunctionCallingLLM
    from llama_index.core.llms.llm import ToolSelection
    from llama_index.core.tools import FunctionTool

    turns = [[ToolSelection(tool_id=canary.call_id, tool_name=canary.name, tool_kwargs={})], []]

    class ScriptedModel(FunctionCallingLLM):
        @property
        def metadata(self) -> Any:
            return LLMMetadata(is_function_calling_model=True)

        async def astream_chat_with_tools(self, *args: Any, **kwargs: Any) -> Any:
            message = ChatMessage(role="assistant", content="done")
            message.additional_kwargs["turn"] = turns.pop(0)

            async def stream() -> Any:
                yield ChatResponse(message=message)

            return stream()

        def get_tool_calls_from_response(self, response: Any, *args: Any, **kwargs: Any) -> Any:
            return response.message.additional_kwargs["turn"]

        def _unused(self, *args: Any, **kwargs: Any) -> Any:
            raise NotImplementedError("the self-test uses the asynchronous methods of tools")

        chat = complete = stream_chat = stream_complete = _prepare_chat_with_tools = _unused
        achat = acomplete = astream_chat = astream_complete = _unused

    async def run() -> str:
        return canary.run()

    tool = FunctionTool.from_defaults(async_fn=run, name=canary.name, description=canary.description)
    handler = FunctionAgent(tools=[governed(gate, tool)], llm=ScriptedModel()).run("Call it.")
    told = [event.tool_output.content async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
    await handler
    return " | ".join(told)
