"""A Pydantic AI agent with the framework's FunctionModel."""

import json

from pydantic_ai import Agent
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


async def run(gate, tools, turns, stream=False):
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

    model = FunctionModel(answer, stream_function=stream_answer)
    agent = Agent(model, toolsets=[governed(gate, FunctionToolset(tools))])
    if stream:
        async with agent.run_stream("Call it.") as result:
            await result.get_output()
    else:
        result = await agent.run("Call it.")
    return [
        str(part.content)
        for message in result.all_messages()
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    ]
