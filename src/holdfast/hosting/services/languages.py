"""Language statistics of repositories, computed in the background after pushes and stored in the database.

A request returns the stored statistics. Only a small tree is counted in the request, so that a push is visible at
once.
"""

import time
from itertools import islice
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitFailed, GitTimedOut, HostingError, NoSuchObject
from holdfast.hosting.git import languages, refs
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.git.trees import walk
from holdfast.hosting.store.languages import (
    LanguageStatistics,
    find_statistics,
    outdated_repositories,
    save_statistics,
)
from holdfast.hosting.store.repositories import Repository, find_by_id

__all__ = ["count", "count_missed", "list_languages"]

# A tree with at most this many entries is counted in the request.
SMALL_TREE: Final = 500
# Maximum repositories and seconds per run of the background task.
MOST_REPOSITORIES: Final = 1000
SECONDS_PER_RUN: Final = 60.0
UNREADABLE: Final = (NoSuchObject, GitDamaged, GitFailed, GitTimedOut)


def default_tree(repo: Repo, repository: Repository) -> str:
    """Return the tree of the default branch; empty if it has no commit."""
    resolved = refs.resolve(repo, "", repository.default_branch)
    return "" if resolved is None else read_commit(repo, resolved.commit).tree


def list_languages(app: App, target: RepositoryAccess) -> dict[str, int]:
    """Return the number of bytes by language on the default branch, largest first.

    For a large tree pushed just now, the statistics are those before the push.
    """
    access.require_read(target, Unit.CODE)
    repository = target.repository
    if repository.is_empty:
        return {}
    repo = app.copies.open(repository)
    tree = default_tree(repo, repository)
    if not tree:
        return {}
    statistics = find_statistics(app.database, repository.id)
    if statistics is not None and statistics.tree == tree:
        return statistics.counts
    app.pushed.add(repository.id)
    if next(islice(walk(repo, tree), SMALL_TREE, None), None) is None:
        return languages.languages(repo, tree)
    return {} if statistics is None else statistics.counts


def count(app: App, repository_id: int) -> None:
    """Compute and store the statistics of a repository, unless the stored ones are of the same tree."""
    repository = find_by_id(app.database, repository_id)
    if repository is None or repository.is_empty:
        return
    statistics = find_statistics(app.database, repository_id)
    try:
        repo = app.copies.open(repository)
        tree = default_tree(repo, repository)
        if statistics is not None and statistics.tree == tree:
            language_statistics = statistics
        else:
            language_statistics = LanguageStatistics(tree, languages.languages(repo, tree) if tree else {})
    except UNREADABLE:
        # Retried after the next push.
        language_statistics = LanguageStatistics("", {})
    save_statistics(app.database, repository, language_statistics)


def count_missed(app: App) -> None:
    """Compute the statistics of repositories where they are older than the last push."""
    until = time.monotonic() + SECONDS_PER_RUN
    for repository_id in outdated_repositories(app.database, MOST_REPOSITORIES):
        if time.monotonic() > until:
            return
        try:
            count(app, repository_id)
        except (HostingError, OSError):
            # Deleted meanwhile, or its packs cannot be fetched at the moment.
            continue
