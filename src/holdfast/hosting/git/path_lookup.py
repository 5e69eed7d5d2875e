"""Normalization of paths in requests."""

from functools import lru_cache
from typing import Final

from holdfast.hosting.errors import PathRefused
from holdfast.hosting.git.encoding import raw

__all__ = ["cleaned"]

STEPS: Final = frozenset({"", ".", ".."})


@lru_cache(maxsize=1024)
def cleaned(path: str) -> str:
    """Return a path without empty parts, `.` and `..`, which never leads above the root.

    Raises `PathRefused` for a path that contains `.git`, or that normalizes to nothing.
    """
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in STEPS:
            parts.append(part)
    if (path and not parts) or any(raw(part).lower() == b".git" for part in parts):
        raise PathRefused(f"path contains a malformed path component [path: {path}]")
    return "/".join(parts)
