"""An agent of the OpenAI Agents SDK with a scripted model."""

import json

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from remit import AsyncGate
from remit.openai_agents import governed

PACKAGE = "openai-agents"
SOURCE = "from agents import Agent\nfrom remit.openai_agents import governed\n"
GATES = (AsyncGate,)
SKIPPED = {
    "a_gate_for_threads_asks_too": "its tools are asynchronous",
    "a_retry_of_the_framework_does_not_run_it_again": "it does not retry tools",
}


class Scripted(Model):
    def __init__(self, turns):
        self.turns = list(turns)

    def _output(self):
        if self.turns:
            return [
                ResponseFunctionToolCall(type="function_call", call_id=id, name=name, arguments=json.dumps(args))
                for name, args, id in self.turns.pop(0)
            ]
        text = ResponseOutputText(type="output_text", text="done", annotations=[])
        return [ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])]

    async def get_response(self, *args, **kwargs):
        return ModelResponse(output=self._output(), usage=Usage(), response_id=None)

    async def stream_response(self, *args, **kwargs):
        response = Response(
            id="r",
            created_at=0,
            model="scripted",
            object="response",
            output=self._output(),
            tool_choice="auto",
            tools=[],
            parallel_tool_calls=True,
        )
        yield ResponseCompletedEvent(type="response.completed", response=response, sequence_number=0)


async def run(gate, tools, turns, stream=False):
    made = [governed(gate, function_tool(tool)) for tool in tools]
    agent = Agent(name="agent", model=Scripted(turns), tools=made)
    config = RunConfig(tracing_disabled=True)
    if stream:
        result = Runner.run_streamed(agent, "Call it.", run_config=config)
        async for _ in result.stream_events():
            pass
    else:
        result = await Runner.run(agent, "Call it.", run_config=config)
    return [str(one["output"]) for one in result.to_input_list() if one.get("type") == "function_call_output"]
