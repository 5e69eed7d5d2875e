"""Pinned issues and pull requests: pin, unpin and reorder them as an administrator of the repository."""

from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.store import pins
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.issues import Issue

__all__ = ["is_pin_allowed", "list_pinned", "move", "pin", "unpin"]


def list_pinned(app: App, target: RepositoryAccess, *, is_pull: bool) -> list[Issue]:
    """Return the pinned issues or pull requests of a repository, in their order."""
    access.require_read(target, access.issue_unit(is_pull=is_pull))
    return pins.pinned_issues(app.database, target.repository, is_pull=is_pull)


def is_pin_allowed(app: App, target: RepositoryAccess, *, is_pull: bool) -> bool:
    """Return whether one more issue or pull request can be pinned."""
    pinned = pins.pinned_issues(app.database, target.repository, is_pull=is_pull)
    return len(pinned) < pins.MOST_PINS


def pin(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> None:
    """Pin an issue after the others; raise `TooManyPins` at the limit."""
    user = require_pin(actor, target)
    pins.pin_issue(app.database, target.repository, issue, user)


def unpin(app: App, actor: Actor, target: RepositoryAccess, issue: Issue) -> None:
    """Unpin an issue."""
    user = require_pin(actor, target)
    pins.unpin_issue(app.database, target.repository, issue, user)


def move(app: App, actor: Actor, target: RepositoryAccess, issue: Issue, position: int) -> None:
    """Move a pinned issue to a position among the pinned ones, counted from 1."""
    user = require_pin(actor, target)
    if position < 1:
        raise InvalidValue("Position", "must be at least 1")
    pins.move_pin(app.database, target.repository, issue, user, position=position)


def require_pin(actor: Actor, target: RepositoryAccess) -> Account:
    """Return the acting user; raise an error unless they may change pins."""
    user = access.require_repository_admin(actor, target)
    access.require_unarchived(target)
    return user
