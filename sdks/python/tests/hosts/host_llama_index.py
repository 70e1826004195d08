"""An agent of LlamaIndex with a scripted model."""

from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, LLMMetadata
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection

from remit import AsyncGate
from remit.llama_index import governed

PACKAGE = "llama-index-core"
SOURCE = "from llama_index.core.agent.workflow import FunctionAgent\nfrom remit.llama_index import governed\n"
GATES = (AsyncGate,)
SKIPPED = {
    "a_call_that_is_repeated_runs_once": "its tools get no id of the call: an equal call is another one",
    "a_gate_for_threads_asks_too": "its tools are asynchronous",
    "a_retry_of_the_framework_does_not_run_it_again": "it does not retry tools",
}


async def run(gate, tools, turns, stream=False):
    left = list(turns)

    class Scripted(FunctionCallingLLM):
        @property
        def metadata(self):
            return LLMMetadata(is_function_calling_model=True)

        def _answer(self):
            message = ChatMessage(role="assistant", content="done")
            message.additional_kwargs["turn"] = left.pop(0) if left else []
            return ChatResponse(message=message)

        async def achat_with_tools(self, *args, **kwargs):
            return self._answer()

        async def astream_chat_with_tools(self, *args, **kwargs):
            answer = self._answer()

            async def stream():
                yield answer

            return stream()

        def get_tool_calls_from_response(self, response, *args, **kwargs):
            calls = response.message.additional_kwargs["turn"]
            return [ToolSelection(tool_id=id, tool_name=name, tool_kwargs=args) for name, args, id in calls]

        def _unused(self, *args, **kwargs):
            raise NotImplementedError

        chat = complete = stream_chat = stream_complete = _prepare_chat_with_tools = _unused
        achat = acomplete = astream_chat = astream_complete = _unused

    made = [governed(gate, tool) for tool in tools]
    handler = FunctionAgent(tools=made, llm=Scripted(), streaming=stream).run("Pay.")
    told = [event.tool_output.content async for event in handler.stream_events() if isinstance(event, ToolCallResult)]
    await handler
    return told
