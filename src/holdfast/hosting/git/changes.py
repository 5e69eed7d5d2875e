"""Diffs of two trees: changed files, line counts, and the patch text."""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from operator import itemgetter
from pathlib import Path
from typing import Final, Literal

from holdfast.hosting.git import stats_cache
from holdfast.hosting.git.command_output import DIFF_MEMORY, git_output, stream_output
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import display_name
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.stats_cache import Pair
from holdfast.hosting.git.trees import DIRECTORY, MOST_ENTRIES, children

__all__ = [
    "DiffStats",
    "Status",
    "TreeChange",
    "TreeChanges",
    "changed_files",
    "changes_between",
    "diff_text",
    "patch_text",
    "patches_text",
    "stats",
    "stats_between",
    "stats_of",
]

Status = Literal["added", "removed", "modified"]
KEPT: Final = 8192
COUNTING: Final = 16
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
NOTHING: Final = (0, "")
IDLE_SECONDS: Final = 60.0
SHORTSTAT: Final = re.compile(r"([0-9]+) (files?|insertions?|deletions?)")
PLAIN: Final = ("--no-color", "--no-ext-diff", "--no-textconv", "--src-prefix=a/", "--dst-prefix=b/", "-M")


@dataclass(frozen=True, slots=True)
class TreeChange:
    """A changed file; a mode of 0 means that the file does not exist on that side."""

    raw_path: bytes
    status: Status
    old_mode: int
    new_mode: int
    old_id: str
    new_id: str

    @property
    def path(self) -> str:
        """The path, decoded."""
        return display_name(self.raw_path)


@dataclass(frozen=True, slots=True)
class TreeChanges:
    """Changed files by path; `truncated` if the limit was reached."""

    files: tuple[TreeChange, ...]
    truncated: bool = False

    def paths(self, status: Status) -> list[str]:
        """Return the paths with a status."""
        return [change.path for change in self.files if change.status == status]


@dataclass(frozen=True, slots=True)
class DiffStats:
    """Added and deleted lines and changed files; binary files have no lines."""

    additions: int = 0
    deletions: int = 0
    changed_files: int = 0

    @property
    def total(self) -> int:
        """The number of changed lines."""
        return self.additions + self.deletions


def changed_files(repo: Repo, commit: Commit, *, most: int = MOST_ENTRIES) -> TreeChanges:
    """Return the changes of a commit against its first parent, or against the empty tree."""
    return changes_between(repo, parent_tree(repo, commit), commit.tree, most=most)


def parent_tree(repo: Repo, commit: Commit) -> str | None:
    """Return the tree of a commit's first parent."""
    return read_commit(repo, commit.parents[0]).tree if commit.parents else None


def changes_between(repo: Repo, old: str | None, new: str | None, *, most: int = MOST_ENTRIES) -> TreeChanges:
    """Return the changed files between two trees, without rename detection; None is the empty tree.

    Beyond `most`, only the first by path are returned and the rest is not read.
    """
    tree_changes: list[TreeChange] = []
    for count, step in enumerate(compare_trees(repo, old, new)):
        if count == MOST_ENTRIES or (step is not None and len(tree_changes) == most):
            return TreeChanges(tuple(tree_changes), truncated=True)
        if step is not None:
            tree_changes.append(step)
    return TreeChanges(tuple(tree_changes))


def compare_trees(repo: Repo, old: str | None, new: str | None) -> Iterator[TreeChange | None]:
    """Walk two trees side by side in path order, entering only directories that differ.

    A directory is a step without a change: counting steps bounds the cost of a tree that contains itself many
    times.
    """
    left_to_do: list[TreeChange | tuple[bytes, str | None, str | None]] = [(b"", old, new)]
    while left_to_do:
        step = left_to_do.pop()
        if isinstance(step, TreeChange):
            yield step
            continue
        prefix, left_tree, right_tree = step
        if left_tree == right_tree:
            continue
        yield None
        left_to_do += differing_entries(repo, prefix, left_tree, right_tree)


def differing_entries(
    repo: Repo, prefix: bytes, left_tree: str | None, right_tree: str | None
) -> list[TreeChange | tuple[bytes, str | None, str | None]]:
    """Return the entries that differ between two directories, in reverse order."""
    before = entries_by_name(repo, left_tree)
    after = entries_by_name(repo, right_tree)
    differences: list[tuple[bytes, TreeChange | tuple[bytes, str | None, str | None]]] = []
    for name in before.keys() | after.keys():
        left, right = before.get(name, NOTHING), after.get(name, NOTHING)
        if left == right:
            continue
        path = prefix + name
        below = [at if mode == DIRECTORY else None for mode, at in (left, right)]
        if any(below):
            # git sorts a directory as if its name ended with a slash.
            differences.append((path + b"/", (path + b"/", below[0], below[1])))
        # A file that replaces a directory is an addition, besides the deletions below it.
        before_mode, before_id = NOTHING if below[0] else left
        after_mode, after_id = NOTHING if below[1] else right
        if before_mode or after_mode:
            status: Status = "added" if not before_mode else "modified" if after_mode else "removed"
            differences.append((path, TreeChange(path, status, before_mode, after_mode, before_id, after_id)))
    return [step for _, step in sorted(differences, key=itemgetter(0), reverse=True)]


def entries_by_name(repo: Repo, tree: str | None) -> dict[bytes, tuple[int, str]]:
    """Return a tree's entries by name; None is the empty tree."""
    return {} if tree is None else {name: (mode, at) for mode, name, at in children(repo, tree)}


def stats(repo: Repo, commit: Commit) -> DiffStats:
    """Return the line counts of a commit against its first parent."""
    return stats_between(repo, parent_tree(repo, commit), commit.tree)


def stats_between(repo: Repo, old: str | None, new: str | None) -> DiffStats:
    """Return the line counts between two trees; cached, as they never change."""
    pair = (old or EMPTY_TREE, new or EMPTY_TREE)
    return kept.of(repo.folder, {pair})[pair]


def stats_of(repo: Repo, commits: Iterable[Commit]) -> dict[str, DiffStats]:
    """Return the line counts of commits against their first parents, by commit id."""
    pairs = {commit.id: (parent_tree(repo, commit) or EMPTY_TREE, commit.tree) for commit in commits}
    stats_by_pair = kept.of(repo.folder, set(pairs.values()))
    return {commit: stats_by_pair[pair] for commit, pair in pairs.items()}


class DiffStatsCache:
    """An LRU cache of line counts between two trees, backed by a file in the repository's folder."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        # Counting a large commit takes seconds: of concurrent requests for it, one counts.
        self._counting = tuple(threading.Lock() for _ in range(COUNTING))
        self._kept: OrderedDict[tuple[Path, Pair], DiffStats] = OrderedDict()

    def of(self, folder: Path, pairs: set[Pair]) -> dict[Pair, DiffStats]:
        """Return the line counts of pairs of trees; missing ones are counted in one process."""
        stats_by_pair = self._known(folder, pairs)
        if pairs - stats_by_pair.keys():
            with self._counting[hash(folder) % COUNTING]:
                stats_by_pair |= self._known(folder, pairs - stats_by_pair.keys())
                missing = pairs - stats_by_pair.keys()
                if missing:
                    stats_by_pair |= self._count(folder, missing)
        return stats_by_pair

    def _known(self, folder: Path, pairs: set[Pair]) -> dict[Pair, DiffStats]:
        stats_by_pair: dict[Pair, DiffStats] = {}
        with self._lock:
            for pair in pairs:
                diff_stats = self._kept.get((folder, pair))
                if diff_stats is not None:
                    self._kept.move_to_end((folder, pair))
                    stats_by_pair[pair] = diff_stats
        return stats_by_pair

    def _count(self, folder: Path, pairs: set[Pair]) -> dict[Pair, DiffStats]:
        stats_by_pair = {pair: DiffStats(*counts) for pair, counts in stats_cache.load(folder, pairs).items()}
        missing = pairs - stats_by_pair.keys()
        if missing:
            counted = count_lines(folder, missing)
            stats_by_pair |= counted
            stats_cache.save(folder, {pair: astuple(stats) for pair, stats in counted.items()})
        with self._lock:
            self._kept.update({(folder, pair): stats for pair, stats in stats_by_pair.items()})
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return stats_by_pair


def count_lines(folder: Path, pairs: set[Pair]) -> dict[Pair, DiffStats]:
    """Count lines with one git process for all pairs of trees."""
    lines = "".join(f"{old} {new}\n" for old, new in sorted(pairs))
    how = ("--stdin", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--shortstat")
    stats_by_pair = dict.fromkeys(pairs, DiffStats())
    pair = ("", "")
    output = git_output(folder, "diff-tree", *how, input=lines.encode(), memory=DIFF_MEMORY)
    for line in output.decode().splitlines():
        old, _, new = line.partition(" ")
        if (old, new) in stats_by_pair:
            pair = (old, new)
        elif line.strip():
            counts = {unit[:3]: int(number) for number, unit in SHORTSTAT.findall(line)}
            stats_by_pair[pair] = DiffStats(counts.get("ins", 0), counts.get("del", 0), counts.get("fil", 0))
    return stats_by_pair


kept = DiffStatsCache(KEPT)


def stream_diff(repo: Repo, *arguments: str) -> Iterator[bytes]:
    """Yield the output of a git command that compares trees, within limits."""
    return stream_output(repo.folder, *arguments, memory=DIFF_MEMORY, idle_timeout=IDLE_SECONDS)


def diff_text(repo: Repo, old: str | None, new: str | None, *, binary: bool = False) -> Iterator[bytes]:
    """Yield the output of `git diff` between two trees; with `binary` it can be applied to binary files too."""
    options = ("-p", "-r", *PLAIN, *(("--binary",) if binary else ()))
    return stream_diff(repo, "diff-tree", *options, old or EMPTY_TREE, new or EMPTY_TREE)


def patches_text(repo: Repo, base: str, head: str, *, most: int, binary: bool = False) -> Iterator[bytes]:
    """Yield the newest commits of `head` that are not in `base` as mails for `git am`, oldest first.

    Merge commits are left out, as in `git format-patch`.
    """
    # Without `--binary`, `git format-patch` would include binary files in full.
    options = ("--stdout", f"--max-count={most}", *PLAIN, "--binary" if binary else "--no-binary")
    return stream_diff(repo, "format-patch", *options, f"{base}..{head}")


def patch_text(repo: Repo, commit: Commit) -> Iterator[bytes]:
    """Yield a commit as a mail for `git am`; a merge shows its changes against the first parent."""
    if len(commit.parents) < 2:
        return stream_diff(repo, "format-patch", "--stdout", "-1", "--root", *PLAIN, commit.id)
    options = ("--pretty=email", "--stat", "-p", "-m", "--first-parent")
    return stream_diff(repo, "log", "-1", *options, *PLAIN, commit.id)
