"""Inputs as plain JSON within the limits of Remit."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv6Address
from pathlib import PurePath
from typing import Any
from uuid import UUID

from ._errors import Unmappable
from ._json import canonical, in_order, sha256_hex, utf8

_MAX_SAFE = 2**53 - 1
MAX_DEPTH = 500
KEPT_BYTES = 2048
#: Values that are written as a text, and what writes it: a subclass may have another text than value.
_WRITERS: tuple[tuple[type, Callable[[Any], str]], ...] = (
    *((kind, kind.__str__) for kind in (Decimal, UUID, PurePath, IPv4Address, IPv6Address)),
    *((kind, kind.isoformat) for kind in (time, datetime, date)),
)
TEXTS = tuple(kind for kind, _ in _WRITERS)
_UNSENDABLE = re.compile("[\0\ud800-\udfff]")


def to_plain(value: Any, path: str = "", outer: tuple[int, ...] = ()) -> Any:
    """A value as plain JSON. Integers beyond a double become text, bytes `{sha256, length}`, a text with
    U+0000 or half a surrogate pair `{sha256, length, start}`. Raises `Unmappable` for cycles, functions
    and the like."""
    if value is None or isinstance(value, (bool, Stub)):
        return value
    if isinstance(value, str):
        return shortened(value) if _UNSENDABLE.search(value) else str.__str__(value)
    if isinstance(value, int):
        whole = int.__add__(value, 0)
        return whole if abs(whole) <= _MAX_SAFE else str(whole)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise Unmappable(path, f"is {value}")
        return 0 if value == 0.0 else value
    if is_a(value, bytes, bytearray, memoryview):
        return {"length": len(bytes(value)), "sha256": sha256_hex(bytes(value))}
    if isinstance(value, Enum):
        return to_plain(value.value, path, outer)
    if is_address(value):
        return str(value)
    write = next((write for kind, write in _WRITERS if isinstance(value, kind)), None)
    if write is not None:
        return write(value)
    if len(outer) == MAX_DEPTH or id(value) in outer:
        raise Unmappable(path, "is nested too deep, or in a cycle")
    inner = (*outer, id(value))
    if is_a(value, list, tuple):
        return [to_plain(item, f"{path}/{index}", inner) for index, item in enumerate(value)]
    if is_a(value, set, frozenset):
        return sorted((to_plain(item, path, inner) for item in value), key=canonical)
    if not is_a(value, Mapping):
        from ._snapshot import members_of

        found = members_of(value, path)
        if found is None:
            raise Unmappable(path, f"is of type {type(value).__name__}")
        value = found
    if not all(isinstance(name, str) for name in value):
        raise Unmappable(path, "has a name that is no text")
    return {
        _name(name): to_plain(value[name], f"{path}/{name}", inner)
        for name in sorted(value, key=in_order)
    }


def is_a(value: Any, *kinds: type[Any]) -> bool:
    """`isinstance` for a value whose parts may be anything: it stays `Any` for a checker of types."""
    return isinstance(value, kinds)


def is_address(value: Any) -> bool:
    """True for a URL of pydantic, which cannot be changed."""
    return type(value).__module__ == "pydantic.networks"


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


def name_of(text: Any, what: str) -> str:
    """A name as Remit takes it. Raises `Unmappable` for any other one: cleaned, the rules would judge a name
    that does not run."""
    if not isinstance(text, str):
        raise Unmappable(what, "must be a text")
    problem = problem_of(text)
    if problem is not None:
        raise Unmappable(what, f"must {problem}")
    return text


def problem_of(text: str) -> str | None:
    """What a name must not be, None for a name that Remit takes."""
    if text == "":
        return "not be empty"
    if len(text) > _MAX_LENGTH:
        return f"have at most {_MAX_LENGTH} characters"
    if "*" in text:
        return "not contain *"
    if unicodedata.normalize("NFC", text) != text:
        return "be in the normalization form NFC of Unicode"
    unseen = next(filter(_is_unseen, text), None)
    if unseen is not None:
        return f"not contain the invisible character U+{ord(unseen):04X}"
    return "not begin or end with a blank" if text != text.strip(" ") else None


def _is_unseen(char: str) -> bool:
    return (
        (char != " " and unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"))
        or _IGNORABLE.match(char) is not None
        or ord(char) & 0xFFFE == 0xFFFE
    )
