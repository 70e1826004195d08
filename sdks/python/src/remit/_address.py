"""Paths of files in normal form, as rules and approvals see them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from ._plain import problem_of


class AddressError(ValueError):
    """A path that two readers could take for different things. The message states what is accepted."""


_PLAIN = re.compile(r"[!-)+-\[\]-~]*")
_DRIVE = re.compile(r"[A-Za-z]:(?=/|\Z)")


def normal_path(text: str, is_relative: bool = False) -> str:
    """A path without `.`, `..`, repeated and last slashes; an absolute one unless `is_relative`.

    Raises `AddressError` where a server could read something else in it."""
    path = text.replace("\\", "/") if re.match(r"[A-Za-z]:[\\/]", text) else text
    _check_characters(path)
    if re.search("%[0-9a-fA-F]{2}", path):
        raise AddressError("must be a path without escapes")
    is_absolute = re.match("(?:[A-Za-z]:)?/", path) is not None
    # A home, another machine, or the current folder of a drive.
    if is_absolute is is_relative or re.match("~|//|[A-Za-z]:(?!/)", path):
        raise AddressError(f"must be {'a relative' if is_relative else 'an absolute'} path")
    normal = _joined(path.split("/"))
    if normal != "" and problem_of(normal) is not None:
        raise AddressError("must have at most 256 characters in normal form, in NFC")
    return normal


def _joined(segments: Sequence[str]) -> str:
    root = segments[0]
    has_drive = _DRIVE.match(root) is not None
    is_absolute = has_drive or root == ""
    kept: list[str] = []
    for segment in segments[1:] if is_absolute else segments:
        if segment in ("", "."):
            continue
        if segment != "..":
            kept.append(segment)
        elif kept:
            kept.pop()
        else:
            raise AddressError('must not leave its root with ".."')
    # Windows drops these, and reads another file.
    if has_drive and any(re.search(r"[. ]\Z|:", segment) for segment in kept):
        raise AddressError("must have no names that end in a dot or a blank, or have a colon")
    rest = "/".join(kept)
    return f"{root.upper() if has_drive else ''}/{rest}" if is_absolute else rest


def _check_characters(text: str) -> None:
    if _PLAIN.fullmatch(text):
        return
    is_usable = (
        text.strip(" ") == text
        and unicodedata.normalize("NFC", text) == text
        and all(char == " " or (char != "\\" and problem_of(char) is None) for char in text)
    )
    if not is_usable:
        raise AddressError(
            "must be in NFC, without invisible characters, blanks other than U+0020, outer blanks, * or \\"
        )
