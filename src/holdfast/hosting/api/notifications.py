"""Notifications: threads about issues, pull requests and transfers, with their read status."""

from datetime import datetime
from typing import Annotated, Final

import msgspec
from msgspec import Meta, field

from holdfast.hosting.access import RepositoryAccess
from holdfast.hosting.guards import in_repository, signed_in
from holdfast.hosting.http.endpoints import endpoint
from holdfast.hosting.http.errors import FieldError
from holdfast.hosting.http.pagination import LARGEST_SIZE, PagedList, PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.schemas.notifications import NotificationThreadSchema, thread_list
from holdfast.hosting.schemas.times import seconds
from holdfast.hosting.services import notifications as service
from holdfast.hosting.store.notifications import STATUSES, NotificationFilter

__all__ = [
    "list_notifications",
    "list_repository_notifications",
    "mark_notification",
    "mark_notifications",
    "mark_repository_notifications",
    "show_notification",
    "show_notification_count",
]

SIGNED_IN: Final = (signed_in,)
IN_REPOSITORY: Final = (in_repository, signed_in)
# The accepted values of `is_pull`; there are no notifications about commits.
KINDS: Final = {"issue": (False,), "pull": (True,), "commit": (), "repository": ()}
Names = Annotated[list[Annotated[str, Meta(max_length=50)]], Meta(max_length=20)]


class NotificationsQuery(msgspec.Struct, frozen=True):
    """Filters of notifications; by default unread and pinned ones."""

    all: bool = False
    status_types: Names = field(name="status-types", default_factory=list)
    subject_type: Names = field(name="subject-type", default_factory=list)
    since: datetime | None = None
    before: datetime | None = None


class MarkQuery(msgspec.Struct, frozen=True):
    """Filters of the notifications to mark, and the new status; by default unread ones are marked as read."""

    last_read_at: datetime | None = None
    all: bool = False
    status_types: Names = field(name="status-types", default_factory=list)
    to_status: str = field(name="to-status", default="read")


class ThreadQuery(msgspec.Struct, frozen=True):
    """The new status of a notification: `read`, `unread` or `pinned`."""

    to_status: str = field(name="to-status", default="read")


class NotificationCount(msgspec.Struct, frozen=True):
    """The number of unread notifications."""

    new: int


def statuses(names: list[str], default: tuple[str, ...]) -> tuple[str, ...]:
    """Return the requested statuses."""
    return tuple(service.check_status(name.lower(), "StatusTypes") for name in names) or default


def kinds(names: list[str]) -> tuple[bool, ...]:
    """Return the accepted values of `is_pull` for subject types; raise an error for an unknown one."""
    if any(name.lower() not in KINDS for name in names):
        raise FieldError("SubjectType", f"must be one of {', '.join(KINDS)}")
    return tuple(kind for name in names for kind in KINDS[name.lower()]) if names else (False, True)


def list_threads(
    request: RequestContext, query: NotificationsQuery, page: PageParams, repository_id: int | None
) -> PagedList[NotificationThreadSchema]:
    """List notifications of all repositories or of one."""
    which = NotificationFilter(
        statuses=STATUSES if query.all else statuses(query.status_types, ("unread", "pinned")),
        kinds=kinds(query.subject_type),
        with_repositories=not query.subject_type or "repository" in map(str.lower, query.subject_type),
        since=seconds(query.since),
        before=seconds(query.before),
        repository_id=repository_id,
    )
    threads, total = service.list_threads(request.app, request.actor, which, skip=page.skip, limit=page.size)
    return PagedList(thread_list(request, threads), total)


def mark_threads(
    request: RequestContext, query: MarkQuery, repository_id: int | None
) -> list[NotificationThreadSchema]:
    """Mark notifications of all repositories or of one."""
    which = NotificationFilter(
        statuses=STATUSES if query.all else statuses(query.status_types, ("unread",)),
        before=seconds(query.last_read_at),
        repository_id=repository_id,
    )
    changed = service.mark_all(
        request.app, request.actor, which, query.to_status.lower() or "read", limit=LARGEST_SIZE
    )
    return thread_list(request, changed)


@endpoint("GET /notifications", scope="notification", guards=SIGNED_IN, refuses=(422,), slow=True, cacheable=True)
def list_notifications(
    request: RequestContext, query: NotificationsQuery, page: PageParams
) -> PagedList[NotificationThreadSchema]:
    """List the notifications of the authenticated user, newest first."""
    return list_threads(request, query, page, None)


@endpoint("PUT /notifications", scope="notification", guards=SIGNED_IN, status=205, refuses=(422,))
def mark_notifications(request: RequestContext, query: MarkQuery) -> list[NotificationThreadSchema]:
    """Mark notifications up to a time as read, unread or pinned; returns the changed ones, up to a limit."""
    return mark_threads(request, query, None)


@endpoint("GET /notifications/new", scope="notification", guards=SIGNED_IN, slow=True, cacheable=True)
def show_notification_count(request: RequestContext) -> NotificationCount:
    """Show the number of unread notifications."""
    return NotificationCount(service.count_unread(request.app, request.actor))


@endpoint("GET /notifications/threads/{id}", scope="notification", guards=SIGNED_IN, refuses=(404,), slow=True)
def show_notification(request: RequestContext, id: int) -> NotificationThreadSchema:  # noqa: A002  # the name in the path
    """Show a notification."""
    return thread_list(request, [service.find(request.app, request.actor, id)])[0]


@endpoint(
    "PATCH /notifications/threads/{id}", scope="notification", guards=SIGNED_IN, status=205, refuses=(404, 422)
)
def mark_notification(request: RequestContext, id: int, query: ThreadQuery) -> NotificationThreadSchema:  # noqa: A002  # the name in the path
    """Mark a notification as read, unread or pinned."""
    status = query.to_status.lower() or "read"
    return thread_list(request, [service.mark(request.app, request.actor, id, status)])[0]


@endpoint(
    "GET /repos/{owner}/{repo}/notifications",
    scope="notification",
    guards=IN_REPOSITORY,
    refuses=(404, 422),
    slow=True,
)
def list_repository_notifications(
    request: RequestContext, target: RepositoryAccess, query: NotificationsQuery, page: PageParams
) -> PagedList[NotificationThreadSchema]:
    """List the authenticated user's notifications of a repository, newest first."""
    return list_threads(request, query, page, target.repository.id)


@endpoint(
    "PUT /repos/{owner}/{repo}/notifications",
    scope="notification",
    guards=IN_REPOSITORY,
    status=205,
    refuses=(404, 422),
)
def mark_repository_notifications(
    request: RequestContext, target: RepositoryAccess, query: MarkQuery
) -> list[NotificationThreadSchema]:
    """Mark the authenticated user's notifications of a repository as read, unread or pinned."""
    return mark_threads(request, query, target.repository.id)
