"""Schemas of notifications."""

from collections.abc import Sequence

import msgspec

from holdfast.hosting.schemas.issues import issue_page
from holdfast.hosting.schemas.repositories import RepositorySchema, repository_list
from holdfast.hosting.schemas.times import Time, moment
from holdfast.hosting.schemas.viewer import Viewer
from holdfast.hosting.store.notification_writes import PINNED, UNREAD
from holdfast.hosting.store.notifications import NotificationThread
from holdfast.hosting.store.repositories import Repository, repositories_by_id

__all__ = ["NotificationSubject", "NotificationThreadSchema", "thread_list"]


class NotificationSubject(msgspec.Struct, frozen=True):
    """The issue, pull request or repository of a notification, and the comment it is about."""

    title: str
    url: str
    latest_comment_url: str
    html_url: str
    latest_comment_html_url: str
    type: str
    state: str


class NotificationThreadSchema(msgspec.Struct, frozen=True):
    """A notification."""

    id: int
    repository: RepositorySchema
    subject: NotificationSubject
    unread: bool
    pinned: bool
    updated_at: Time
    url: str


def subject(viewer: Viewer, repository: Repository, thread: NotificationThread) -> NotificationSubject:
    """Encode the subject of a notification; the latest comment is the issue itself if there is none."""
    issue, comment = thread.issue, thread.notification.comment_id
    api = f"{viewer.api}/repos/{repository.full_name}"
    if issue is None:
        return NotificationSubject(
            title=repository.full_name,
            url=api,
            latest_comment_url="",
            html_url=f"{viewer.root}/{repository.full_name}",
            latest_comment_html_url="",
            type="Repository",
            state="",
        )
    page = issue_page(viewer, repository, issue)
    url = f"{api}/issues/{issue.number}"
    return NotificationSubject(
        title=issue.title,
        url=url,
        latest_comment_url=url if comment is None else f"{api}/issues/comments/{comment}",
        html_url=page,
        latest_comment_html_url=page if comment is None else f"{page}#issuecomment-{comment}",
        type="Pull" if issue.is_pull else "Issue",
        state="merged" if issue.merged_at else "closed" if issue.is_closed else "open",
    )


def thread_list(viewer: Viewer, threads: Sequence[NotificationThread]) -> list[NotificationThreadSchema]:
    """Encode notifications; their repositories are loaded in a constant number of queries."""
    with viewer.app.database.read() as connection:
        places = repositories_by_id(connection, {thread.notification.repository_id for thread in threads})
    schemas = {
        repository_schema.id: repository_schema
        for repository_schema in repository_list(viewer, list(places.values()))
    }
    return [
        NotificationThreadSchema(
            id=row.id,
            repository=schemas[row.repository_id],
            subject=subject(viewer, places[row.repository_id], thread),
            unread=row.status == UNREAD,
            pinned=row.status == PINNED,
            updated_at=moment(row.updated_at),
            url=f"{viewer.api}/notifications/threads/{row.id}",
        )
        for thread in threads
        for row in [thread.notification]
        if row.repository_id in places
    ]
