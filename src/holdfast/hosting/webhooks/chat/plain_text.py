"""Text written by users, sanitized for messages: no invisible characters, limited length, no automatic links."""

import re
from typing import Final

__all__ = ["address", "cut", "cut_bytes", "line", "passage", "unlinked"]

ELLIPSIS: Final = "…"
# Zero-width space: invisible, but ends a word for link and mention detection.
ZERO_WIDTH_SPACE: Final = "\u200b"
# Control characters, such as direction overrides, and lone surrogates.
UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
BLANK: Final = re.compile(r"\s+")
# Where services would detect a link, a mention, a channel or a command.
LINKS: Final = re.compile(r"(?<=\w)(?=://)|(?<=[@#!+])(?=\w)|(?<=\w\.)(?=\w)|(?<=\])(?=\()")
# Characters to percent-encode in a URL.
ADDRESS: Final = re.compile(r"[^A-Za-z0-9\-._~:/?#@!$&+,;=%]")


def line(text: str, longest: int) -> str:
    """Return a text as a single line."""
    return cut(BLANK.sub(" ", UNSEEN.sub(" ", text)).strip(), longest)


def passage(text: str, longest: int) -> str:
    """Return a text of several lines without invisible characters."""
    return cut(UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip(), longest)


def cut(text: str, longest: int) -> str:
    """Truncate a text to a number of characters, with an ellipsis."""
    return text if len(text) <= longest else text[: max(longest - 1, 0)].rstrip() + ELLIPSIS


def cut_bytes(text: str, longest: int) -> str:
    """Truncate a text to a number of bytes, with an ellipsis."""
    encoded = text.encode()
    if len(encoded) <= longest:
        return text
    beginning = encoded[: longest - len(ELLIPSIS.encode())].decode(errors="ignore")
    return beginning.rstrip() + ELLIPSIS


def unlinked(text: str) -> str:
    """Insert zero-width spaces where a link, mention or channel would be detected."""
    return LINKS.sub(ZERO_WIDTH_SPACE, text)


def address(url: str) -> str:
    """Percent-encode the characters of a URL that could end it early in other text."""
    return ADDRESS.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)
