"""Syntax highlighting of diffs, together with the changed part of each line.

The files of a short diff are highlighted as a whole, so that a hunk inside a long comment or string is too; of
larger ones only the lines that are shown, each hunk by itself.
"""

import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.patches import DiffLine, FileDiff, Hunk
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import read_blob
from holdfast.hosting.renderer.highlight import coloured_texts
from holdfast.hosting.renderer.render_process import CACHE, RenderBusy
from holdfast.web.line_changes import MarkedLine, mark_changes

__all__ = ["PER_CACHED_LINE", "HighlightedHunk", "PlainPatch", "highlight_patches", "highlight_versions"]

# The memory of a line in the cache, besides its text.
PER_CACHED_LINE: Final = 250
# The size limit of the elements that highlighting adds to one page; the lines after it are plain.
MOST_MARKUP: Final = 45_000
# The limits below which files are highlighted as a whole: how many, and the size of all.
MOST_WHOLE_FILES: Final = 10
MOST_WHOLE_BYTES: Final = 128 * 1024
# The signs of the lines of each side, and of those taken from it: unchanged lines are taken from the new one.
OLD_SIDE: Final = (" -", "-")
NEW_SIDE: Final = (" +", " +")


@dataclass(frozen=True, slots=True)
class PlainPatch:
    """The hunks of a file that a page shows, and the part of the file they were computed for."""

    file: FileDiff
    hunks: list[Hunk]
    part: tuple[int, int]
    """The number of skipped lines, and of context lines."""


@dataclass(frozen=True, slots=True)
class HighlightedHunk:
    """A hunk whose lines are HTML."""

    old_start: int
    new_start: int
    heading: str
    lines: list[MarkedLine]


@dataclass(frozen=True, slots=True)
class Side:
    """A text to highlight: one side of a hunk, or of all hunks of a file."""

    name: str
    text: str
    places: list[tuple[int, int, int]]
    """The places of its lines on the page: the hunk, the line in it, and the line in the text."""


def highlight_patches(repo: Repo, patches: Sequence[PlainPatch]) -> list[list[HighlightedHunk]]:
    """Return the hunks of each file, highlighted within the limits of a page; cached by the ids of the contents.

    While the render process is busy, lines are plain.
    """
    key = ("highlighted diff", *map(patch_key, patches))
    result: list[list[HighlightedHunk]] | None = CACHE.get(key)
    if result is not None:
        return result
    sides = sides_of_patches(repo, patches)
    try:
        colours = iter(coloured_texts([(side.name, side.text) for group in sides for side in group]))
    except RenderBusy:
        return [highlighted_hunks(patch.hunks, {}) for patch in patches]
    remaining = MOST_MARKUP
    result = []
    for patch, group in zip(patches, sides, strict=True):
        html = line_html(patch.hunks, [(side, next(colours)) for side in group], remaining)
        remaining -= sum(map(len, html.values())) - sum(
            len(escape(patch.hunks[hunk].lines[line].text)) for hunk, line in html
        )
        result.append(highlighted_hunks(patch.hunks, html))
    lines = [line for hunks in result for hunk in hunks for line in hunk.lines]
    CACHE.put(key, result, sum(PER_CACHED_LINE + len(line.text) + len(html) for line, html in lines))
    return result


def highlight_versions(path: str, old: bytes, new: bytes, hunks: Sequence[Hunk]) -> list[HighlightedHunk]:
    """Return the hunks between two versions of a file that is being edited, highlighted; they are not cached."""
    name = path.rpartition("/")[2]
    is_short = len(old) + len(new) <= MOST_WHOLE_BYTES
    sides = [
        *sides_of(name, old if is_short else None, hunks, *OLD_SIDE),
        *sides_of(name, new if is_short else None, hunks, *NEW_SIDE),
    ]
    try:
        colours = coloured_texts([(side.name, side.text) for side in sides])
    except RenderBusy:
        return highlighted_hunks(hunks, {})
    return highlighted_hunks(hunks, line_html(hunks, list(zip(sides, colours, strict=True)), MOST_MARKUP))


def patch_key(patch: PlainPatch) -> tuple[object, ...]:
    """Return what the lines of a file on a page depend on."""
    file = patch.file
    sides = (file.old_mode, file.old_id, file.old_path, file.new_mode, file.new_id, file.new_path)
    return (*sides, *patch.part, sum(len(hunk.lines) for hunk in patch.hunks))


def sides_of_patches(repo: Repo, patches: Sequence[PlainPatch]) -> list[list[Side]]:
    """Return the texts of each file to highlight; short files are read as a whole."""
    budget = MOST_WHOLE_BYTES if len(patches) <= MOST_WHOLE_FILES else 0
    groups: list[list[Side]] = []
    for patch in patches:
        file = patch.file
        group: list[Side] = []
        for path, mode, object_id, side in (
            (file.old_path, file.old_mode, file.old_id, OLD_SIDE),
            (file.new_path, file.new_mode, file.new_id, NEW_SIDE),
        ):
            if not patch.hunks or not stat.S_ISREG(mode):
                continue
            header = repo.header(object_id) if budget else None
            whole: bytes | None = None
            if header is not None and header[1] <= budget:
                budget -= header[1]
                whole = read_blob(repo, object_id)
            group += sides_of(display_name(path.rpartition(b"/")[2]), whole, patch.hunks, *side)
        groups.append(group)
    return groups


def sides_of(name: str, whole: bytes | None, hunks: Sequence[Hunk], signs: str, shown: str) -> list[Side]:
    """Return the texts of one side of a file: the whole of it, or of each hunk the lines with one of `signs`.

    The lines with a sign in `shown` are those the page takes from this side.
    """
    sides: list[Side] = []
    places: list[tuple[int, int, int]] = []
    for at, hunk in enumerate(hunks):
        lines = [(index, line) for index, line in enumerate(hunk.lines) if line.sign in signs]
        own = [(at, index, row) for row, (index, line) in enumerate(lines) if line.sign in shown]
        if whole is not None:
            places += [(at, index, number_of(hunk.lines[index]) - 1) for _, index, _ in own]
        elif own:
            sides.append(Side(name, "".join(f"{line.text}\n" for _, line in lines), own))
    if places and whole is not None:
        sides.append(Side(name, display_name(whole).replace("\r\n", "\n"), places))
    return sides


def number_of(line: DiffLine) -> int:
    """Return the number of a line in its file: in the old one if it was deleted."""
    return (line.old if line.sign == "-" else line.new) or 0


def line_html(
    hunks: Sequence[Hunk], colours: Sequence[tuple[Side, list[Markup] | None]], budget: int
) -> dict[tuple[int, int], Markup]:
    """Return the highlighted lines by hunk and position, as many as fit into the budget."""
    html: dict[tuple[int, int], Markup] = {}
    rows = (((hunk, index), lines[row]) for side, lines in colours if lines for hunk, index, row in side.places)
    for (hunk, index), line in sorted(rows):
        budget -= len(line) - len(escape(hunks[hunk].lines[index].text))
        if budget < 0:
            break
        html[hunk, index] = line
    return html


def highlighted_hunks(hunks: Sequence[Hunk], html: Mapping[tuple[int, int], Markup]) -> list[HighlightedHunk]:
    """Return hunks with their lines as HTML, with the changed parts marked."""
    return [
        HighlightedHunk(
            hunk.old_start,
            hunk.new_start,
            hunk.heading,
            mark_changes(
                [(line, html.get((at, index)) or escape(line.text)) for index, line in enumerate(hunk.lines)]
            ),
        )
        for at, hunk in enumerate(hunks)
    ]
