"""The Messages API of a model that follows a script, for Claude Code."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Turn = Sequence[tuple[str, dict[str, Any], str]]


@contextmanager
def scripted_claude(
    turns: Sequence[Turn], folder: str
) -> Generator[tuple[dict[str, str], list[str]], None, None]:
    """The environment of a Claude Code whose model makes the calls of each turn (tool, input, id), then ends; its
    settings are in `folder`. With it, the results that the model received last."""
    left, told = list(turns), list[str]()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
            calls: Turn = []
            # Other questions are about the title of the session and the like.
            if asked.get("tools"):
                told[:] = _results(asked["messages"])
                calls = left.pop(0) if left else []
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for event in _events(asked.get("model", ""), calls):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    others = ("ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX")
    env = {
        **dict.fromkeys(others, ""),
        "ANTHROPIC_API_KEY": "scripted",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_address[1]}",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CONFIG_DIR": folder,
    }
    try:
        yield env, told
    finally:
        server.shutdown()
        server.server_close()


def _results(messages: list[Any]) -> list[str]:
    blocks = [block for one in messages if isinstance(one["content"], list) for block in one["content"]]
    return [json.dumps(block["content"]) for block in blocks if block["type"] == "tool_result"]


def _events(model: str, calls: Turn) -> list[dict[str, Any]]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "usage": usage}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    if not calls:
        text = {"type": "text", "text": "done"}
        events += [{"type": "content_block_start", "index": 0, "content_block": text}]
        events += [{"type": "content_block_stop", "index": 0}]
    for index, (name, input, id) in enumerate(calls):
        block: dict[str, Any] = {"type": "tool_use", "id": id, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(input)}
        events += [{"type": "content_block_start", "index": index, "content_block": block}]
        events += [{"type": "content_block_delta", "index": index, "delta": delta}]
        events += [{"type": "content_block_stop", "index": index}]
    ended = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    return [*events, {"type": "message_delta", "delta": ended, "usage": usage}, {"type": "message_stop"}]
