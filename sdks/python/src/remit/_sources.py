"""The modules that a project's sources import."""

from __future__ import annotations

import ast
import os
import warnings

_SKIPPED = {"node_modules", "site-packages", "dist", "build", "venv", "__pycache__"}
_MAX_BYTES = 2 * 1024 * 1024


def imports_below(folder: str) -> set[str]:
    """The dotted names of imported modules; of `from a import b`, both `a` and `a.b`."""
    found: set[str] = set()
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _SKIPPED and not name.startswith(".")]
        for name in files:
            if name.endswith(".py"):
                found |= _imports_of(os.path.join(path, name))
    return found


def _imports_of(path: str) -> set[str]:
    found: set[str] = set()
    try:
        if os.path.getsize(path) > _MAX_BYTES:
            return found
        with open(path, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return found
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found
