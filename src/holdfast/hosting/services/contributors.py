"""Contributors to the default branch of repositories: an in-memory cache, keyed by the newest commit.

Counting reads every commit. A short history is counted in the request. A long history is counted in the
background, after the first request and after each later push; until then the last counted contributors are
returned.
"""

import threading
from typing import Final

from holdfast.hosting import access
from holdfast.hosting.access import RepositoryAccess, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import GitDamaged, GitTimedOut, NoSuchObject
from holdfast.hosting.git import history, refs
from holdfast.hosting.git.contributors import ContributorList, count_contributors
from holdfast.hosting.git.repository import Repo
from holdfast.hosting.store.repositories import find_by_id

__all__ = ["count", "list_contributors"]

# A history of at most this many commits is counted in the request.
SHORT_HISTORY: Final = 500
# Cache size in repositories; eviction is first in, first out.
MOST_REPOSITORIES: Final = 1000
KEEPING: Final = threading.Lock()
NOT_COUNTED: Final = ContributorList("", 0, ())
UNREADABLE: Final = (NoSuchObject, GitDamaged, GitTimedOut)


def list_contributors(app: App, target: RepositoryAccess, repo: Repo, commit: str) -> ContributorList:
    """Return the contributors at the newest commit of the default branch, or the last counted ones until counted.

    Empty for a long history that was never counted.
    """
    access.require_read(target, Unit.CODE)
    number = target.repository.id
    contributor_list = app.contributors.get(number, NOT_COUNTED)
    if contributor_list.commit == commit:
        return contributor_list
    if history.count(repo, history.commit_range(repo, commit)) <= SHORT_HISTORY:
        return keep(app, number, count_contributors(repo, commit))
    keep(app, number, contributor_list)
    app.pushed.add(number)
    return contributor_list


def count(app: App, repository_id: int) -> None:
    """Count the contributors of a cached repository again, unless the cache is up to date."""
    contributor_list = app.contributors.get(repository_id)
    repository = None if contributor_list is None else find_by_id(app.database, repository_id)
    if contributor_list is None or repository is None:
        return
    try:
        repo = app.copies.open(repository)
        head = refs.resolve(repo, "", repository.default_branch)
        if head is not None and head.commit != contributor_list.commit:
            keep(app, repository_id, count_contributors(repo, head.commit))
    except UNREADABLE:
        # Retried after the next push.
        return


def keep(app: App, repository_id: int, contributor_list: ContributorList) -> ContributorList:
    """Cache the contributors of a repository, and evict the oldest entry if the cache is full."""
    with KEEPING:
        app.contributors[repository_id] = contributor_list
        if len(app.contributors) > MOST_REPOSITORIES:
            del app.contributors[next(iter(app.contributors))]
    return contributor_list
