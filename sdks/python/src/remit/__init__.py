"""Govern AI agents with Remit: every tool call is decided and recorded before it runs."""

from ._client import Client
from ._errors import NotExecuted, RemitDenied, RemitError, RemitPending, Unmappable
from ._gate import AsyncGate, Gate, Ran
from ._settle import Settlement
from ._verdict import Allow, Deny, Pending, Verdict, tool_message

__all__ = [
    "Allow",
    "AsyncGate",
    "Client",
    "Deny",
    "Gate",
    "NotExecuted",
    "Pending",
    "Ran",
    "RemitDenied",
    "RemitError",
    "RemitPending",
    "Settlement",
    "Unmappable",
    "Verdict",
    "tool_message",
]
