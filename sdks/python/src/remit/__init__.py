"""Govern AI agents with Remit: every tool call is decided and recorded before it runs."""

from ._client import Client
from ._errors import NotExecuted, RemitDenied, RemitError, RemitPending, Unmappable
from ._gate import AsyncGate, Gate, Ran
from ._self_test import Canary, SelfTestReport, SelfTestResult
from ._settle import Settlement
from ._verdict import Allow, Deny, Pending, Verdict, tool_message

__all__ = [
    "Allow",
    "AsyncGate",
    "Canary",
    "Client",
    "Deny",
    "Gate",
    "NotExecuted",
    "Pending",
    "Ran",
    "RemitDenied",
    "RemitError",
    "RemitPending",
    "SelfTestReport",
    "SelfTestResult",
    "Settlement",
    "Unmappable",
    "Verdict",
    "tool_message",
]
