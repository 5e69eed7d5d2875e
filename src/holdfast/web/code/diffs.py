"""Diffs on pages: a limited number of lines, and links to the rest."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, urlencode

import msgspec
from markupsafe import escape

from holdfast.hosting.file_responses.blobs import blob_media_type
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.patches import DiffLine, FileDiff, Hunk, TreeDiff, hunks_of
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import DIRECTORY, SUBMODULE
from holdfast.hosting.renderer.render_process import CACHE
from holdfast.web.code.diff_colors import PER_CACHED_LINE, HighlightedHunk, PlainPatch, highlight_patches

__all__ = ["DiffQuery", "DiffShown", "PatchShown", "diff_shown"]

MOST_FILES: Final = 60
MOST_NAMED: Final = 150
LINES_PER_FILE: Final = 400
LINES_ALONE: Final = 2500
# The size limit of the HTML of lines on one page.
MOST_HTML: Final = 80_000
PER_LINE: Final = 95
PER_FILE: Final = 900
# Context lines around changes: by default, expanded, and the whole file.
CONTEXT: Final = 3
WIDER: Final = 25
MOST_CONTEXT: Final = 100_000
LONGEST_LINE: Final = 10_000
CUT: Final = " … cut here"
WORDS: Final = {
    "added": "New",
    "removed": "Deleted",
    "modified": "Changed",
    "renamed": "Renamed",
    "copied": "Copied",
}


@dataclass(frozen=True, slots=True)
class PatchShown:
    """One file of a diff: its hunks, or why there are none, and the URL of its own diff."""

    number: int
    file: FileDiff
    word: str
    name: str
    old_name: str
    hunks: list[HighlightedHunk]
    remark: str
    alone: str
    """The URL of the full diff of this file, if it is truncated here."""
    rest: str
    """The URL of the following lines, if the file is shown alone."""
    more_context: str
    """The URL of the diff of this file with more context lines."""
    view: str
    old_image: str
    new_image: str


@dataclass(frozen=True, slots=True)
class DiffShown:
    """A page of a diff: the files from `first` on, as many as fit."""

    patches: list[PatchShown]
    named: list[tuple[str, str, FileDiff]]
    total: int
    first: int
    additions: int
    deletions: int
    only: str = ""
    before: str = ""
    """The URL of the previous page."""
    after: str = ""
    """The URL of the next page."""
    is_split: bool = False
    """Whether the diff is shown side by side (split view)."""
    unified: str = ""
    split: str = ""
    all_files: str = ""

    @property
    def last(self) -> int:
        """The number of the last file shown."""
        return self.first + len(self.patches) - 1


class DiffQuery(msgspec.Struct, frozen=True):
    """The requested part of a diff: from a file on, or one file from a line on."""

    file: str = ""
    first: str = ""
    skip: str = ""
    view: str = ""
    """`split` shows the diff side by side."""
    context: str = ""
    """The number of context lines around changes."""


def image_at(repo: Repo, root: str, commit: str, mode: int, object_id: str, path: bytes) -> str:  # noqa: PLR0917  # all of them are needed
    """Return the URL of one side of an image file; empty for other files."""
    if mode in {0, SUBMODULE, DIRECTORY} or not commit:
        return ""
    is_picture = blob_media_type(repo.folder, object_id).startswith("image/")
    return f"{root}/raw/commit/{commit}/{quote(path)}" if is_picture else ""


def number(text: str, least: int) -> int:
    """Parse a number of a query string; `least` if it is invalid or smaller."""
    return max(least, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else least


def diff_shown(
    repo: Repo, root: str, tree_diff: TreeDiff, query: DiffQuery, *, old: str, new: str, whole: str
) -> DiffShown:
    """Return a page of the diff between two commits; `whole` is the URL of its first page."""
    is_split = query.view == "split"
    context = min(number(query.context, CONTEXT), MOST_CONTEXT)

    def address(*, in_view: bool | None = None, **wanted: str | int) -> str:
        if is_split if in_view is None else in_view:
            wanted["view"] = "split"
        return f"{whole}?{urlencode(wanted)}" if wanted else whole

    only = query.file
    here: dict[str, str | int] = {
        name: value for name, value in (("file", only), ("first", query.first), ("skip", query.skip)) if value
    }
    if context != CONTEXT:
        here["context"] = context
    file_diffs = [file for file in tree_diff.files if not only or file.path == only]
    first = min(number(query.first, 1), max(1, len(file_diffs)))
    skip = number(query.skip, 0) if only else 0
    budget = MOST_HTML
    patches: list[PatchShown] = []
    plain: list[PlainPatch] = []
    for position, file in enumerate(file_diffs[first - 1 : first - 1 + MOST_FILES], first):
        if budget <= 0:
            break
        patch, hunks = patch_shown(
            repo,
            root,
            file,
            position,
            old=old,
            new=new,
            budget=budget,
            skip=skip,
            address=address,
            is_alone=bool(only),
            context=context,
        )
        budget -= PER_FILE + sum(cost(line) for hunk in hunks for line in hunk.lines)
        patches.append(patch)
        plain.append(PlainPatch(file, hunks, (skip, context)))
    highlighted = highlight_patches(repo, plain)
    patches = [replace(patch, hunks=hunks) for patch, hunks in zip(patches, highlighted, strict=True)]
    end = first + len(patches)
    named = [
        (f"#file-{position}" if position < end else address(file=file.path), file.path, file)
        for position, file in enumerate(file_diffs[first - 1 : first - 1 + MOST_NAMED], first)
    ]
    return DiffShown(
        patches,
        named,
        len(file_diffs),
        first,
        tree_diff.additions,
        tree_diff.deletions,
        only,
        before="" if first == 1 else address() if first <= MOST_FILES + 1 else address(first=first - MOST_FILES),
        after=address(first=end) if end <= len(file_diffs) else "",
        is_split=is_split,
        unified=address(in_view=False, **here),
        split=address(in_view=True, **here),
        all_files=address(),
    )


def cost(line: DiffLine) -> int:
    """Return the estimated size of a line as HTML."""
    return PER_LINE + len(escape(line.text))


def patch_shown(
    repo: Repo,
    root: str,
    file: FileDiff,
    number: int,
    *,
    old: str,
    new: str,
    budget: int,
    skip: int,
    address: Callable[..., str],
    is_alone: bool,
    context: int,
) -> tuple[PatchShown, list[Hunk]]:
    """Return one file of a diff as the page shows it, but for its hunks, which are highlighted later."""
    hunks: list[Hunk] = []
    remark = link = rest = more_context = old_image = new_image = ""
    if file.is_binary:
        old_image = image_at(repo, root, old, file.old_mode, file.old_id, file.old_path)
        new_image = image_at(repo, root, new, file.new_mode, file.new_id, file.new_path)
        remark = "" if old_image or new_image else "This file is not text."
    elif not file.additions and not file.deletions:
        remark = describe_unchanged_lines(file)
    else:
        most = LINES_ALONE if is_alone else LINES_PER_FILE
        result = cached_hunks(repo, file, most=most, skip=skip, context=context)
        if result is None:
            remark = "This file is too large to be compared here."
        else:
            hunks, more = truncate_hunks(*result, budget=budget)
            around: dict[str, str | int] = {} if context == CONTEXT else {"context": context}
            if more and is_alone:
                rest = address(file=file.path, skip=skip + sum(len(hunk.lines) for hunk in hunks), **around)
            elif more:
                remark = "There is more, but it is too long to be shown here."
                link = address(file=file.path)
            # A new or deleted file has no context lines.
            if context < MOST_CONTEXT and file.old_mode and file.new_mode:
                more_context = address(file=file.path, context=WIDER if context < WIDER else MOST_CONTEXT)
    view = "" if file.status == "removed" or not new else f"{root}/src/commit/{new}/{quote(file.new_path)}"
    old_name = display_name(file.old_path) if file.old_path != file.new_path else ""
    shown = PatchShown(
        number,
        file,
        WORDS[file.status],
        file.path,
        old_name,
        [],
        remark,
        link,
        rest,
        more_context,
        view if file.new_mode != SUBMODULE else "",
        old_image,
        new_image,
    )
    return shown, hunks


def cached_hunks(
    repo: Repo, file: FileDiff, *, most: int, skip: int, context: int
) -> tuple[list[Hunk], bool] | None:
    """Return the hunks of a file, cached by the ids of both contents: those of a long file are slow to compute."""
    key = ("hunks", file.old_mode, file.old_id, file.new_mode, file.new_id, most, skip, context)
    result: tuple[list[Hunk], bool] | None = CACHE.get(key)
    if result is None:
        result = hunks_of(repo, file, most=most, skip=skip, context=context)
        if result is not None:
            CACHE.put(
                key, result, sum(PER_CACHED_LINE + len(line.text) for hunk in result[0] for line in hunk.lines)
            )
    return result


def truncate_hunks(hunks: list[Hunk], more: bool, *, budget: int) -> tuple[list[Hunk], bool]:  # noqa: FBT001  # what the caller unpacks
    """Truncate hunks and long lines to the size limit of a page."""
    fitted: list[Hunk] = []
    for hunk in hunks:
        lines: list[DiffLine] = []
        for diff_line in hunk.lines:
            is_long = len(diff_line.text) > LONGEST_LINE
            line = replace(diff_line, text=diff_line.text[:LONGEST_LINE] + CUT) if is_long else diff_line
            budget -= cost(line)
            # The first line is shown whatever its length, so that every next page makes progress.
            if budget < 0 and (fitted or lines):
                break
            lines.append(line)
        if lines:
            fitted.append(Hunk(hunk.old_start, hunk.new_start, hunk.heading, tuple(lines)))
        if budget < 0:
            return fitted, True
    return fitted, more


def describe_unchanged_lines(file: FileDiff) -> str:
    """Describe the change of a file whose lines are unchanged."""
    if file.status == "renamed":
        return "Only the name changed."
    if file.old_mode and file.new_mode and file.old_mode != file.new_mode:
        return f"Only the mode changed, from {file.old_mode:o} to {file.new_mode:o}."
    return "This file is empty."
