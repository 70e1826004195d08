"""Outcomes of allowed calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from ._ask import can_retry, delay_after
from ._client import Client
from ._errors import RemitError
from ._io import IO
from ._json import digest
from ._mapping import SELF_TEST_ACTIONS, is_usd, rounded_usd
from ._verdict import Allow, Verdict

Outcome = Literal["success", "failure", "unknown"]


@dataclass(frozen=True)
class Settlement:
    """`settled`: the outcome is in the ledger and the hold ended. Else `error` is the cause, None for a verdict
    that holds nothing."""

    settled: bool
    error: RemitError | None


async def settle(
    io: IO,
    client: Client,
    agent_id: str | None,
    warn: Callable[[str], None],
    verdict: Verdict,
    *,
    cost_usd: float | None,
    amounts: Mapping[str, float] | None,
    outcome: Outcome,
    release: bool,
) -> Settlement:
    """Reports an outcome and ends the hold. Never raises: what was done stays done."""
    if not isinstance(verdict, Allow):
        warn("Only an allow can be settled; the outcome of another verdict was not reported")
        return Settlement(False, None)
    # Self-tests hold nothing.
    if verdict.action.startswith(SELF_TEST_ACTIONS):
        return Settlement(True, None)
    entry: dict[str, Any] = {
        "action": verdict.action,
        "decision_id": verdict.decision_id,
        "outcome": outcome,
    }
    if agent_id is not None:
        entry["agent_id"] = agent_id
    if isinstance(cost_usd, Decimal) and cost_usd.is_finite():
        cost_usd = float(cost_usd)
    ending: dict[str, Any] = {}
    if release:
        ending = {"settle": "release"}
    elif cost_usd is not None and is_usd(cost_usd):
        ending = {"cost_usd": rounded_usd(float(cost_usd))}
    elif amounts is None and (cost_usd is not None or outcome == "success"):
        ending = {"settle": "held"}
    if amounts is not None and not release:
        ending["amounts"] = dict(amounts)
    if cost_usd is not None and not release and not is_usd(cost_usd):
        warn(f"{_shown(cost_usd)} is no amount in USD; the amount held was settled")
    try:
        await append(io, client, {**entry, **ending})
        return Settlement(True, None)
    except Exception as failed:
        error = failed if isinstance(failed, RemitError) else RemitError("unreachable", repr(failed))
        if error.code == "decision_settled":
            return Settlement(True, None)
        if error.code == "scope_required":
            warn("The hold stays: to settle below it, the credential needs the scope ledger:settle")
            try:
                await append(io, client, entry)
            except Exception as failure:
                warn(f"The outcome of {verdict.decision_id} could not be reported: {failure}")
        else:
            warn(f"The outcome of {verdict.decision_id} could not be reported: {error}")
        return Settlement(False, error)


def _shown(value: Any) -> str:
    """An object may have a text that raises."""
    if isinstance(value, (str, int, float)):
        return repr(value)
    return f"A value of type {type(value).__name__}"


async def append(io: IO, client: Client, entry: dict[str, Any]) -> None:
    """Appends an entry; a repeat is the same entry."""
    headers = {"idempotency-key": digest({"settlement": entry})}
    for attempt in range(4):
        try:
            await io.call(
                client.request, "POST", "/v1/ledger", body=entry, headers=headers, timeout=5.0
            )
            return
        except RemitError as error:
            if attempt == 3 or not can_retry(error):
                raise
            await io.sleep(delay_after(attempt, error))
