"""Notifications of the acting user: list, count, and mark them as read, unread or pinned."""

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidValue
from holdfast.hosting.store import notifications as store
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.notifications import (
    MOST_COUNTED,
    STATUSES,
    NotificationFilter,
    NotificationThread,
)

__all__ = [
    "MOST_COUNTED",
    "check_status",
    "count_for_badge",
    "count_unread",
    "find",
    "list_threads",
    "mark",
    "mark_all",
    "read_issue",
    "read_transfers",
]


def check_status(status: str, field: str) -> str:
    """Return the name of a status; raise an error for an unknown one."""
    if status not in STATUSES:
        raise InvalidValue(field, f"must be one of {', '.join(STATUSES)}")
    return status


def list_threads(
    app: App, actor: Actor, which: NotificationFilter, *, skip: int, limit: int
) -> tuple[list[NotificationThread], int]:
    """Return one page of the acting user's threads, most recently updated first, and the total."""
    user = access.require_login(actor)
    return store.list_notifications(
        app.database, user, which, public_only=actor.public_only, skip=skip, limit=limit
    )


def count_unread(app: App, actor: Actor) -> int:
    """Return how many threads of the acting user are unread."""
    return store.count_unread(app.database, access.require_login(actor), public_only=actor.public_only)


def count_for_badge(app: App, actor: Actor) -> int:
    """Return how many threads of the acting user are unread, up to `MOST_COUNTED`; 0 for visitors."""
    if actor.user is None:
        return 0
    return store.count_for_badge(app.database, actor.user, public_only=actor.public_only)


def read_issue(app: App, actor: Actor, issue: Issue) -> None:
    """Mark the acting user's thread about an issue as read, because they have opened the issue."""
    if actor.user is not None:
        store.mark_issue_read(app.database, actor.user, issue)


def read_transfers(app: App, actor: Actor) -> None:
    """Mark the acting user's threads about transfers as read, because they have seen the transfers."""
    store.mark_transfers_read(app.database, access.require_login(actor))


def find(app: App, actor: Actor, number: int) -> NotificationThread:
    """Return a thread of the acting user by id."""
    user = access.require_login(actor)
    return store.find_notification(app.database, user, number, public_only=actor.public_only)


def mark(app: App, actor: Actor, number: int, status: str) -> NotificationThread:
    """Change the status of a thread, and return it."""
    user = access.require_login(actor)
    check_status(status, "ToStatus")
    thread = find(app, actor, number)
    store.mark_one(app.database, user, thread.notification.id, status)
    return find(app, actor, number)


def mark_all(
    app: App, actor: Actor, which: NotificationFilter, status: str, *, limit: int
) -> list[NotificationThread]:
    """Change the status of all threads that match a filter; return the changed ones, up to a limit."""
    user = access.require_login(actor)
    check_status(status, "ToStatus")
    changed, _ = list_threads(app, actor, which, skip=0, limit=limit)
    store.mark_all(app.database, user, which, status, public_only=actor.public_only)
    return [
        NotificationThread(store.with_status(thread.notification, status), thread.issue)
        for thread in changed
        if thread.notification.status != status
    ]
