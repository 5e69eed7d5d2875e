"""The notifications of the user, grouped by repository, and the forms that mark them as read, unread or pinned."""

import time
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

import msgspec

from holdfast.hosting.guards import signed_in
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import notifications
from holdfast.hosting.store.issues import Issue
from holdfast.hosting.store.notifications import STATUSES, NotificationFilter, NotificationThread
from holdfast.hosting.store.repositories import Repository, repositories_by_id
from holdfast.web.issues.rows import page_path
from holdfast.web.pages import page as show
from holdfast.web.pages import redirect_to

__all__ = ["mark_all_as_read", "mark_thread", "page_notifications"]

SIZE: Final = 50
ADDRESS: Final = "/notifications"
UNREAD, READ, PINNED, ALL = "unread", "read", "pinned", "all"
LISTS: Final = {UNREAD: "Unread", READ: "Read", PINNED: "Pinned", ALL: "All"}
# The largest value of a 64-bit column.
MOST_DIGITS: Final = 19


class NotificationListQuery(msgspec.Struct, frozen=True):
    """Which list is shown."""

    show: str = UNREAD


class MarkForm(msgspec.Struct, frozen=True):
    """The new status of a thread, and the list to return to."""

    status: str = ""
    show: str = UNREAD
    page: str = ""


class MarkAllForm(msgspec.Struct, frozen=True):
    """The time of the page whose threads are marked, and the repository, if only its threads are."""

    before: str = ""
    repository: str = ""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread as a row of the list; one without an issue is about the transfer of its repository."""

    id: int
    path: str
    title: str
    issue: Issue | None
    status: str
    updated_at: int


@dataclass(frozen=True, slots=True)
class ThreadGroup:
    """The threads of a page that are about one repository."""

    repository: Repository
    rows: list[ThreadRow]

    @property
    def has_unread(self) -> bool:
        """Whether one of them is unread."""
        return any(row.status == UNREAD for row in self.rows)


@endpoint(f"GET {ADDRESS}", scope="notification", guards=(signed_in,), slow=True)
def page_notifications(request: RequestContext, query: NotificationListQuery, page: PageParams) -> RawResponse:
    """List the notifications of the user, the latest first."""
    name = query.show if query.show in LISTS else UNREAD
    params = PageParams(page.number, SIZE)
    # Threads of the current second may have changed after they were read, so they are not marked with the others.
    before = int(time.time()) - 1
    which = NotificationFilter(statuses=STATUSES if name == ALL else (name,))
    threads, total = notifications.list_threads(request.app, request.actor, which, skip=params.skip, limit=SIZE)
    return show(
        request,
        "notifications.html",
        title="Notifications",
        lists=LISTS,
        name=name,
        groups=grouped(request, threads),
        total=total,
        number=params.number,
        size=SIZE,
        before=before,
    )


@endpoint(f"POST {ADDRESS}/{{id}}", scope="notification", guards=(signed_in,), slow=True)
def mark_thread(request: RequestContext, id: int, body: MarkForm) -> RawResponse:  # noqa: A002  # the name in the path
    """Mark a notification as read, unread or pinned."""
    notifications.mark(request.app, request.actor, id, body.status)
    query = {"show": body.show} if body.show in LISTS and body.show != UNREAD else {}
    if whole(body.page) > 1:
        query["page"] = body.page
    return redirect_to(f"{ADDRESS}?{urlencode(query)}" if query else ADDRESS)


@endpoint(f"POST {ADDRESS}", scope="notification", guards=(signed_in,), slow=True)
def mark_all_as_read(request: RequestContext, body: MarkAllForm) -> RawResponse:
    """Mark the unread notifications up to the time of the page as read, everywhere or in a repository."""
    which = NotificationFilter(
        statuses=(UNREAD,),
        before=whole(body.before) or None,
        repository_id=whole(body.repository) if body.repository else None,
    )
    notifications.mark_all(request.app, request.actor, which, READ, limit=0)
    return redirect_to(ADDRESS, "notifications-read")


def whole(text: str) -> int:
    """Parse a number of a form; 0 if it is invalid."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < MOST_DIGITS else 0


def grouped(request: RequestContext, threads: list[NotificationThread]) -> list[ThreadGroup]:
    """Group threads by repository; the groups are in the order of their latest threads."""
    with request.app.database.read() as connection:
        places = repositories_by_id(
            connection, {notification_thread.notification.repository_id for notification_thread in threads}
        )
    groups: dict[int, ThreadGroup] = {}
    for thread in threads:
        number = thread.notification.repository_id
        # A repository that was deleted after its threads were read is missing.
        if number in places:
            group = groups.setdefault(number, ThreadGroup(places[number], []))
            group.rows.append(row(places[number], thread))
    return list(groups.values())


def row(repository: Repository, thread: NotificationThread) -> ThreadRow:
    """Return the row of a thread; it links to the latest comment, or to the transfers on the home page."""
    stored, issue = thread.notification, thread.issue
    if issue is None:
        path, title = "/#transfers", f"Transfer of {repository.full_name}"
    else:
        path, title = page_path(repository, issue), issue.title
        if stored.comment_id is not None:
            path += f"?comment={stored.comment_id}"
    return ThreadRow(stored.id, path, title, issue, stored.status, stored.updated_at)
