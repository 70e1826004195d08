"""A spend limit for each key of a LiteLLM proxy. In `config.yaml`, with `REMIT_URL` and `REMIT_KEY` in the environment:

    litellm_settings:
      callbacks: [remit.litellm.budget]
"""

from __future__ import annotations

import asyncio
import json
import math
import os
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any

from fastapi import HTTPException
from litellm._logging import verbose_proxy_logger
from litellm.integrations.custom_logger import CustomLogger

from ._ask import Question, ask
from ._client import Client
from ._io import Asyncio
from ._settle import settle
from ._verdict import Allow

ACTION = "litellm.request"
#: Of the hold, in the metadata of a call.
_KEY = "remit_hold"
_MAX_KEPT = 10_000
_MODES = ("chat", "completion", "embedding", "responses")
#: Members of a call that a model reads. `text` and `response_format` have schemas.
_INPUT = (
    *("messages", "input", "prompt", "system", "instructions", "prediction", "documents"),
    *("tools", "tool_choice", "functions", "function_call", "response_format", "text"),
)
_MCP = ("call_mcp_tool", "list_mcp_tools")


@dataclass
class _Hold:
    verdict: Allow
    agent_id: str
    #: Attempts that a provider may bill: those begun, without those that it refused.
    billable: int = 0


class Budget(CustomLogger):
    """Holds the highest cost of a call before the model is asked, and settles the hold at the cost that LiteLLM
    computes. What is never reported stays held. A call is refused if LiteLLM does not know its price per token or
    its longest answer. `timeout`: seconds for a decision, with its retries.

    Example: `budget = Budget(Client("https://remit.example.com", key), timeout=5)`.
    """

    def __init__(self, client: Client, *, timeout: float = 10.0) -> None:
        super().__init__()
        self._client = client
        self._timeout = timeout
        self._io = Asyncio()
        self._holds: OrderedDict[str, _Hold] = OrderedDict()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def async_pre_call_hook(self, user_api_key_dict: Any, cache: Any, data: Any, call_type: str) -> Any:
        """Raises `HTTPException`: 403 for a denial, 503 if Remit gives no answer."""
        if call_type in _MCP:
            return data
        bound = _bound(data)
        if bound is None:
            raise _refusal(403, f"LiteLLM has no price per token of {data.get('model')!r}, or no longest answer.")
        usd, tokens = bound
        key = user_api_key_dict
        agent_id = key.key_alias or key.token or "litellm"
        context = {
            "amount": usd,
            "host": "litellm",
            "amounts": {"tokens": tokens},
            **{name: value for name in ("team_id", "team_alias", "user_id") if (value := getattr(key, name, None))},
        }
        request = {"agent_id": agent_id, "action": ACTION, "context": context}
        model = data.get("model")
        if isinstance(model, str) and model:
            request["resource"] = {"type": "model", "id": model}
        # LiteLLM calls the hook once for each request; its own retries are below.
        answer = await ask(self._io, self._client, Question(request, token_urlsafe(24), None), self._timeout, 3)
        if answer.kind == "failed":
            raise _refusal(503, f"{answer.reason}: {answer.detail}")
        if answer.kind != "allow":
            body = answer.body
            approval = f" (approval {body['approval']['id']})" if answer.kind == "pending" else ""
            raise _refusal(403, f"{body.get('reason') or answer.kind}. {body.get('message') or ''}{approval}")
        # Nobody else knows the key, so that no client can settle the hold of another call.
        hold_key = token_urlsafe(24)
        decision_id, reason = answer.body["decision_id"], answer.body.get("reason") or ""
        # The call of a pass-through endpoint passes no hook of a deployment.
        billable = 1 if call_type == "pass_through_endpoint" else 0
        self._holds[hold_key] = _Hold(Allow(decision_id, hold_key, ACTION, reason), agent_id, billable)
        if len(self._holds) > _MAX_KEPT:
            self._holds.popitem(last=False)
        name = "litellm_metadata" if isinstance(data.get("litellm_metadata"), dict) else "metadata"
        data[name] = {**(data.get(name) or {}), _KEY: hold_key}
        return data

    async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
        if (hold := self._holds.get(_hold_key(kwargs))) is not None:
            hold.billable += 1

    async def async_post_call_failure_deployment_hook(self, request_data: Any, exception: Any, call_type: Any) -> Any:
        hold = self._holds.get(_hold_key(request_data))
        if hold is not None and _is_refusal(exception):
            hold.billable -= 1

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        hold = self._holds.pop(_hold_key(kwargs.get("litellm_params") or {}), None)
        if hold is None:
            return
        cost = kwargs.get("response_cost")
        tokens = (kwargs.get("standard_logging_object") or {}).get("total_tokens")
        self._settle(
            hold,
            # Upwards: a thousand calls below the smallest amount cost something.
            cost_usd=None if cost is None else _micro(cost),
            # Without a count, the held tokens count.
            amounts={"tokens": tokens} if isinstance(tokens, int) and tokens > 0 else None,
            outcome="success",
            release=False,
        )

    async def async_post_call_failure_hook(
        self, request_data: Any, original_exception: Any, user_api_key_dict: Any, traceback_str: str | None = None
    ) -> None:
        key = _hold_key(request_data)
        hold = self._holds.get(key)
        # An attempt that may have been billed is settled by its own event, or stays held.
        if hold is not None and hold.billable <= 0:
            del self._holds[key]
            self._settle(hold, cost_usd=None, amounts=None, outcome="failure", release=True)

    def _settle(self, hold: _Hold, **ending: Any) -> None:
        """In a task of its own: LiteLLM ends events that take long."""
        work = settle(self._io, self._client, hold.agent_id, verbose_proxy_logger.warning, hold.verdict, **ending)
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _refusal(status: int, why: str) -> HTTPException:
    return HTTPException(status, {"error": f"Denied by Remit. {why}"})


def _hold_key(members: Mapping[str, Any]) -> str:
    for name in ("metadata", "litellm_metadata"):
        found = members.get(name)
        if isinstance(found, Mapping) and isinstance(found.get(_KEY), str):
            return str(found[_KEY])
    return ""


def _is_refusal(exception: object) -> bool:
    """True if the provider answered with an error: a call that timed out or was cut off may be billed."""
    status = getattr(exception, "status_code", None)
    return isinstance(status, int) and 400 <= status < 600 and status not in (408, 499, 504)


def _micro(usd: float) -> float:
    return math.ceil(round(usd * 1e6, 3)) / 1e6


def _bound(data: Mapping[str, Any]) -> tuple[float, int] | None:
    """The highest cost in USD and the most tokens of a call; None if they are unknown."""
    from litellm.proxy.proxy_server import llm_router

    model = data.get("model")
    info = llm_router.get_model_group_info(model) if llm_router is not None and isinstance(model, str) else None
    if info is None or info.input_cost_per_token is None or info.mode not in _MODES:
        return None
    # A token has one byte or more.
    size = len(json.dumps({name: data.get(name) for name in _INPUT}, ensure_ascii=False, default=str).encode())
    most = info.max_input_tokens
    has_more = any(data.get(name) for name in ("previous_response_id", "conversation"))
    if has_more and most is None:
        return None
    tokens_in = int(most) if most is not None and (has_more or size > most) else size
    if info.mode == "embedding":
        return _micro(tokens_in * info.input_cost_per_token), tokens_in
    # A client may give several; a provider takes one of them.
    longest = _most(data, "max_tokens", "max_completion_tokens", "max_output_tokens") or info.max_output_tokens
    if longest is None or info.output_cost_per_token is None:
        return None
    tokens_out = int(longest) * (_most(data, "n", "best_of") or 1)
    usd = tokens_in * info.input_cost_per_token + tokens_out * info.output_cost_per_token
    return _micro(usd), tokens_in + tokens_out


def _most(data: Mapping[str, Any], *names: str) -> int:
    """The highest of the members that are counts; 0 without any."""
    values = [data.get(name) for name in names]
    return max((value for value in values if isinstance(value, int) and value > 0), default=0)


def __getattr__(name: str) -> Budget:
    """`budget`, from `REMIT_URL` and `REMIT_KEY`, made when it is first used."""
    if name != "budget":
        raise AttributeError(name)
    missing = [needed for needed in ("REMIT_URL", "REMIT_KEY") if not os.environ.get(needed)]
    if missing:
        raise ValueError(f"{' and '.join(missing)} must be set for remit.litellm.budget")
    client = Client(os.environ["REMIT_URL"], os.environ["REMIT_KEY"])
    made = globals()["budget"] = Budget(client)
    return made
