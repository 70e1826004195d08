"""Errors of the client and the gate."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from ._verdict import Deny, Pending, tool_message


class RemitError(Exception):
    """A call that did not succeed.

    `code` is a code of docs/errors.md, or `unreachable`, `timed_out` or `unexpected_answer`. `status` is
    0 and `problem` None where there was no answer of Remit.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        headers: Mapping[str, str] | None = None,
        problem: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.status = status
        self.headers = dict(headers or {})
        self.problem = problem

    @property
    def retry_after(self) -> float | None:
        """Seconds of `Retry-After`, None without one."""
        value = self.headers.get("retry-after")
        if value is None:
            return None
        if value.isdecimal():
            return float(value)
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
        except ValueError:
            return None

    @property
    def is_refusal(self) -> bool:
        """True if the same request would be refused again."""
        return 400 <= self.status < 500 and self.status not in (408, 429)


class RemitDenied(Exception):
    """A tool was not run: Remit denied the call, or could not be asked."""

    def __init__(self, verdict: Deny) -> None:
        super().__init__(tool_message(verdict))
        self.verdict = verdict


class RemitPending(Exception):
    """A tool was not run: the call waits for an approval."""

    def __init__(self, verdict: Pending) -> None:
        super().__init__(tool_message(verdict))
        self.verdict = verdict


class NotExecuted(Exception):
    """Raised by a tool that had no effect: its hold is released. After any other error the hold stays."""


class Unmappable(Exception):
    """An input that cannot be written as JSON; `path` is a JSON Pointer."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path or 'the input'} {problem}")
