"""An agent of Google ADK with a scripted model."""

import json

from google.adk.agents import LlmAgent, RunConfig
from google.adk.agents.run_config import StreamingMode
from google.adk.models import BaseLlm, LlmResponse
from google.adk.plugins import ReflectAndRetryToolPlugin
from google.adk.runners import InMemoryRunner
from google.genai import types

from remit import AsyncGate
from remit.google_adk import governed

PACKAGE = "google-adk"
SOURCE = "from google.adk.agents import LlmAgent\nfrom remit.google_adk import governed\n"
GATES = (AsyncGate,)
SKIPPED = {"a_gate_for_threads_asks_too": "its tools are asynchronous"}


async def run(gate, tools, turns, stream=False, retries=0):
    left = list(turns)

    class Scripted(BaseLlm):
        async def generate_content_async(self, request, stream=False):
            calls = left.pop(0) if left else []
            parts = [
                types.Part(function_call=types.FunctionCall(id=id, name=name, args=args)) for name, args, id in calls
            ]
            yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text="done")]))

    agent = LlmAgent(name="payer", model=Scripted(model="scripted"), tools=[governed(gate, tool) for tool in tools])
    plugins = [ReflectAndRetryToolPlugin(max_retries=retries)] if retries else []
    runner = InMemoryRunner(agent=agent, app_name="shop", plugins=plugins)
    session = await runner.session_service.create_session(app_name="shop", user_id="ada")
    config = RunConfig(streaming_mode=StreamingMode.SSE if stream else StreamingMode.NONE)
    message = types.Content(role="user", parts=[types.Part(text="Pay.")])
    told = []
    async for event in runner.run_async(user_id="ada", session_id=session.id, new_message=message, run_config=config):
        told += [json.dumps(one.response) for one in event.get_function_responses()]
    return told
