"""Commit history: `git rev-list` and `git merge-base`, with the commit-graph.

With changed-path filters git is ten times faster than libgit2, and runs outside of this process. Results for given
commits never change, so they are cached.
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
# git reads the number of skipped commits as a 32-bit integer, and larger ones become negative.
FARTHEST: Final = 2**31 - 1
# Up to this many commits are walked in this process, which is faster than starting git.
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
        """Return the arguments for git: only object ids, so that nothing is parsed as an option."""
        arguments = [self.start, *(f"^{commit}" for commit in self.exclude)]
        if self.since is not None:
            arguments.insert(0, f"--max-age={self.since}")
        if self.until is not None:
            arguments.insert(0, f"--min-age={self.until}")
        return [*arguments, "--", *([argument(self.path)] if self.path else [])]


def commit_range(
    repo: Repo,
    start: str,
    *,
    path: str | bytes = b"",
    since: int | None = None,
    until: int | None = None,
    exclude: Iterable[str] = (),
) -> CommitRange:
    """Return a range; its commits must exist."""
    without = tuple(exclude)
    for commit in (start, *without):
        repo.require(commit, "commit")
    # git would misinterpret negative times.
    times = [None if time is None else max(time, 0) for time in (since, until)]
    return CommitRange(start, raw(path).strip(b"/"), times[0], times[1], without)


def commit_ids(repo: Repo, span: CommitRange, *, skip: int = 0, limit: int | None = None) -> tuple[str, ...]:
    """Return the commit ids of a range, newest first."""
    if cannot_match(span):
        return ()
    return list_ids(repo.folder, span, min(skip, FARTHEST), -1 if limit is None else limit)


def commits(repo: Repo, span: CommitRange, *, skip: int = 0, limit: int | None = None) -> list[Commit]:
    """Return the commits of a range, newest first."""
    return [read_commit(repo, commit) for commit in commit_ids(repo, span, skip=skip, limit=limit)]


def count(repo: Repo, span: CommitRange) -> int:
    """Return the number of commits in a range."""
    return 0 if cannot_match(span) else count_range(repo.folder, span)


def cannot_match(span: CommitRange) -> bool:
    """Return whether no file can exist at the range's path, so that git must not be called with it."""
    if not span.path:
        return False
    # git would interpret these as relative paths, even out of the repository.
    steps = not {b"", b".", b".."}.isdisjoint(span.path.split(b"/"))
    return steps or b"\0" in span.path or len(span.path) > LONGEST_PATH


@lru_cache(maxsize=KEPT)
def list_ids(folder: Path, span: CommitRange, skip: int, limit: int) -> tuple[str, ...]:
    """List a page of a range."""
    output = git_output(folder, "rev-list", f"--skip={skip}", f"--max-count={limit}", *span.arguments())
    return tuple(output.decode().split())


@lru_cache(maxsize=KEPT)
def count_range(folder: Path, span: CommitRange) -> int:
    """Count a range."""
    plain = not span.path and span.since is None and span.until is None
    quick = ["--use-bitmap-index"] if plain else []
    return int(git_output(folder, "rev-list", "--count", *quick, *span.arguments()))


def last_commit(repo: Repo, start: str, path: str | bytes) -> str | None:
    """Return the newest commit that changed a path."""
    ids = commit_ids(repo, commit_range(repo, start, path=path), limit=1)
    return ids[0] if ids else None


def only_on_branch(repo: Repo, branch: str | bytes, start: str, *, limit: int) -> tuple[str, ...]:
    """Return the newest commits reachable from a commit and from no other branch."""
    repo.require(start, "commit")
    # Branch names contain no glob characters.
    but_one = (f"--exclude={argument(raw(branch))}", "--branches")
    output = git_output(repo.folder, "rev-list", f"--max-count={limit}", start, "--not", *but_one, "--")
    return tuple(output.decode().split())


def new_commits(repo: Repo, old: str, new: str, *, limit: int) -> tuple[str, ...]:
    """Return the newest commits reachable from `new` but not from `old`."""
    line = linear_commits(repo, old, new)
    if line is not None:
        return line[:limit]
    return commit_ids(repo, commit_range(repo, new, exclude=[old]), limit=limit)


def linear_commits(repo: Repo, old: str, new: str) -> tuple[str, ...] | None:
    """Return the commits from one to a later one, newest first, if the history between is short and linear."""
    line: list[str] = []
    at = new
    while at != old and len(line) < STRAIGHT:
        line.append(at)
        parents = read_commit(repo, at).parents
        if len(parents) != 1:
            break
        at = parents[0]
    return tuple(line) if at == old else None


def ahead_behind(repo: Repo, left: str, right: str) -> tuple[int, int]:
    """Return the numbers of commits reachable only from `left`, and only from `right`."""
    repo.require(left, "commit")
    repo.require(right, "commit")
    return count_ahead_behind(repo.folder, left, right)


@lru_cache(maxsize=KEPT)
def count_ahead_behind(folder: Path, left_id: str, right_id: str) -> tuple[int, int]:
    """Count with `git rev-list --left-right`."""
    left, right = git_output(
        folder, "rev-list", "--left-right", "--count", f"{left_id}...{right_id}", "--"
    ).split()
    return int(left), int(right)


def merge_base(repo: Repo, left: str, right: str) -> str | None:
    """Return the best common ancestor of two commits; None if there is none."""
    repo.require(left, "commit")
    repo.require(right, "commit")
    return find_merge_base(repo.folder, left, right)


@lru_cache(maxsize=KEPT)
def find_merge_base(folder: Path, left: str, right: str) -> str | None:
    """Run `git merge-base`."""
    try:
        return run(folder, "merge-base", left, right).decode().strip()
    except GitTimedOut:
        raise
    except GitFailed as error:
        if error.code == 1:
            return None
        raise


def refresh_commit_graph(folder: Path) -> None:
    """Update the commit-graph with changed-path filters.

    Extending a graph without filters, as `git gc` writes it, would never add them.
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
