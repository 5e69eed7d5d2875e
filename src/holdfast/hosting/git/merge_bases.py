"""Best common ancestors of two commits, as found by `git merge-base --all`.

Branches usually diverge a few commits back, where walking the parents in this process costs less than starting
git.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from heapq import heappop, heappush
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo, damaged_error, open_repository

__all__ = ["merge_bases"]

KEPT: Final = 4096
# After this many commits git, which has the commit-graph, is faster.
MOST_COMMITS: Final = 500
PARENT: Final = re.compile(rb"parent ([0-9a-f]{40}(?:[0-9a-f]{24})?)\n")
COMMITTED_AT: Final = re.compile(rb"\ncommitter [^\n]*> (\d{1,12})(?: |\n)")

LEFT: Final = 1
RIGHT: Final = 2
STALE: Final = 4


def merge_bases(repo: Repo, left: str, right: str) -> tuple[str, ...]:
    """Return the best common ancestors of two commits; two or more after criss-cross merges."""
    repo.require(left, "commit")
    repo.require(right, "commit")
    if left == right:
        return (left,)
    return cached_bases(repo.folder, left, right)


@lru_cache(maxsize=KEPT)
def cached_bases(folder: Path, left: str, right: str) -> tuple[str, ...]:
    """Find the merge bases, cached: they never change, and a merge needs them several times."""
    near = search(open_repository(folder), left, right)
    return ask_git(folder, left, right) if near is None else near


def search(repo: Repo, left: str, right: str) -> tuple[str, ...] | None:
    """Return the best common ancestor if there is at most one and it is near, otherwise None.

    The commits reachable from each side are visited newest first, until all remaining commits are reachable from a
    common ancestor. Wrong commit times cost visits but never a common ancestor.
    """
    flags: dict[str, int] = {left: LEFT, right: RIGHT}
    parents: dict[str, tuple[str, ...]] = {}
    # Commits of the same second are visited in the order they were found: a child before its parents.
    queue: list[tuple[int, int, str]] = []
    common: set[str] = set()

    def push(commit: str) -> None:
        time, parents[commit] = read_links(repo, commit)
        heappush(queue, (-time, len(parents), commit))

    push(left)
    push(right)
    while any(not flags[commit] & STALE for _, _, commit in queue):
        commit = heappop(queue)[2]
        inherited = flags[commit]
        if inherited & (LEFT | RIGHT) == LEFT | RIGHT and not inherited & STALE:
            common.add(commit)
            inherited |= STALE
        for parent in parents[commit]:
            parent_flags = flags.get(parent, 0)
            if parent_flags | inherited == parent_flags:
                continue
            flags[parent] = parent_flags | inherited
            if len(parents) >= MOST_COMMITS:
                return None
            push(parent)
    best = [commit for commit in common if not flags[commit] & STALE]
    return tuple(best) if len(best) <= 1 else None


def read_links(repo: Repo, commit: str) -> tuple[int, tuple[str, ...]]:
    """Return the commit time and the parents of a commit."""
    content = repo.read(commit, "commit")
    head, _, _ = content.partition(b"\n\n")
    time = COMMITTED_AT.search(head + b"\n")
    parents = tuple(parent.decode() for parent in leading_parents(commit, head))
    return (0 if time is None else int(time[1])), parents


def leading_parents(commit: str, head: bytes) -> Iterator[bytes]:
    """Yield the parents in the header of a commit, which directly follow its tree."""
    position = head.find(b"\n") + 1
    if not position:
        raise damaged_error(commit)
    while (match := PARENT.match(head, position)) is not None:
        yield match[1]
        position = match.end()


def ask_git(folder: Path, left: str, right: str) -> tuple[str, ...]:
    """Run `git merge-base --all`."""
    try:
        return tuple(run(folder, "merge-base", "--all", left, right).decode().split())
    except GitTimedOut:
        raise
    except GitFailed as error:
        if error.code == 1:
            return ()
        raise
