"""Intra-line differences of a diff: the changed part of a line, and the side-by-side view."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from markupsafe import Markup, escape

from holdfast.hosting.git.patches import DiffLine

__all__ = ["MarkedLine", "changed_part", "mark_changes", "side_by_side"]

MarkedLine = tuple[DiffLine, Markup]
"""A line and its text as HTML."""
# Longer lines are not compared: the difference would be hard to see anyway.
LONGEST: Final = 1000
# The least share that two lines have in common; below it the line counts as replaced, and no part is marked.
LEAST_COMMON: Final = 0.3


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


def with_mark(text: str, start: int, end: int) -> Markup:
    """Return a text as HTML with a part of it marked."""
    if start >= end:
        return escape(text)
    return Markup("%s<mark>%s</mark>%s") % (text[:start], text[start:end], text[end:])


def blocks(lines: Sequence[DiffLine]) -> Iterator[tuple[list[DiffLine], list[DiffLine], DiffLine | None]]:
    """Yield deleted lines with the added ones that follow them, and every other line by itself."""
    deleted: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in lines:
        if line.sign == "-" and not added:
            deleted.append(line)
            continue
        if line.sign == "+":
            added.append(line)
            continue
        if deleted or added:
            yield deleted, added, None
            deleted, added = [], []
        if line.sign == "-":
            deleted.append(line)
        else:
            yield [], [], line
    if deleted or added:
        yield deleted, added, None


def marked_block(deleted: list[DiffLine], added: list[DiffLine]) -> tuple[list[MarkedLine], list[MarkedLine]]:
    """Mark the changed parts of a block with as many deleted as added lines."""
    old = [(line, escape(line.text)) for line in deleted]
    new = [(line, escape(line.text)) for line in added]
    if len(deleted) == len(added):
        for at, (before, after) in enumerate(zip(deleted, added, strict=True)):
            change = changed_part(before.text, after.text)
            if change is not None:
                start, old_end, new_end = change
                old[at] = before, with_mark(before.text, start, old_end)
                new[at] = after, with_mark(after.text, start, new_end)
    return old, new


def mark_changes(lines: Sequence[DiffLine]) -> list[MarkedLine]:
    """Return the lines of a hunk with the changed part of each marked."""
    marked: list[MarkedLine] = []
    for deleted, added, unchanged in blocks(lines):
        if unchanged is not None:
            marked.append((unchanged, escape(unchanged.text)))
        else:
            old, new = marked_block(deleted, added)
            marked += [*old, *new]
    return marked


def side_by_side(lines: Sequence[DiffLine]) -> list[tuple[MarkedLine | None, MarkedLine | None]]:
    """Return the lines of a hunk as rows with the old side and the new one."""
    rows: list[tuple[MarkedLine | None, MarkedLine | None]] = []
    for deleted, added, unchanged in blocks(lines):
        if unchanged is None:
            rows += zip_longest(*marked_block(deleted, added))
        else:
            shown = (unchanged, escape(unchanged.text))
            rows.append((shown, shown))
    return rows
