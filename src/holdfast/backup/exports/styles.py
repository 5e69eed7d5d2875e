"""Splits a text into pieces with the same styles; mentions are replaced by names."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from holdfast.backup.exports.schemas import ExportedTextRange
from holdfast.redacted_repr import redacted

__all__ = ["Piece", "merge_pieces", "split_styles"]


@redacted
@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a text and the names of its styles."""

    text: str
    styles: frozenset[str] = frozenset()


def split_styles(text: str, ranges: Iterable[ExportedTextRange]) -> list[Piece]:
    """Split a text at its ranges, which may overlap, exceed the text or start inside a surrogate pair."""
    text_ranges = list(ranges)
    if not text_ranges:
        return [Piece(text)] if text else []
    # Ranges count UTF-16 code units; characters above U+FFFF have two.
    offsets = [0, *accumulate(2 if character > "\uffff" else 1 for character in text)]
    opens: dict[int, list[str]] = {}
    closes: dict[int, list[str]] = {}
    mentions: dict[int, tuple[int, str]] = {}
    for text_range in text_ranges:
        start, end = (
            min(bisect_left(offsets, position), len(text))
            for position in (text_range.start, text_range.start + text_range.length)
        )
        if start >= end:
            continue
        if text_range.style is None:
            mentions.setdefault(start, (end, f"@{text_range.mention or 'Unknown'}"))
        else:
            opens.setdefault(start, []).append(text_range.style)
            closes.setdefault(end, []).append(text_range.style)
    cuts = sorted({0, len(text), *opens, *closes, *mentions, *(end for end, _ in mentions.values())})
    active: Counter[str] = Counter()
    text_pieces: list[Piece] = []
    mention_end = 0
    for start, end in zip(cuts, [*cuts[1:], len(text)], strict=True):
        active.update(opens.get(start, ()))
        active.subtract(closes.get(start, ()))
        styles = frozenset(style for style, count in active.items() if count > 0)
        if start in mentions and start >= mention_end:
            mention_end, name = mentions[start]
            text_pieces.append(Piece(name, styles))
        elif start >= mention_end and end > start:
            text_pieces.append(Piece(text[start:end], styles))
    return merge_pieces(text_pieces)


def merge_pieces(text_pieces: Iterable[Piece]) -> list[Piece]:
    """Merge adjacent pieces with the same styles."""
    joined: list[Piece] = []
    for piece in text_pieces:
        if joined and joined[-1].styles == piece.styles:
            joined[-1] = Piece(joined[-1].text + piece.text, piece.styles)
        else:
            joined.append(piece)
    return joined
