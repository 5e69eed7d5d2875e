"""Subscriptions to single issues and pull requests."""

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import Forbidden, Permission
from holdfast.hosting.store import issue_subscriptions as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue

__all__ = ["choose", "is_subscribed", "list_subscribers"]


def choose(app: App, actor: Actor, issue: Issue, user: Account, *, is_subscribed: bool) -> bool:
    """Subscribe a user to an issue or unsubscribe them; return whether that changed anything.

    Users may do this for themselves, site administrators for everybody.
    """
    if access.require_login(actor).id != user.id and not actor.is_admin:
        raise Forbidden(Permission.SELF)
    return store.choose(app.database, issue, user, is_subscribed=is_subscribed)


def is_subscribed(app: App, actor: Actor, issue: Issue) -> bool:
    """Return whether the acting user is subscribed: explicitly, or else by participating or watching."""
    return store.is_subscribed(app.database, issue, access.require_login(actor))


def list_subscribers(app: App, actor: Actor, issue: Issue, *, skip: int, limit: int) -> tuple[list[Account], int]:
    """Return one page of the users explicitly subscribed to an issue, and the total."""
    viewer = None if actor.public_only else actor.user
    return store.subscribers(app.database, issue, viewer, skip=skip, limit=limit)
