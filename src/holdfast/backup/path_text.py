"""File names as text that can be stored and encoded."""

import os
from os import PathLike

__all__ = ["path_text"]


def path_text(path: str | PathLike[str]) -> str:
    r"""Return a path as text; bytes that are not UTF-8 are escaped as `\xff`: databases and JSON reject them."""
    return os.fsencode(path).decode(errors="backslashreplace")
