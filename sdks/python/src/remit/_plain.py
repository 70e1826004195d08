"""Inputs as plain JSON within the limits of Remit."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

from ._errors import Unmappable
from ._json import in_order, sha256_hex, utf8

_MAX_SAFE = 2**53 - 1
_MAX_DEPTH = 500
KEPT_BYTES = 2048
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")


def to_plain(value: Any, path: str = "", outer: tuple[int, ...] = ()) -> Any:
    """A value as plain JSON. Integers beyond a double become text, bytes `{sha256, length}`, a text with
    U+0000 or half a surrogate pair `{sha256, length, start}`. Raises `Unmappable` for cycles, functions
    and the like."""
    if value is None or isinstance(value, (bool, Stub)):
        return value
    if isinstance(value, Enum):
        return to_plain(value.value, path, outer)
    if isinstance(value, str):
        return shortened(value) if _UNSENDABLE.search(value) else str(value)
    if isinstance(value, int):
        return value if abs(value) <= _MAX_SAFE else str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unmappable(path, f"is {value}")
        return 0 if value == 0 else value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"length": len(bytes(value)), "sha256": sha256_hex(bytes(value))}
    if isinstance(value, (Decimal, UUID)):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    if len(outer) == _MAX_DEPTH or id(value) in outer:
        raise Unmappable(path, "is nested too deep, or in a cycle")
    inner = (*outer, id(value))
    if isinstance(value, (list, tuple)):
        return [to_plain(item, f"{path}/{index}", inner) for index, item in enumerate(value)]
    if hasattr(value, "model_dump"):
        return to_plain(value.model_dump(mode="json"), path, inner)
    if is_dataclass(value) and not isinstance(value, type):
        return to_plain(asdict(value), path, inner)
    if not isinstance(value, Mapping):
        raise Unmappable(path, f"is of type {type(value).__name__}")
    if not all(isinstance(name, str) for name in value):
        raise Unmappable(path, "has a name that is no text")
    return {
        _name(name): to_plain(value[name], f"{path}/{name}", inner)
        for name in sorted(value, key=in_order)
    }


class Stub(dict):  # type: ignore[type-arg]
    """Stands for a value that is not sent."""


def shortened(text: str) -> Stub:
    """A text by its SHA-256, its length in bytes of UTF-8 and its first 2 KiB."""
    content = utf8(text)
    start = utf8(_UNSENDABLE.sub("\ufffd", text))[:KEPT_BYTES]
    return Stub(
        length=len(content), sha256=sha256_hex(content), start=start.decode("utf-8", "ignore")
    )


def _name(name: str) -> str:
    if not _UNSENDABLE.search(name):
        return name
    return f"{_UNSENDABLE.sub(chr(0xFFFD), name)}~{sha256_hex(utf8(name))[:8]}"


# Default_Ignorable_Code_Point (UAX #44) that is not in Cc, Cf or Cs; noncharacters of the first plane;
# symbols with a blank glyph.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufdd0-\ufdef\ufff0-\ufff8\ufffc"
    "\U00013441\U00013442\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
_MAX_LENGTH = 256


def to_name(text: str) -> str:
    """A text as Remit takes names: at most 256 characters, NFC, nothing invisible, no outer blanks, no
    `*`. A text that had to be changed ends in `~` and 8 hex digits of its SHA-256."""
    clean = "".join(map(_visible, unicodedata.normalize("NFC", text))).strip(" ")
    if clean == text and 0 < len(clean) <= _MAX_LENGTH:
        return text
    return f"{clean[: _MAX_LENGTH - 9]}~{sha256_hex(utf8(text))[:8]}"


def _visible(char: str) -> str:
    is_unusable = (
        char == "*"
        or (char != " " and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"))
        or _IGNORABLE.match(char) is not None
        or ord(char) & 0xFFFE == 0xFFFE
    )
    return "_" if is_unusable else char
