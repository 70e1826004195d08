"""A Pydantic AI agent with the framework's FunctionModel."""

import json

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.toolsets import FunctionToolset

from remit import AsyncGate
from remit.pydantic_ai import governed

PACKAGE = "pydantic-ai-slim"
SOURCE = "from pydantic_ai import Agent\nfrom remit.pydantic_ai import governed\n"
GATES = (AsyncGate,)
SKIPPED = {
    "a_gate_for_threads_asks_too": "its tools are asynchronous",
    "a_retry_of_the_framework_does_not_run_it_again": "a retry is a new call of the model",
}


def _model(turns):
    left = list(turns)

    def answer(messages, info):
        calls = left.pop(0) if left else []
        return ModelResponse([ToolCallPart(name, args, id) for name, args, id in calls] or [TextPart("done")])

    async def stream_answer(messages, info):
        calls = left.pop(0) if left else []
        if not calls:
            yield "done"
        for index, (name, args, id) in enumerate(calls):
            yield {index: DeltaToolCall(name, json.dumps(args), tool_call_id=id)}

    return FunctionModel(answer, stream_function=stream_answer)


async def run(gate, tools, turns, stream=False):
    agent = Agent(_model(turns), toolsets=[governed(gate, FunctionToolset(tools))])
    if stream:
        async with agent.run_stream("Call it.") as result:
            await result.get_output()
    else:
        result = await agent.run("Call it.")
    return _told(result)


async def resume(gate, tools, turns, vote):
    output_type = [str, DeferredToolRequests]
    agent = Agent(_model(turns), toolsets=[governed(gate, FunctionToolset(tools))], output_type=output_type)
    paused = await agent.run("Call it.")
    vote()
    approvals = {call.tool_call_id: True for call in paused.output.approvals}
    results = DeferredToolResults(approvals=approvals)
    return _told(await agent.run(message_history=paused.all_messages(), deferred_tool_results=results))


def _told(result):
    return [
        str(part.content)
        for message in result.all_messages()
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
