"""Diffs for display: files with renames, and hunks with line numbers.

git lists the changed files with renames and line counts once; hunks are computed here, only for the files that are
shown.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import pygit2

from holdfast.hosting.errors import GitDamaged
from holdfast.hosting.git.changes import EMPTY_TREE
from holdfast.hosting.git.command_output import DIFF_MEMORY, git_output
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import SUBMODULE, read_blob

__all__ = ["DiffLine", "FileDiff", "Hunk", "Sign", "TreeDiff", "diff_trees", "hunks_between", "hunks_of"]

Status = Literal["added", "removed", "modified", "renamed", "copied"]
Sign = Literal[" ", "+", "-", "\\"]

# Larger files are not compared line by line, as that would block the page.
LARGEST: Final = 2**20
KEPT: Final = 64
HEADER: Final = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*")
STATUSES: Final[dict[bytes, Status]] = {b"A": "added", b"D": "removed", b"R": "renamed", b"C": "copied"}
NOTHING: Final = b"0"
Whitespace = Literal["show-all", "ignore-all", "ignore-change", "ignore-eol"]
"""How changes of white space are compared."""
WHITESPACE: Final[dict[Whitespace, tuple[str, ...]]] = {
    "show-all": (),
    "ignore-all": ("-w",),
    "ignore-change": ("-b",),
    "ignore-eol": ("--ignore-space-at-eol",),
}


@dataclass(frozen=True, slots=True)
class FileDiff:
    """A changed file; an id of zeros means that the file does not exist on that side."""

    status: Status
    old_path: bytes
    new_path: bytes
    old_mode: int
    new_mode: int
    old_id: str
    new_id: str
    additions: int = 0
    deletions: int = 0
    is_binary: bool = False

    @property
    def path(self) -> str:
        """The new path, or the old one of a deleted file, decoded."""
        return display_name(self.new_path)


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """The changed files, and the added and deleted lines."""

    files: tuple[FileDiff, ...]
    additions: int
    deletions: int


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a hunk: context, added, deleted, or a marker of git, with its numbers on both sides."""

    sign: Sign
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Hunk:
    """A hunk; `heading` is git's function context."""

    old_start: int
    new_start: int
    heading: str
    lines: tuple[DiffLine, ...]


def diff_trees(repo: Repo, old: str | None, new: str | None, *, whitespace: Whitespace = "show-all") -> TreeDiff:
    """Return the changed files between two trees; None is the empty tree. Cached, as it never changes."""
    return run_diff(repo.folder, old or EMPTY_TREE, new or EMPTY_TREE, WHITESPACE[whitespace])


@lru_cache(maxsize=KEPT)
def run_diff(folder: Path, old: str, new: str, options: tuple[str, ...] = ()) -> TreeDiff:
    """Run `git diff-tree` with rename detection and line counts."""
    how = ("-r", "-M", "--raw", "--numstat", "-z", "--no-abbrev", "--no-ext-diff", "--no-textconv")
    output = git_output(folder, "diff-tree", *how, *options, old, new, memory=DIFF_MEMORY)
    tokens = iter(output.split(b"\0"))
    files: list[FileDiff] = []
    counts: dict[bytes, tuple[int, int, bool]] = {}
    for token in tokens:
        header = HEADER.fullmatch(token)
        if header is not None:
            files.append(parse_file(header, tokens))
        elif token:
            path, count = parse_count(token, tokens)
            counts[path] = count
    counted = tuple(with_count(file, *counts.get(file.new_path, (0, 0, False))) for file in files)
    return TreeDiff(counted, sum(file.additions for file in counted), sum(file.deletions for file in counted))


def parse_file(header: re.Match[bytes], tokens: Iterator[bytes]) -> FileDiff:
    """Parse the entry of one file."""
    status = STATUSES.get(header[5], "modified")
    old_path = next(tokens)
    new_path = next(tokens) if status in {"renamed", "copied"} else old_path
    old_mode, new_mode = int(header[1], 8), int(header[2], 8)
    return FileDiff(status, old_path, new_path, old_mode, new_mode, header[3].decode(), header[4].decode())


def parse_count(token: bytes, tokens: Iterator[bytes]) -> tuple[bytes, tuple[int, int, bool]]:
    """Parse a line count and its path; a renamed file has two."""
    additions, deletions, path = token.split(b"\t", 2)
    if not path:
        next(tokens)
        path = next(tokens)
    if additions == b"-":
        return path, (0, 0, True)
    return path, (int(additions), int(deletions), False)


def with_count(file: FileDiff, additions: int, deletions: int, is_binary: bool) -> FileDiff:  # noqa: FBT001  # unpacked by the caller
    """Return a file with its line counts."""
    return FileDiff(
        file.status,
        file.old_path,
        file.new_path,
        file.old_mode,
        file.new_mode,
        file.old_id,
        file.new_id,
        additions,
        deletions,
        is_binary,
    )


def read_side(repo: Repo, mode: int, object_id: str) -> bytes | None:
    """Return one side of a file; None if it is too large to compare."""
    if mode == 0:
        return b""
    if mode == SUBMODULE:
        return f"Subproject commit {object_id}\n".encode()
    header = repo.header(object_id)
    if header is None or header[1] > LARGEST:
        return None
    return read_blob(repo, object_id)


def hunks_of(
    repo: Repo, file: FileDiff, *, most: int, skip: int = 0, context: int = 3
) -> tuple[list[Hunk], bool] | None:
    """Return the hunks of a file up to `most` lines, and whether there are more; None if it is too large.

    `skip` leaves out that many lines at the beginning; `context` is the number of unchanged lines around changes.
    """
    old, new = read_side(repo, file.old_mode, file.old_id), read_side(repo, file.new_mode, file.new_id)
    if old is None or new is None:
        return None
    return hunks_between(old, new, most=most, skip=skip, context=context)


def hunks_between(
    old: bytes, new: bytes, *, most: int, skip: int = 0, context: int = 3
) -> tuple[list[Hunk], bool]:
    """Compare two texts; return the hunks up to `most` lines, and whether there are more."""
    try:
        patch = pygit2.Patch.create_from(old, new, context_lines=context)
    except pygit2.GitError as error:
        raise GitDamaged("two files cannot be compared") from error
    hunks: list[Hunk] = []
    remaining = most
    for hunk in patch.hunks:
        if remaining <= 0:
            return hunks, True
        left = hunk.lines[skip:]
        skip = max(0, skip - len(hunk.lines))
        lines = [parse_line(line) for line in left[:remaining]]
        remaining -= len(lines)
        if lines:
            hunks.append(Hunk(hunk.old_start, hunk.new_start, parse_heading(hunk.header), tuple(lines)))
        if len(lines) < len(left):
            return hunks, True
    return hunks, False


def parse_heading(header: str) -> str:
    """Return the text after the line numbers of a hunk header."""
    return header.rpartition("@@")[2].strip()


def parse_line(line: "pygit2.DiffLine") -> DiffLine:
    """Parse a line; markers of git have no number."""
    text = display_name(line.raw_content).rstrip("\r\n")
    if line.origin in "=<>":
        return DiffLine("\\", None, None, "No newline at the end of the file")
    sign: Sign = "+" if line.origin == "+" else "-" if line.origin == "-" else " "
    old = line.old_lineno if line.old_lineno > 0 else None
    new = line.new_lineno if line.new_lineno > 0 else None
    return DiffLine(sign, old, new, text)
