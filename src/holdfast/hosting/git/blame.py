"""Blame: the commit that last changed each line of a file."""

import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.encoding import argument
from holdfast.hosting.git.program import run
from holdfast.hosting.git.repository import Repo

__all__ = ["BlameHunk", "blame"]

SECONDS: Final = 20.0
KEPT: Final = 64
# The header of a hunk: commit, line there, line here, and number of lines.
BEGINNING: Final = re.compile(rb"([0-9a-f]{40,64}) (\d+) (\d+)(?: (\d+))?")


@dataclass(frozen=True, slots=True)
class BlameHunk:
    """Consecutive lines of a file from one commit."""

    commit: str
    first: int
    count: int


def blame(repo: Repo, commit: str, path: bytes, first: int, last: int) -> tuple[BlameHunk, ...] | None:
    """Return the hunks of some lines of a file in order; None after a timeout."""
    return run_blame(repo.folder, commit, path, first, last)


@lru_cache(maxsize=KEPT)
def run_blame(folder: Path, commit: str, path: bytes, first: int, last: int) -> tuple[BlameHunk, ...] | None:
    """Run `git blame`, which uses the changed-path filters."""
    try:
        lines = f"-L{first},{last}"
        output = run(folder, "blame", "--incremental", lines, commit, "--", argument(path), timeout=SECONDS)
    except GitTimedOut:
        return None
    except GitFailed:
        return ()
    blame_hunks = [
        BlameHunk(match[1].decode(), int(match[3]), int(match[4]))
        for line in output.split(b"\n")
        if (match := BEGINNING.fullmatch(line)) and match[4]
    ]
    return merge_runs(sorted(blame_hunks, key=lambda origin: origin.first))


def merge_runs(blame_hunks: list[BlameHunk]) -> tuple[BlameHunk, ...]:
    """Merge consecutive hunks of the same commit."""
    merged: list[BlameHunk] = []
    for blame_hunk in blame_hunks:
        if (
            merged
            and merged[-1].commit == blame_hunk.commit
            and merged[-1].first + merged[-1].count == blame_hunk.first
        ):
            merged[-1] = BlameHunk(blame_hunk.commit, merged[-1].first, merged[-1].count + blame_hunk.count)
        else:
            merged.append(blame_hunk)
    return tuple(merged)
