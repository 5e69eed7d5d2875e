"""Comparison of two commits, as in `base...head`."""

from dataclasses import dataclass

from holdfast.hosting.git.changes import DiffStats, TreeChanges, changes_between, stats_between
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.history import ahead_behind, commit_range, commits, merge_base
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import MOST_ENTRIES

__all__ = ["Comparison", "compare"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The commits reachable from `head` but not from `base`, newest first, and their changes.

    `ahead` counts those commits, `behind` those only reachable from `base`. Without a common ancestor `merge_base`
    is None, and the changes are against `base` itself.
    """

    base: str
    head: str
    merge_base: str | None
    commits: list[Commit]
    ahead: int
    behind: int
    changes: TreeChanges
    stats: DiffStats


def compare(
    repo: Repo,
    base: str,
    head: str,
    *,
    from_merge_base: bool = True,
    skip: int = 0,
    limit: int | None = None,
    most_files: int = MOST_ENTRIES,
) -> Comparison:
    """Compare two commits: `base...head` since their merge base, `base..head` directly."""
    parted = merge_base(repo, base, head)
    behind, ahead = ahead_behind(repo, base, head)
    ahead_commits = commits(repo, commit_range(repo, head, exclude=[base]), skip=skip, limit=limit)
    before = read_commit(repo, parted if parted is not None and from_merge_base else base).tree
    after = read_commit(repo, head).tree
    changes = changes_between(repo, before, after, most=most_files)
    return Comparison(
        base, head, parted, ahead_commits, ahead, behind, changes, stats_between(repo, before, after)
    )
