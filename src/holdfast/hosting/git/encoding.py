"""Conversion between the bytes of git names and the text shown to people.

What is not UTF-8 is shown with replacement characters and can still be found by its bytes. Text that came from
elsewhere by `surrogateescape` finds the bytes it stood for.
"""

import os
import re
from typing import Final

__all__ = ["argument", "is_id", "raw", "shown", "well_formed"]

ID: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


def shown(name: bytes) -> str:
    """Return a name as people see it, always fit for JSON."""
    return name.decode(errors="replace")


def raw(name: str | bytes) -> bytes:
    """Return the bytes of a name; text that stands for no bytes finds nothing, but breaks nothing."""
    if isinstance(name, bytes):
        return name
    try:
        return name.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        return name.encode(errors="surrogatepass")


def well_formed(text: str) -> str:
    """Return a text as people see it, where bytes may stand in it that are no text."""
    return text if text.isascii() else shown(raw(text))


def is_id(text: str) -> bool:
    """Tell whether a text is a full object id, as git writes it."""
    return ID.fullmatch(text) is not None


def argument(name: bytes) -> str:
    """Return a name as an argument of the git program."""
    return os.fsdecode(name)
