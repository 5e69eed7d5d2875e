"""What people wrote, made fit for a message: without what does not show, cut to length, never taken for a link."""

import re
from typing import Final

__all__ = ["address", "cut", "cut_bytes", "line", "passage", "unlinked"]

ELLIPSIS: Final = "…"
# Shows nothing and takes no room, but ends a word for those who look for links and names in a text.
NOTHING: Final = "\u200b"
# Everything that controls how the rest is shown, such as turning its direction, and half characters.
UNSEEN: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
BLANK: Final = re.compile(r"\s+")
# Where others see the beginning of a link, a name, a channel or a command.
LINKS: Final = re.compile(r"(?<=\w)(?=://)|(?<=[@#!+])(?=\w)|(?<=\w\.)(?=\w)|(?<=\])(?=\()")
# What an address may hold as it is; all else is written as hexadecimal digits.
ADDRESS: Final = re.compile(r"[^A-Za-z0-9\-._~:/?#@!$&+,;=%]")


def line(text: str, longest: int) -> str:
    """Make one line of a text."""
    return cut(BLANK.sub(" ", UNSEEN.sub(" ", text)).strip(), longest)


def passage(text: str, longest: int) -> str:
    """Make a text of several lines fit to be quoted."""
    return cut(UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip(), longest)


def cut(text: str, longest: int) -> str:
    """Shorten a text to a number of characters, and show that it was longer."""
    return text if len(text) <= longest else text[: max(longest - 1, 0)].rstrip() + ELLIPSIS


def cut_bytes(text: str, longest: int) -> str:
    """Shorten a text to a number of bytes, and show that it was longer."""
    whole = text.encode()
    if len(whole) <= longest:
        return text
    kept = whole[: longest - len(ELLIPSIS.encode())].decode(errors="ignore")
    return kept.rstrip() + ELLIPSIS


def unlinked(text: str) -> str:
    """Break up what would be taken for a link, a name or a channel; to the eye it stays the same."""
    return LINKS.sub(NOTHING, text)


def address(url: str) -> str:
    """Return an address without anything that could end it early where it stands in other text."""
    return ADDRESS.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), url)
