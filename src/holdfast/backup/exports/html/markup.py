"""Escapes text for HTML. All text of messages and names goes through this module."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from holdfast.backup.archives.model import TextRange
from holdfast.backup.archives.signs import EMOJI, LOOKS

__all__ = ["escape", "insert_names", "is_address", "is_only_emoji", "links_of", "rich_text"]

# Characters that end text or a double-quoted attribute, and those not allowed in HTML.
SPECIAL: Final = re.compile('[&<>"\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]')
ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "\n"}
# Invisible and bidirectional control characters are not part of a URL.
HIDDEN: Final = "\\s\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff9-\uffff"
LINK: Final = re.compile(f"https?://[^<>\"'`{{}}|\\\\^{HIDDEN}]+", re.IGNORECASE)
WHOLE_LINK: Final = re.compile(f"https?://[^{HIDDEN}]+", re.IGNORECASE)
CLOSING: Final = ".,;:!?)]'*_~\u2026\u00bb\u201d\u2019\u3002\uff0c\u3001\uff01\uff1f\uff09\u300d"
PLACEHOLDER: Final = "\ufffc"
EMOJI_ONLY: Final = re.compile(rf"[{EMOJI}\s][{EMOJI}{LOOKS}\s]*")
MAX_CHARACTERS: Final = 24
# Elements of styles, outermost first; styles can overlap.
STYLES: Final = {
    "SPOILER": ('<span class="sp" tabindex="0">', "</span>"),
    "BOLD": ("<b>", "</b>"),
    "ITALIC": ("<i>", "</i>"),
    "STRIKETHROUGH": ("<s>", "</s>"),
    "MONOSPACE": ("<code>", "</code>"),
}


def escape_character(match: re.Match[str]) -> str:
    """Return the entity of a character, or nothing for one that is not allowed in HTML."""
    return ENTITIES.get(match[0], "")


def escape(text: str) -> str:
    """Escape text for an element or a double-quoted attribute."""
    # Fast path: of printable characters only these four are special.
    if text.isprintable() and not ("&" in text or "<" in text or ">" in text or '"' in text):
        return text
    return SPECIAL.sub(escape_character, text)


def is_only_emoji(text: str) -> bool:
    """Return whether a text consists of a few emoji."""
    return not text.isascii() and len(text) <= MAX_CHARACTERS and EMOJI_ONLY.fullmatch(text) is not None


def insert_names(text: str, ranges: Sequence[TextRange]) -> str:
    """Replace the placeholders of mentions with names."""
    names = [text_range.mention or "Unknown" for text_range in ranges if text_range.style is None]
    for name in names if PLACEHOLDER in text else ():
        text = text.replace(PLACEHOLDER, f"@{name}", 1)
    return text


def is_address(text: str) -> bool:
    """Return whether a text is an HTTP or HTTPS URL."""
    return WHOLE_LINK.fullmatch(text) is not None


def links_of(text: str) -> Iterable[tuple[int, int]]:
    """Yield the start and end of URLs in a text, without trailing punctuation."""
    for match in LINK.finditer(text):
        address = match[0].rstrip(CLOSING)
        # A closing bracket belongs to the URL if it was opened inside.
        if match[0][len(address) :].startswith(")") and address.count("(") > address.count(")"):
            address += ")"
        if len(address) > len("https://"):
            yield match.start(), match.start() + len(address)


def rich_text(text: str, ranges: Sequence[TextRange] = (), *, links: bool = True) -> str:
    """Return text as HTML with its styles, mentions and links."""
    addresses = dict(links_of(text)) if links and "://" in text else {}
    if not ranges and not addresses:
        return escape(text)
    return "".join(rich_pieces(text, ranges, addresses))


def rich_pieces(text: str, ranges: Sequence[TextRange], addresses: dict[int, int]) -> Iterable[str]:
    """Split a text at the boundaries of ranges and links, and wrap each piece in its elements.

    Ranges may overlap, lie outside of the text or end inside a surrogate pair. Each piece has its own elements, so
    that they always nest.
    """
    offsets = utf16_offsets(text)
    last = len(offsets) - 1
    changes: dict[int, list[tuple[str, int]]] = {}
    mentions: dict[int, tuple[int, str]] = {}
    for text_range in ranges:
        start, end = offsets[min(text_range.start, last)], offsets[min(text_range.start + text_range.length, last)]
        if start >= end:
            continue
        if text_range.style in STYLES:
            changes.setdefault(start, []).append((text_range.style or "", 1))
            changes.setdefault(end, []).append((text_range.style or "", -1))
        elif text_range.style is None:
            mentions.setdefault(start, (end, text_range.mention or "Unknown"))
            changes.setdefault(start, [])
            changes.setdefault(end, [])
    for start, end in addresses.items():
        changes.setdefault(start, [])
        changes.setdefault(end, [])
    cuts = sorted({0, len(text), *changes})
    depth = dict.fromkeys(STYLES, 0)
    link_end = mention_end = 0
    link = name = ""
    for start, end in pairwise(cuts):
        for style, change in changes.get(start, ()):
            depth[style] += change
        if start in addresses:
            link_end = addresses[start]
            link = escape(text[start:link_end])
        is_mention_start = start in mentions and start >= mention_end
        if is_mention_start:
            mention_end, name = mentions[start]
        inner = escape(text[start:end])
        if start < mention_end:
            shown = (
                f"<bdi>{escape(f'@{name}')}</bdi>"
                if is_mention_start and PLACEHOLDER in inner
                else inner.replace(PLACEHOLDER, "")
            )
            inner = f'<span class="at">{shown}</span>' if shown else ""
        for style in reversed(STYLES):
            if depth[style]:
                before, after = STYLES[style]
                inner = f"{before}{inner}{after}"
        yield f'<a href="{link}" rel="noreferrer">{inner}</a>' if start < link_end else inner


def utf16_offsets(text: str) -> Sequence[int]:
    """Map offsets in UTF-16 code units to indexes of characters; the last entry is the end of the text."""
    if not text or max(text) <= "\uffff":
        return range(len(text) + 1)
    indexes: list[int] = []
    for n, character in enumerate(text):
        indexes += (n, n) if character > "\uffff" else (n,)
    return [*indexes, len(text)]
