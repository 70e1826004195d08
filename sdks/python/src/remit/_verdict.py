"""Verdicts of the gate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Allow:
    """The call may run, once."""

    decision_id: str
    call_id: str
    action: str
    reason: str
    approval_id: str | None = None
    #: The budgets on the path of the call, as in the API; None without any.
    budgets: list[dict[str, Any]] | None = field(default=None, hash=False)
    kind: Literal["allow"] = "allow"


@dataclass(frozen=True)
class Deny:
    """The call must not run. `message` is for the model."""

    reason: str
    message: str
    call_id: str
    decision_id: str | None = None
    #: The budgets on the path of the call, as in the API; None without any.
    budgets: list[dict[str, Any]] | None = field(default=None, hash=False)
    #: Of a denial by a budget or spend limit: when the call can pass, in RFC 3339. None where it never can (see
    #: `never_passes`), where nobody knows, and for other denials.
    retry_at: str | None = None
    #: True where a budget or spend limit, as it is set, can never let the call pass: do not repeat it.
    never_passes: bool = False
    kind: Literal["deny"] = "deny"


@dataclass(frozen=True)
class Pending:
    """The call must not run yet: a person has to approve it. `until` is RFC 3339."""

    approval_id: str
    until: str | None
    message: str
    call_id: str
    decision_id: str
    kind: Literal["pending"] = "pending"


Verdict = Allow | Deny | Pending


def tool_message(verdict: Deny | Pending) -> str:
    """Returns the text for the model in the place of a tool's result."""
    if isinstance(verdict, Deny):
        return f"Not executed: denied by Remit ({verdict.reason}). {verdict.message}"
    return f"Not executed: waiting for approval {verdict.approval_id}. {verdict.message}"
