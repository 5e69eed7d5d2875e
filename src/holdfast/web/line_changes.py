"""Intra-line differences of a diff: the changed part of a line, and the side-by-side view."""

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from markupsafe import Markup

from holdfast.hosting.git.patches import DiffLine

__all__ = ["MarkedLine", "changed_part", "mark_changes", "side_by_side"]

MarkedLine = tuple[DiffLine, Markup]
"""A line and its text as HTML."""
# Longer lines are not compared: the difference would be hard to see anyway.
LONGEST: Final = 1000
# The least share that two lines have in common; below it the line counts as replaced, and no part is marked.
LEAST_COMMON: Final = 0.3
# The start or the end of an element of a highlighted line, or text; and a character of the text.
PIECE: Final = re.compile(r"(<span[^>]*>)|</span>|([^<]+)")
LETTER: Final = re.compile(r"&[^;]+;|[^&]", re.DOTALL)


def changed_part(old: str, new: str) -> tuple[int, int, int] | None:
    """Return where two lines begin to differ and where that part ends in each; None if they have little in common.

    The part begins and ends between words.
    """
    if not old.strip() or not new.strip() or max(len(old), len(new)) > LONGEST:
        return None
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    while 0 < start < max(len(old), len(new)) and (is_in_word(old, start) or is_in_word(new, start)):
        start -= 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    while end and (is_in_word(old, len(old) - end) or is_in_word(new, len(new) - end)):
        end -= 1
    common = len(old[:start].strip()) + len(old[len(old) - end :].strip())
    if common < LEAST_COMMON * max(len(old.strip()), len(new.strip())):
        return None
    return start, len(old) - end, len(new) - end


def is_in_word(text: str, at: int) -> bool:
    """Return whether a position is inside a word."""
    return 0 < at < len(text) and is_word(text[at - 1]) and is_word(text[at])


def is_word(letter: str) -> bool:
    """Return whether a letter belongs to a word."""
    return letter.isalnum() or letter == "_"


def with_mark(html: Markup, start: int, end: int) -> Markup:
    """Return a line with a part marked; positions count characters of its text."""
    if start >= end:
        return html
    before, marked, after = cut_html(html, (0, start)), cut_html(html, (start, end)), cut_html(html, (end, None))
    # Parts of escaped text.
    return Markup(f"{before}<mark>{marked}</mark>{after}")  # noqa: S704  # HTML before and after


def cut_html(html: Markup, part: tuple[int, int | None]) -> str:
    """Return a part of a highlighted line, whose elements are not nested; an element that is cut is closed."""
    start, end = part
    cut: list[str] = []
    element, at = "", 0
    for opening, text in PIECE.findall(html):
        if not text:
            element = opening
            continue
        letters = LETTER.findall(text)
        chosen = "".join(letters[max(0, start - at) : None if end is None else max(0, end - at)])
        at += len(letters)
        if chosen:
            cut.append(f"{element}{chosen}</span>" if element else chosen)
    return "".join(cut)


def blocks(lines: Sequence[MarkedLine]) -> Iterator[tuple[list[MarkedLine], list[MarkedLine], MarkedLine | None]]:
    """Yield deleted lines with the added ones that follow them, and every other line by itself."""
    deleted: list[MarkedLine] = []
    added: list[MarkedLine] = []
    for line in lines:
        sign = line[0].sign
        if sign == "-" and not added:
            deleted.append(line)
            continue
        if sign == "+":
            added.append(line)
            continue
        if deleted or added:
            yield deleted, added, None
            deleted, added = [], []
        if sign == "-":
            deleted.append(line)
        else:
            yield [], [], line
    if deleted or added:
        yield deleted, added, None


def marked_block(old: list[MarkedLine], new: list[MarkedLine]) -> list[MarkedLine]:
    """Return deleted and added lines; if there are as many of each, the changed parts are marked."""
    if len(old) == len(new):
        for at, ((before, old_html), (after, new_html)) in enumerate(zip(old, new, strict=True)):
            change = changed_part(before.text, after.text)
            if change is not None:
                start, old_end, new_end = change
                old[at] = before, with_mark(old_html, start, old_end)
                new[at] = after, with_mark(new_html, start, new_end)
    return [*old, *new]


def mark_changes(lines: Sequence[MarkedLine]) -> list[MarkedLine]:
    """Return the lines of a hunk with the changed part of each marked; their HTML may be highlighted."""
    marked: list[MarkedLine] = []
    for deleted, added, unchanged in blocks(lines):
        marked += marked_block(deleted, added) if unchanged is None else [unchanged]
    return marked


def side_by_side(lines: Sequence[MarkedLine]) -> list[tuple[MarkedLine | None, MarkedLine | None]]:
    """Return the lines of a hunk as rows with the old side and the new one."""
    rows: list[tuple[MarkedLine | None, MarkedLine | None]] = []
    for deleted, added, unchanged in blocks(lines):
        rows += zip_longest(deleted, added) if unchanged is None else [(unchanged, unchanged)]
    return rows
