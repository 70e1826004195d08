"""Canonical JSON (RFC 8785), JSON Pointers (RFC 6901) and digests."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from typing import Any, TypeGuard

_LONE = re.compile("[\ud800-\udfff]")


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """True for an object of JSON, whose names are texts."""
    return isinstance(value, dict)


def is_list(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def utf8(text: str) -> bytes:
    """UTF-8; a lone surrogate becomes its three bytes of WTF-8, so that different texts stay different."""
    return text.encode("utf-8", "surrogatepass")


def sha256_hex(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def digest(value: Any) -> str:
    """base64url of the SHA-256 over the canonical JSON of a value."""
    return _base64url(hashlib.sha256(utf8(canonical(value))).digest())


def _base64url(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def omitted_digest(secret: str, tool: str, pointer: str, value: Any) -> str:
    """The digest of a member that Remit must not see: who reads it cannot try values without the secret."""
    extracted = hmac.digest(bytes(32), utf8(secret), "sha256")
    # HKDF (RFC 5869) with one block.
    key = hmac.digest(extracted, b"remit omitted members\x01", "sha256")
    return _base64url(hmac.digest(key, utf8(canonical([tool, pointer, value])), "sha256"))


def in_order(name: str) -> bytes:
    """The sort key of a name: its UTF-16 code units."""
    return name.encode("utf-16-be", "surrogatepass")


def canonical(value: Any) -> str:
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return _LONE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if is_list(value):
        return f"[{','.join(map(canonical, value))}]"
    members = (f"{canonical(name)}:{canonical(value[name])}" for name in sorted(value, key=in_order))
    return f"{{{','.join(members)}}}"


def _number(value: float) -> str:
    """A float as ECMAScript prints it (ECMA-262, Number::toString), large integers with all digits."""
    if value == 0:
        return "0"
    if 2**53 <= abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    if fraction == "0":
        fraction = ""
    point = len(whole) + int(exponent or 0)
    digits = whole + fraction
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    size = len(digits)
    if size <= point <= 21:
        text = digits + "0" * (point - size)
    elif 0 < point <= 21:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        tail = f".{digits[1:]}" if size > 1 else ""
        text = f"{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return f"-{text}" if value < 0 else text


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def pointer_of(steps: list[str]) -> str:
    """The JSON Pointer of some steps."""
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)


MISSING = object()


def at(value: Any, pointer: str) -> Any:
    """The value at a pointer, `MISSING` where there is none."""
    for step in _steps(pointer):
        if is_object(value) and step in value:
            value = value[step]
        elif is_list(value) and re.fullmatch("0|[1-9][0-9]*", step, re.ASCII):
            if int(step) >= len(value):
                return MISSING
            value = value[int(step)]
        else:
            return MISSING
    return value


def without(value: Any, pointer: str) -> Any:
    """The value without the member that a pointer names; an item of a list becomes null."""
    return _without(value, _steps(pointer))


def _without(value: Any, steps: list[str]) -> Any:
    if not steps:
        return value
    step, *rest = steps
    if is_list(value):
        return [
            item if str(index) != step else _without(item, rest) if rest else None
            for index, item in enumerate(value)
        ]
    if not is_object(value) or step not in value:
        return value
    others = {name: member for name, member in value.items() if name != step}
    return {**others, step: _without(value[step], rest)} if rest else others
