"""What differs between two trees: which files, how many lines, and the text of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.names import shown
from holdfast.hosting.git.output import answer, chunks
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import DIRECTORY, MOST_ENTRIES, children

__all__ = [
    "Change",
    "Changes",
    "LineCount",
    "Stats",
    "Status",
    "changed_files",
    "changes_between",
    "diff_text",
    "patch_text",
    "stats",
    "stats_between",
]

Status = Literal["added", "removed", "modified"]
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NOTHING: Final = (0, "")
PLAIN: Final = ("--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "-M")


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not the same on both sides; a mode of 0 is one that is not there."""

    raw_path: bytes
    status: Status
    old_mode: int
    new_mode: int
    old_id: str
    new_id: str

    @property
    def path(self) -> str:
        """The path as people see it."""
        return shown(self.raw_path)


@dataclass(frozen=True, slots=True)
class Changes:
    """Changed files by path; `truncated` when there are more than anybody would look at."""

    files: tuple[Change, ...]
    truncated: bool = False

    def paths(self, status: Status) -> list[str]:
        """Return the paths of one status."""
        return [change.path for change in self.files if change.status == status]


@dataclass(frozen=True, slots=True)
class LineCount:
    """How many lines came and went in a file; binary files have no lines."""

    raw_path: bytes
    additions: int
    deletions: int
    binary: bool


@dataclass(frozen=True, slots=True)
class Stats:
    """How many lines came and went, in all and by file."""

    additions: int
    deletions: int
    files: tuple[LineCount, ...]

    @property
    def total(self) -> int:
        """How many lines are not the same."""
        return self.additions + self.deletions


def changed_files(repo: Repo, commit: Commit) -> Changes:
    """Return what a commit changed against its first parent; everything, if it has none."""
    return changes_between(repo, parent_tree(repo, commit), commit.tree)


def parent_tree(repo: Repo, commit: Commit) -> str | None:
    """Return the tree a commit is compared with."""
    return read_commit(repo, commit.parents[0]).tree if commit.parents else None


def changes_between(repo: Repo, old: str | None, new: str | None) -> Changes:
    """Return which files differ between two trees, without looking for renames; no tree is an empty one."""
    steps = list(islice(compared(repo, old, new), MOST_ENTRIES + 1))
    found = [step for step in steps[:MOST_ENTRIES] if step is not None]
    return Changes(tuple(sorted(found, key=lambda change: change.raw_path)), len(steps) > MOST_ENTRIES)


def compared(repo: Repo, old: str | None, new: str | None) -> Iterator[Change | None]:
    """Go through two trees side by side, entering only directories that differ.

    A directory is a step without a change: whoever counts the steps is safe from a tree that holds itself many
    times over.
    """
    left_to_do = [(old, new, b"")]
    while left_to_do:
        left_tree, right_tree, prefix = left_to_do.pop()
        if left_tree == right_tree:
            continue
        yield None
        before = nodes(repo, left_tree)
        after = nodes(repo, right_tree)
        for name in before.keys() | after.keys():
            left, right = before.get(name, NOTHING), after.get(name, NOTHING)
            if left == right:
                continue
            path = prefix + name
            below = [at if mode == DIRECTORY else None for mode, at in (left, right)]
            if any(below):
                left_to_do.append((below[0], below[1], path + b"/"))
            # A file in the place of a directory is one that comes or goes, beside all that was below.
            before_mode, before_id = NOTHING if below[0] else left
            after_mode, after_id = NOTHING if below[1] else right
            if before_mode or after_mode:
                status: Status = "added" if not before_mode else "modified" if after_mode else "removed"
                yield Change(path, status, before_mode, after_mode, before_id, after_id)


def nodes(repo: Repo, tree: str | None) -> dict[bytes, tuple[int, str]]:
    """Return a tree's entries by name; no tree has none."""
    return {} if tree is None else {name: (mode, at) for mode, name, at in children(repo, tree)}


def stats(repo: Repo, commit: Commit) -> Stats:
    """Return how many lines a commit changed against its first parent."""
    return stats_between(repo, parent_tree(repo, commit), commit.tree)


def stats_between(repo: Repo, old: str | None, new: str | None) -> Stats:
    """Return how many lines differ between two trees; the answer never changes, so it is kept."""
    return counted(repo.folder, old or EMPTY_TREE, new or EMPTY_TREE)


@lru_cache(maxsize=1024)
def counted(folder: Path, old: str, new: str) -> Stats:
    """Let git count the lines: it takes long for large files, and must not hold up this process."""
    told = answer(folder, "diff-tree", "--numstat", "-z", "-r", "--no-renames", old, new)
    files = tuple(parse_count(line) for line in told.split(b"\0")[:-1])
    return Stats(sum(file.additions for file in files), sum(file.deletions for file in files), files)


def parse_count(line: bytes) -> LineCount:
    """Read a line of `--numstat`."""
    additions, deletions, path = line.split(b"\t", 2)
    if additions == b"-":
        return LineCount(path, 0, 0, True)
    return LineCount(path, int(additions), int(deletions), False)


def diff_text(repo: Repo, old: str | None, new: str | None) -> Iterator[bytes]:
    """Return the difference between two trees as `git diff` shows it, piece by piece."""
    return chunks(repo.folder, "diff-tree", "-p", "-r", *PLAIN, old or EMPTY_TREE, new or EMPTY_TREE)


def patch_text(repo: Repo, commit: Commit) -> Iterator[bytes]:
    """Return a commit as a mail that `git am` takes; a merge shows what it brought to its first parent."""
    if len(commit.parents) < 2:
        return chunks(repo.folder, "format-patch", "--stdout", "-1", "--root", *PLAIN, commit.id)
    shape = ("--pretty=email", "--stat", "-p", "-m", "--first-parent")
    return chunks(repo.folder, "log", "-1", *shape, *PLAIN, commit.id)
