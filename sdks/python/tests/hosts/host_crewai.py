"""A crew of CrewAI with a scripted model."""

import asyncio
import json

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool as made_tool

from remit import Gate
from remit.crewai import governed

PACKAGE = "crewai"
SOURCE = "from crewai import Agent\nfrom remit.crewai import governed\n"
GATES = (Gate,)
SKIPPED = {
    "a_call_that_is_repeated_runs_once": "its tools get no id of the call: an equal call is another one",
    "a_gate_for_threads_asks_too": "its gate is always for threads",
    "a_stream_asks_too": "its models return whole answers to tools",
}


class Scripted(BaseLLM):
    turns: list = []
    told: list = []

    def supports_function_calling(self):
        return True

    def call(self, messages, *args, **kwargs):
        self.told[:] = [str(one.get("content")) for one in messages if one.get("role") == "tool"]
        if not self.turns:
            return "done"
        return [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
            for name, args, id in self.turns.pop(0)
        ]


async def run(gate, tools, turns, retries=0):
    model = Scripted(model="scripted")
    model.turns, model.told = list(turns), []
    made = [governed(gate, made_tool(tool.__name__)(tool)) for tool in tools]
    agent = Agent(role="payer", goal="-", backstory="-", llm=model, tools=made, max_retry_limit=retries)
    task = Task(description="Pay.", expected_output="-", agent=agent)
    await asyncio.to_thread(Crew(agents=[agent], tasks=[task], tracing=False).kickoff)
    return model.told
