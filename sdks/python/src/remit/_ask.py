"""Questions to Remit, with retries under one key."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from secrets import token_urlsafe
from typing import Any, Literal

from ._client import Client, Response
from ._errors import RemitError
from ._io import IO
from ._json import is_object


@dataclass(frozen=True)
class Answer:
    """An answer that can be relied upon, or why there is none."""

    kind: Literal["allow", "deny", "pending", "already_decided", "failed"]
    body: dict[str, Any]
    #: Of `failed`: `remit_refused` or `remit_unavailable`.
    reason: str = ""
    detail: str = ""


@dataclass(frozen=True)
class Question:
    request: dict[str, Any]
    key: str
    traceparent: str | None


def delay_after(attempt: int, error: RemitError) -> float:
    """Seconds before the next attempt: what the server asks for, else exponential with full jitter."""
    if error.retry_after is not None:
        return error.retry_after
    longest: float = min(5.0, 0.2 * 2**attempt)
    return random.random() * longest


def can_retry(error: RemitError) -> bool:
    if (error.retry_after or 0) > 60:
        return False
    return (
        error.status in (0, 408, 429)
        or error.status >= 500
        or 200 <= error.status < 300
        or error.code == "idempotency_in_progress"
    )


async def ask(io: IO, client: Client, question: Question, timeout: float, retries: int) -> Answer:
    """Asks until there is an answer, with one key for all attempts: a lost allow is fetched again and
    holds money once."""
    request_id = token_urlsafe(16)
    deadline = time.monotonic() + timeout
    headers = {"idempotency-key": question.key, "x-request-id": request_id}
    if question.traceparent is not None:
        headers["traceparent"] = question.traceparent
    is_lost = False
    attempt = 0
    while True:
        left = deadline - time.monotonic()
        # Each attempt leaves half of the time to those that may follow.
        limit = left / 2 if attempt < retries else left
        try:
            response = await io.call(
                client.request,
                "POST",
                "/v1/authorize",
                body=question.request,
                headers=headers,
                timeout=limit,
            )
            return _read(response, question.request, request_id, is_lost)
        except RemitError as error:
            delay = delay_after(attempt, error)
            is_last = attempt >= retries or time.monotonic() + delay >= deadline
            if is_last or not can_retry(error):
                return _failed(error)
            is_lost = is_lost or error.problem is None or error.status >= 500
            await io.sleep(delay)
            attempt += 1


def _read(response: Response, request: dict[str, Any], request_id: str, is_lost: bool) -> Answer:
    """Only an answer to exactly this question counts. Raises `RemitError` for anything else."""
    body = response.data if is_object(response.data) else {}
    approval = body.get("approval")
    if (
        response.status == 200
        and _is_text(body.get("decision_id"))
        and body.get("action") == request["action"]
        and ("agent_id" not in request or body.get("agent_id") == request["agent_id"])
    ):
        decision = body.get("decision")
        if decision == "allow":
            is_own = _is_own(response, request_id, is_lost)
            return Answer("allow" if is_own else "already_decided", body)
        if decision == "deny":
            return Answer("deny", body)
        if decision == "needs_approval" and is_object(approval) and _is_text(approval.get("id")):
            return Answer("pending", body)
    raise RemitError(
        "unexpected_answer",
        f"{response.status} without a decision about {request['action']}",
        status=response.status,
        headers=response.headers,
    )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_own(response: Response, request_id: str, is_lost: bool) -> bool:
    """True if an allow is the answer to this check, and not to an earlier one that may have run."""
    headers = response.headers
    if "idempotency-replayed" not in headers:
        return True
    first = headers.get("idempotency-first-request-id")
    # A proxy may give requests other ids; then only a lost answer explains a repeat.
    if first is not None and headers.get("x-request-id") == request_id:
        return first == request_id
    return is_lost


def _failed(error: RemitError) -> Answer:
    if error.is_refusal:
        return Answer("failed", {}, "remit_refused", str(error))
    return Answer("failed", {}, "remit_unavailable", error.code)


async def approval_status(
    io: IO, client: Client, approval_id: str, seconds: float
) -> tuple[str, str | None]:
    """The status of an approval once it is no longer pending, or after `seconds`; with 0, now. With it, the
    comment for the agent."""
    deadline = time.monotonic() + seconds
    failures = 0
    while True:
        left = max(0.0, deadline - time.monotonic())
        wait = min(55, -int(-left // 1))
        begun = time.monotonic()
        try:
            response = await io.call(client.approval, approval_id, wait, min(left, wait) + 10)
            data = response.data if is_object(response.data) else {}
            status = data.get("status")
            if not isinstance(status, str):
                raise RemitError("unexpected_answer", "no status of an approval", status=200)
            if status != "pending" or time.monotonic() >= deadline:
                comment = data.get("comment_for_agent")
                return status, comment if isinstance(comment, str) else None
            failures = 0
            if time.monotonic() - begun < 0.5:
                await io.sleep(0.5)
        except RemitError as error:
            delay = delay_after(failures, error)
            failures += 1
            is_last = failures > 2 if seconds == 0 else time.monotonic() + delay >= deadline
            if error.is_refusal or is_last:
                raise
            await io.sleep(delay)
