"""Agents of frameworks with scripted models."""

import asyncio
import contextlib
import json
import uuid


def scripted(name, arguments):
    from agents import Model, ModelResponse, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    call = ResponseFunctionToolCall(
        type="function_call", call_id=str(uuid.uuid4()), name=name, arguments=json.dumps(arguments)
    )
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    answer = ResponseOutputMessage(
        id="msg", type="message", role="assistant", status="completed", content=[text]
    )
    outputs = [call, answer]

    class ScriptedModel(Model):
        async def get_response(self, *args, **kwargs):
            return ModelResponse(output=[outputs.pop(0)], usage=Usage(), response_id=None)

        def stream_response(self, *args, **kwargs):
            raise NotImplementedError

    return ScriptedModel()


def run_langchain(middleware, tools, args, state=None, **values):
    from langchain.agents import create_agent
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.outputs import ChatGeneration, ChatResult

    calls = [[{"name": "order", "args": args, "id": str(uuid.uuid4())}], []]

    class ScriptedModel(BaseChatModel):
        @property
        def _llm_type(self):
            return "scripted"

        def bind_tools(self, tools, **kwargs):
            return self

        def _generate(self, messages, *_, **__):
            message = AIMessage(content="", tool_calls=calls.pop(0))
            return ChatResult(generations=[ChatGeneration(message=message)])

    agent = create_agent(ScriptedModel(), tools, middleware=middleware, state_schema=state)
    return agent.invoke({"messages": [("user", "Call it.")], **values})


def run_ag2(gate, tool, args):
    from ag2 import Agent
    from ag2.events import ToolCallEvent
    from ag2.testing import TestConfig

    from remit.ag2 import governed

    call = ToolCallEvent(tool.__name__, id=str(uuid.uuid4()), arguments=json.dumps(args))
    agent = Agent("payer", config=TestConfig(call, "done"), tools=[governed(gate, tool)])
    # The scripted model raises what tools raise.
    with contextlib.suppress(ValueError):
        asyncio.run(agent.ask("Call it."))
