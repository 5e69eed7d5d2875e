"""Stars and watches of repositories."""

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.services.repository_search import RepositoryPage, list_visible
from holdfast.hosting.store import subscriptions as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.subscriptions import Kind

__all__ = ["add", "chosen", "count_stars", "list_repositories", "list_users", "remove", "since"]


def add(app: App, actor: Actor, target: RepositoryAccess, kind: Kind) -> int:
    """Star or watch a repository; return the time since when the user does."""
    user = access.require_login(actor)
    store.add(app.database, kind, target.repository, user)
    return store.since(app.database, kind, target.repository, user) or 0


def remove(app: App, actor: Actor, target: RepositoryAccess, kind: Kind) -> None:
    """Remove a star or a watch, if it exists."""
    store.remove(app.database, kind, target.repository, access.require_login(actor))


def since(app: App, actor: Actor, target: RepositoryAccess, kind: Kind) -> int | None:
    """Return when the acting user starred or began to watch a repository; None if they do not."""
    return store.since(app.database, kind, target.repository, access.require_login(actor))


def chosen(app: App, actor: Actor, target: RepositoryAccess) -> frozenset[Kind]:
    """Return which of star and watch the acting user has; empty for anonymous visitors."""
    return frozenset() if actor.user is None else store.chosen(app.database, target.repository, actor.user)


def count_stars(app: App, user: Account) -> int:
    """Return how many repositories a user has starred."""
    return store.count_stars(app.database, user)


def list_repositories(
    app: App, actor: Actor, user: Account, kind: Kind, *, skip: int, limit: int
) -> RepositoryPage:
    """Return one page of the repositories that a user starred or watches and that the actor may see."""
    return list_visible(app, actor, [store.has_one_of(kind, user)], skip=skip, limit=limit)


def list_users(
    app: App, actor: Actor, target: RepositoryAccess, kind: Kind, *, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of the users who starred or watch a repository, and the total."""
    viewer = None if actor.public_only else actor.user
    return store.subscribers(app.database, kind, target.repository, viewer, skip=skip, limit=limit)
