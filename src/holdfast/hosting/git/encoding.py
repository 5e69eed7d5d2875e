"""Conversion between the bytes of git names and text.

Invalid UTF-8 is shown with replacement characters, but can still be looked up by its bytes. Text decoded with
`surrogateescape` is encoded back to the original bytes.
"""

import os
import re
from typing import Final

__all__ = ["argument", "display_name", "is_id", "raw", "well_formed"]

ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def display_name(name: bytes) -> str:
    """Return a name decoded for display, always valid for JSON."""
    return name.decode(errors="replace")


def raw(name: str | bytes) -> bytes:
    """Return the bytes of a name; text that cannot be encoded matches nothing."""
    if isinstance(name, bytes):
        return name
    try:
        return name.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return name.encode(errors="surrogatepass")


def well_formed(text: str) -> str:
    """Return a text with surrogates replaced."""
    return text if text.isascii() else display_name(raw(text))


def is_id(text: str) -> bool:
    """Return whether a text is a full object id."""
    return ID.fullmatch(text) is not None


def argument(name: bytes) -> str:
    """Return a name as an argument of the git program."""
    return os.fsdecode(name)
