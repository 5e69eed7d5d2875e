"""Comparisons of pull requests: mergeability and change statistics, computed in the background and stored.

A write to a repository adds it to `App.moved`, and a task compares the pull requests whose branches moved. Reading
a pull request only reads the stored result. A new pull request is compared in the request, within a time limit.
"""

import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut, HostingError, NoSuchObject
from holdfast.hosting.git import changes as tree_changes
from holdfast.hosting.git import history
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.merges import check_merge
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.services import code_owners, pull_heads
from holdfast.hosting.store import pulls
from holdfast.hosting.store.accounts import account_by_id
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.pulls import CLEAN, CONFLICT, FAILED, Pull, PullComparison
from holdfast.hosting.store.repositories import find_by_id

__all__ = ["compare", "compare_all", "compare_missed", "compare_now", "compare_outdated"]

# Comparisons stored per transaction.
BATCH: Final = 50
# Maximum conflicting files stored.
MOST_CONFLICTS: Final = 1000
# Time limit per repository before others are compared.
SECONDS_PER_REPOSITORY: Final = 30.0
# Maximum repositories per run.
MOST_REPOSITORIES: Final = 1000


def compare(repo: Repo, base: str, head: str, pull: Pull | None = None) -> PullComparison:
    """Compare a head with a base; statistics in `pull` are reused if merge base and head are unchanged."""
    try:
        common_ancestor = history.merge_base(repo, base, head)
        merge_base = common_ancestor or base
        is_same = pull is not None and (pull.merge_base, pull.checked_head) == (merge_base, head)
        if pull is not None and is_same and pull.mergeability != FAILED:
            counts = (pull.additions, pull.deletions, pull.changed_files)
        else:
            before, after = read_commit(repo, merge_base).tree, read_commit(repo, head).tree
            stats = tree_changes.stats_between(repo, before, after)
            counts = (stats.additions, stats.deletions, stats.changed_files)
        check = check_merge(repo, base, head)
    except (NoSuchObject, GitDamaged, GitFailed, GitTimedOut):
        # Stored as failed until one of the branches moves.
        return PullComparison(head=head, base=base, merge_base=base, mergeability=FAILED)
    additions, deletions, changed_files = counts
    return PullComparison(
        head=head,
        base=base,
        merge_base=merge_base,
        mergeability=CLEAN if check.is_clean else CONFLICT,
        conflicts=check.conflicts[:MOST_CONFLICTS],
        additions=additions,
        deletions=deletions,
        changed_files=changed_files,
    )


def compare_now(app: App, repo: Repo, issue: Issue) -> None:
    """Compare a pull request and store the result."""
    pull = pulls.find_pull(app.database, issue)
    if pull.base_tip is not None and issue.head_sha:
        save(app, [(issue, compare(repo, pull.base_tip, issue.head_sha, pull))])


def compare_outdated(app: App, repository_id: int) -> int:
    """Compare the open pull requests of a repository whose branches moved; return how many."""
    until = time.monotonic() + SECONDS_PER_REPOSITORY
    count = 0
    while outdated := pulls.outdated_pulls(app.database, repository_id, BATCH):
        repo = app.copies.update(repository_id)
        comparisons = []
        for issue, pull in outdated:
            comparisons.append((issue, compare(repo, pull.base_tip or "", issue.head_sha, pull)))
            if time.monotonic() > until:
                break
        save(app, comparisons)
        checked_heads = {issue.id: pull.checked_head for issue, pull in outdated}
        ask_owners(app, [issue for issue, _ in comparisons if checked_heads[issue.id] not in {"", issue.head_sha}])
        count += len(comparisons)
        if time.monotonic() > until:
            app.moved.add(repository_id)
            break
    return count


def ask_owners(app: App, moved: Sequence[Issue]) -> None:
    """Request reviews from the code owners of pull requests whose heads moved."""
    for issue in moved:
        # The pull request may have been deleted meanwhile.
        with suppress(HostingError, OSError):
            repository = find_by_id(app.database, issue.repository_id)
            author = None if issue.author_id is None else account_by_id(app.database, issue.author_id)
            if repository is not None and author is not None:
                code_owners.request_reviews(app, author, repository, issue)


def save(app: App, comparisons: Sequence[tuple[Issue, PullComparison]]) -> None:
    """Store comparisons in one transaction."""
    with app.database.quick_write(durable=False) as link:
        for issue, comparison in comparisons:
            pulls.save_comparison(link, issue.id, comparison)


def compare_all(app: App) -> None:
    """Compare the pull requests whose branches moved in repositories that this process wrote to."""
    for work in (pull_heads.follow_branches, compare_outdated):
        # Following a branch adds the base repository to `App.moved`; it is compared in the second step.
        named = sorted(app.moved)
        for repository_id in named:
            if work is compare_outdated:
                app.moved.discard(repository_id)
            # The repository may have been deleted meanwhile.
            with suppress(HostingError, OSError):
                work(app, repository_id)


def compare_missed(app: App) -> None:
    """Compare all outdated pull requests found in the database, including those a dead process left."""
    compared, moved = pulls.repositories_with_outdated_pulls(app.database, MOST_REPOSITORIES)
    app.moved.update(compared, moved)
    compare_all(app)
