"""An agent of AG2 with the framework's scripted model."""

import json

from ag2 import Agent
from ag2.events import ToolCallEvent, ToolErrorEvent, ToolResultEvent
from ag2.middleware import BaseMiddleware, Middleware
from ag2.testing import TestConfig

from remit import AsyncGate
from remit.ag2 import governed

PACKAGE = "ag2"
SOURCE = "from ag2 import Agent\nfrom remit.ag2 import governed\n"
GATES = (AsyncGate,)
SKIPPED = {"a_gate_for_threads_asks_too": "its tools are asynchronous"}


class Retrying(BaseMiddleware):
    """The framework has none for tools: it gives programs this hook."""

    async def on_tool_execution(self, call_next, event, context):
        for _ in range(3):
            result = await call_next(event, context)
            if not isinstance(result, ToolErrorEvent):
                break
        return result


async def run(gate, tools, turns, stream=False, retries=0):
    calls = [[ToolCallEvent(name, id=id, arguments=json.dumps(args)) for name, args, id in turn] for turn in turns]
    config = TestConfig(*calls, "done")
    middleware = [Middleware(Retrying)] if retries else []
    agent = Agent("payer", config=config, tools=[governed(gate, tool) for tool in tools], middleware=middleware)
    if not stream:
        return _told(await (await agent.ask("Pay.")).history.get_events())
    seen = []

    async def see(event):
        seen.append(event)

    async with agent.run("Pay.") as running:
        running.stream.subscribe(see)
        await running.result()
    return _told(seen)


def _told(events):
    return [str(event.result.parts) for event in events if isinstance(event, ToolResultEvent)]
