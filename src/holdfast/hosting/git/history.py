"""Commit history: `git rev-list` and `git merge-base`, with the commit-graph.

With the graph's changed-path filters git is quicker than the library by ten times and more, and it holds up nobody
else in this process. An answer for given commits never changes, so answers are kept.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.command_output import git_output
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.encoding import argument, raw
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import LONGEST_PATH

__all__ = [
    "CommitRange",
    "ahead_behind",
    "commit_ids",
    "commit_range",
    "commits",
    "count",
    "last_commit",
    "linear_commits",
    "merge_base",
    "new_commits",
    "only_on_branch",
    "refresh_commit_graph",
]

GRAPH_SECONDS: Final = 600.0
KEPT: Final = 4096
# A line of so many commits is followed here: reading them takes less than starting git.
STRAIGHT: Final = 32


@dataclass(frozen=True, slots=True)
class CommitRange:
    """A commit range: reachable from `start` but not `exclude`, limited to a path and a time range."""

    start: str
    path: bytes = b""
    since: int | None = None
    until: int | None = None
    exclude: tuple[str, ...] = ()

    def arguments(self) -> list[str]:
        """Say it the way git takes it: ids only, so that nothing can be taken for an option."""
        said = [self.start, *(f"^{commit}" for commit in self.exclude)]
        if self.since is not None:
            said.insert(0, f"--max-age={self.since}")
        if self.until is not None:
            said.insert(0, f"--min-age={self.until}")
        return [*said, "--", *([argument(self.path)] if self.path else [])]


def commit_range(
    repo: Repo,
    start: str,
    *,
    path: str | bytes = b"",
    since: int | None = None,
    until: int | None = None,
    exclude: Iterable[str] = (),
) -> CommitRange:
    """Describe part of a history; the commits it names must be there."""
    without = tuple(exclude)
    for commit in (start, *without):
        repo.require(commit, "commit")
    # Nobody looks before 1970; git would take a negative number for something else.
    times = [None if time is None else max(time, 0) for time in (since, until)]
    return CommitRange(start, raw(path).strip(b"/"), times[0], times[1], without)


def commit_ids(repo: Repo, wanted: CommitRange, *, skip: int = 0, limit: int | None = None) -> tuple[str, ...]:
    """Return the commits of a span, newest first."""
    if cannot_match(wanted):
        return ()
    return list_ids(repo.folder, wanted, skip, -1 if limit is None else limit)


def commits(repo: Repo, wanted: CommitRange, *, skip: int = 0, limit: int | None = None) -> list[Commit]:
    """Return the commits of a span with all they say, newest first."""
    return [read_commit(repo, commit) for commit in commit_ids(repo, wanted, skip=skip, limit=limit)]


def count(repo: Repo, wanted: CommitRange) -> int:
    """Return how many commits a span has."""
    return 0 if cannot_match(wanted) else count_range(repo.folder, wanted)


def cannot_match(wanted: CommitRange) -> bool:
    """Tell whether nothing can lie at a span's path, so that git need not be asked with it."""
    if not wanted.path:
        return False
    # git would take these for a way through folders, out of the repository even.
    steps = not {b"", b".", b".."}.isdisjoint(wanted.path.split(b"/"))
    return steps or b"\0" in wanted.path or len(wanted.path) > LONGEST_PATH


@lru_cache(maxsize=KEPT)
def list_ids(folder: Path, wanted: CommitRange, skip: int, limit: int) -> tuple[str, ...]:
    """List a stretch of a span."""
    told = git_output(folder, "rev-list", f"--skip={skip}", f"--max-count={limit}", *wanted.arguments())
    return tuple(told.decode().split())


@lru_cache(maxsize=KEPT)
def count_range(folder: Path, wanted: CommitRange) -> int:
    """Count a span."""
    plain = not wanted.path and wanted.since is None and wanted.until is None
    quick = ["--use-bitmap-index"] if plain else []
    return int(git_output(folder, "rev-list", "--count", *quick, *wanted.arguments()))


def last_commit(repo: Repo, start: str, path: str | bytes) -> str | None:
    """Return the newest commit that touched a path."""
    found = commit_ids(repo, commit_range(repo, start, path=path), limit=1)
    return found[0] if found else None


def only_on_branch(repo: Repo, branch: str | bytes, start: str, *, limit: int) -> tuple[str, ...]:
    """Return the newest commits that lead to a commit and to no branch but one, as things are now."""
    repo.require(start, "commit")
    # No name of a branch has a letter that a pattern would take for more than itself.
    but_one = (f"--exclude={argument(raw(branch))}", "--branches")
    told = git_output(repo.folder, "rev-list", f"--max-count={limit}", start, "--not", *but_one, "--")
    return tuple(told.decode().split())


def new_commits(repo: Repo, old: str, new: str, *, limit: int) -> tuple[str, ...]:
    """Return the newest commits that lead to one commit but not to another, newest first."""
    line = linear_commits(repo, old, new)
    if line is not None:
        return line[:limit]
    return commit_ids(repo, commit_range(repo, new, exclude=[old]), limit=limit)


def linear_commits(repo: Repo, old: str, new: str) -> tuple[str, ...] | None:
    """Return the commits from one to a later one, newest first, if they are a short line without merges."""
    line: list[str] = []
    at = new
    while at != old and len(line) < STRAIGHT:
        line.append(at)
        parents = read_commit(repo, at).parents
        if len(parents) != 1:
            break
        at = parents[0]
    return tuple(line) if at == old else None


def ahead_behind(repo: Repo, one: str, other: str) -> tuple[int, int]:
    """Return how many commits lead to one but not to the other, and the other way round."""
    repo.require(one, "commit")
    repo.require(other, "commit")
    return count_ahead_behind(repo.folder, one, other)


@lru_cache(maxsize=KEPT)
def count_ahead_behind(folder: Path, one: str, other: str) -> tuple[int, int]:
    """Count both sides of two commits."""
    left, right = git_output(folder, "rev-list", "--left-right", "--count", f"{one}...{other}", "--").split()
    return int(left), int(right)


def merge_base(repo: Repo, one: str, other: str) -> str | None:
    """Return the commit two histories parted at; nothing when they have none in common."""
    repo.require(one, "commit")
    repo.require(other, "commit")
    return find_merge_base(repo.folder, one, other)


@lru_cache(maxsize=KEPT)
def find_merge_base(folder: Path, one: str, other: str) -> str | None:
    """Find the best commit that leads to both."""
    try:
        return run(folder, "merge-base", one, other).decode().strip()
    except GitTimedOut:
        raise
    except GitFailed as error:
        if error.code == 1:
            return None
        raise


def refresh_commit_graph(folder: Path) -> None:
    """Bring the commit-graph up to date, with the filters that say which commits touched a path.

    Adding to a graph that was written without filters, as `git gc` does, would leave them out for good.
    """
    chain = folder / "objects" / "info" / "commit-graphs" / "commit-graph-chain"
    how = "--split" if chain.exists() else "--split=replace"
    run(
        folder,
        "commit-graph",
        "write",
        "--reachable",
        "--changed-paths",
        how,
        "--no-progress",
        timeout=GRAPH_SECONDS,
    )
