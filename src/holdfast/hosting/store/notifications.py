"""Notifications of a user: list, count and mark them, limited to subjects that the user may read."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import (
    CTE,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    TextClause,
    and_,
    bindparam,
    exists,
    false,
    func,
    literal,
    literal_column,
    or_,
    select,
    text,
    update,
)

from holdfast.hosting.errors import NoSuchNotification
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_lists import visible_to
from holdfast.hosting.store.issue_transactions import ISSUE, Issue
from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.notification_writes import PINNED, READ, UNREAD, may_act_for
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import readable_by
from holdfast.hosting.store.tables import issues, notifications, repositories, repository_transfers, users

__all__ = [
    "MOST_COUNTED",
    "STATUSES",
    "Notification",
    "NotificationFilter",
    "NotificationThread",
    "count_for_badge",
    "count_unread",
    "find_notification",
    "list_notifications",
    "mark_all",
    "mark_issue_read",
    "mark_one",
    "mark_transfers_read",
    "with_status",
]

STATUSES: Final = (UNREAD, READ, PINNED)


class Notification(msgspec.Struct, frozen=True):
    """A notification thread of a user; the fields are the columns of the table, in this order."""

    id: int
    user_id: int
    repository_id: int
    issue_id: int | None
    comment_id: int | None
    status: str
    created_at: int
    updated_at: int


class NotificationFilter(msgspec.Struct, frozen=True, kw_only=True):
    """A filter for the threads of a user; times refer to their last update."""

    statuses: Collection[str] = (UNREAD, PINNED)
    kinds: Collection[bool] = (False, True)
    """The accepted values of `is_pull`."""
    with_repositories: bool = True
    """Whether threads about repositories are included."""
    since: int | None = None
    before: int | None = None
    repository_id: int | None = None


class NotificationThread(msgspec.Struct, frozen=True):
    """A thread and the issue it is about; without an issue it is about the repository."""

    notification: Notification
    issue: Issue | None


COLUMNS: Final = tuple(notifications.c[name] for name in Notification.__struct_fields__)
WIDTH: Final = len(COLUMNS)
# `users` is the owner of the repository in these statements.
JOINED: Final = (
    notifications.outerjoin(issues, issues.c.id == notifications.c.issue_id)
    .join(repositories, repositories.c.id == notifications.c.repository_id)
    .join(users, users.c.id == repositories.c.owner_id)
)


# The maximum number of repository ids in a statement.
MOST_HIDDEN: Final = 500
# The maximum number of pending transfers shown to a user, newest first.
MOST_TRANSFERS: Final = 500
# The badge in the navigation bar counts up to this, among the `MOST_EXAMINED` latest unread threads.
MOST_COUNTED: Final = 100
MOST_EXAMINED: Final = 1000

MINE_UNREAD: Final = (notifications.c.user_id == bindparam("user"), notifications.c.status == UNREAD)
UNREAD_THREAD: Final = Statement(
    select(notifications.c.id).where(*MINE_UNREAD, notifications.c.issue_id == bindparam("issue"))
)
UNREAD_TRANSFER: Final = Statement(
    select(notifications.c.id).where(*MINE_UNREAD, text("notifications.issue_id IS NULL")).limit(1)
)


@dataclass(frozen=True, slots=True)
class ThreadSelection:
    """The tables and conditions that select threads of a user."""

    source: FromClause
    conditions: list[ColumnElement[bool]]


def conditions(user: Account, which: NotificationFilter) -> list[ColumnElement[bool]]:
    """Return the conditions of a user's threads that match a filter, without regard to permissions."""
    clauses = [notifications.c.user_id == user.id]
    statuses = set(which.statuses)
    # All but those that are read are the partial index; a second condition would double the time of a count.
    if statuses not in (set(STATUSES), {UNREAD, PINNED}):
        clauses.append(notifications.c.status.in_(which.statuses))
    if READ not in statuses:
        # As in the definition of the partial index.
        clauses.append(notifications.c.status != literal_column("'read'"))
    if which.since is not None:
        clauses.append(notifications.c.updated_at >= which.since)
    if which.before is not None:
        clauses.append(notifications.c.updated_at <= which.before)
    if which.repository_id is not None:
        clauses.append(notifications.c.repository_id == which.repository_id)
    return clauses


def repositories_of(user: Account) -> CTE:
    """Return the query for the repositories that a user has threads of; reads one index row per repository."""
    first = select(func.min(notifications.c.repository_id).label("id")).where(notifications.c.user_id == user.id)
    places = first.cte("places", recursive=True)
    later = notifications.alias("later")
    following = (
        select(func.min(later.c.repository_id))
        .where(later.c.user_id == user.id, later.c.repository_id > places.c.id)
        .correlate(places)
        .scalar_subquery()
    )
    return places.union_all(select(following).where(places.c.id.is_not(None)))


def hidden_from(connection: Connection, user: Account, *, public_only: bool) -> dict[bool, set[int]]:
    """Return the repositories with threads whose issues (False) or pull requests (True) the user may not read."""
    places = repositories_of(user)
    is_readable = {
        False: and_(repositories.c.has_issues, readable_by(user, public_only=public_only, unit="repo.issues")),
        True: and_(repositories.c.has_pulls, readable_by(user, public_only=public_only, unit="repo.pulls")),
    }
    statement = (
        select(repositories.c.id, is_readable[False], is_readable[True])
        .join_from(repositories, users, users.c.id == repositories.c.owner_id)
        .where(repositories.c.id.in_(select(places.c.id)), ~and_(*is_readable.values()))
        .limit(MOST_HIDDEN + 1)
    )
    rows = connection.execute(statement).all()
    return {False: {row[0] for row in rows if not row[1]}, True: {row[0] for row in rows if not row[2]}}


def waiting_transfers(connection: Connection, user: Account, *, public_only: bool) -> list[int]:
    """Return the ids of a user's threads about repositories whose transfer is still pending."""
    waits = exists().where(
        repository_transfers.c.repository_id == repositories.c.id,
        may_act_for(repository_transfers.c.recipient_id, literal(user.id)),
    )
    statement = (
        select(notifications.c.id)
        .join_from(notifications, repositories, repositories.c.id == notifications.c.repository_id)
        .join(users, users.c.id == repositories.c.owner_id)
        # As in the definition of the partial index.
        .where(notifications.c.user_id == user.id, text("notifications.issue_id IS NULL"), waits)
        .order_by(notifications.c.id.desc())
        .limit(MOST_TRANSFERS)
    )
    if public_only:
        statement = statement.where(~repositories.c.is_private, users.c.visibility == "public")
    return list(connection.execute(statement).scalars())


def has_repository_threads(connection: Connection, user: Account) -> bool:
    """Return whether a user has threads about repositories, which is rare."""
    clauses = (notifications.c.user_id == user.id, text("notifications.issue_id IS NULL"))
    return connection.execute(select(notifications.c.id).where(*clauses).limit(1)).first() is not None


def selection(
    connection: Connection, user: Account, which: NotificationFilter, *, public_only: bool
) -> ThreadSelection:
    """Return the selection of a user's threads that match a filter and are about something they may read.

    Permissions are checked once per repository. Threads are joined with their issues only where the permission
    depends on the kind of issue.
    """
    clauses = conditions(user, which)
    thread_selection = selection_of_issues(connection, user, which, public_only=public_only)
    if not has_repository_threads(connection, user):
        return ThreadSelection(thread_selection.source, [*clauses, *thread_selection.conditions])
    waiting = waiting_transfers(connection, user, public_only=public_only) if which.with_repositories else []
    of_issues = and_(notifications.c.issue_id.is_not(None), *thread_selection.conditions)
    return ThreadSelection(thread_selection.source, [*clauses, or_(of_issues, notifications.c.id.in_(waiting))])


def selection_of_issues(
    connection: Connection, user: Account, which: NotificationFilter, *, public_only: bool
) -> ThreadSelection:
    """Return the selection of threads about issues that a user may read."""
    kinds = set(which.kinds)
    if not kinds:
        return ThreadSelection(notifications, [false()])
    hidden = hidden_from(connection, user, public_only=public_only)
    if max(map(len, hidden.values())) > MOST_HIDDEN:
        return ThreadSelection(JOINED, [visible_to(user, public_only=public_only, kinds=tuple(kinds))])
    clauses: list[ColumnElement[bool]] = []
    of_all = set.intersection(*(hidden[kind] for kind in sorted(kinds)))
    if of_all:
        clauses.append(notifications.c.repository_id.not_in(sorted(of_all)))
    if kinds == {False, True} and hidden[False] == hidden[True]:
        return ThreadSelection(notifications, clauses)
    allowed = [
        and_(issues.c.is_pull == kind, notifications.c.repository_id.not_in(sorted(hidden[kind])))
        for kind in sorted(kinds)
    ]
    joined = notifications.outerjoin(issues, issues.c.id == notifications.c.issue_id)
    return ThreadSelection(joined, [*clauses, or_(false(), *allowed)])


def thread_from(row: Sequence[object]) -> NotificationThread:
    """Build a thread from a row."""
    values = tuple(row)
    notification = Notification(*values[:WIDTH])  # type: ignore[arg-type]  # the columns of the tables
    issue = None if notification.issue_id is None else Issue(*values[WIDTH:])  # type: ignore[arg-type]  # as above
    return NotificationThread(notification, issue)


def list_notifications(
    database: Database, user: Account, which: NotificationFilter, *, public_only: bool, skip: int, limit: int
) -> tuple[list[NotificationThread], int]:
    """Return one page of the threads of a user, the latest update first, and the total."""
    with database.read() as connection:
        chosen = selection(connection, user, which, public_only=public_only)
        total: int = connection.execute(counting(chosen)).scalar_one()
        ids = page_ids(
            connection,
            select(notifications.c.id).select_from(chosen.source).where(*chosen.conditions),
            notifications.c.updated_at,
            notifications.c.id,
            descending=True,
            skip=skip,
            limit=limit,
            total=total,
        )
        statement = select(*COLUMNS, *ISSUE).select_from(JOINED).where(notifications.c.id.in_(ids))
        rows = connection.execute(statement).all() if ids else []
    by_id = {row[0]: thread_from(row) for row in rows}
    return [by_id[number] for number in ids if number in by_id], total


def counting(chosen: ThreadSelection) -> Select[int]:
    """Return the statement that counts threads."""
    return select(func.count()).select_from(chosen.source).where(*chosen.conditions)


def count_unread(database: Database, user: Account, *, public_only: bool) -> int:
    """Return how many threads of a user are unread."""
    with database.read() as connection:
        chosen = selection(connection, user, NotificationFilter(statuses=(UNREAD,)), public_only=public_only)
        count: int = connection.execute(counting(chosen)).scalar_one()
    return count


def count_for_badge(database: Database, user: Account, *, public_only: bool) -> int:
    """Return how many threads of a user are unread, up to `MOST_COUNTED`, in bounded time.

    It is counted for every page. On SQLite the number is cached until the database changes.
    """
    return database.cached(load_badge, (user, public_only)) or 0


def load_badge(database: Database, key: tuple[Account, bool]) -> int:
    """Count the unread threads among the latest, up to `MOST_COUNTED`, in one statement."""
    user, public_only = key
    clauses = conditions(user, NotificationFilter(statuses=(UNREAD,)))
    latest = (
        select(notifications.c.id, notifications.c.repository_id, notifications.c.issue_id)
        .where(*clauses)
        .order_by(notifications.c.updated_at.desc(), notifications.c.id.desc())
        .limit(MOST_EXAMINED)
        .subquery("latest")
    )
    waits = exists().where(
        repository_transfers.c.repository_id == latest.c.repository_id,
        may_act_for(repository_transfers.c.recipient_id, literal(user.id)),
    )
    transfer = and_(latest.c.issue_id.is_(None), waits)
    if public_only:
        transfer = and_(transfer, ~repositories.c.is_private, users.c.visibility == "public")
    shown = (
        select(latest.c.id)
        .outerjoin_from(latest, issues, issues.c.id == latest.c.issue_id)
        .join(repositories, repositories.c.id == latest.c.repository_id)
        .join(users, users.c.id == repositories.c.owner_id)
        .where(or_(visible_to(user, public_only=public_only), transfer))
        .limit(MOST_COUNTED)
    )
    with database.read() as connection:
        count: int = connection.execute(select(func.count()).select_from(shown.subquery())).scalar_one()
    return count


def find_notification(database: Database, user: Account, number: int, *, public_only: bool) -> NotificationThread:
    """Return a thread of a user by id; others' threads, and threads about unreadable subjects, are not found."""
    with database.read() as connection:
        waiting = waiting_transfers(connection, user, public_only=public_only)
        shown = or_(visible_to(user, public_only=public_only), notifications.c.id.in_(waiting))
        clauses = (notifications.c.id == number, notifications.c.user_id == user.id, shown)
        row = connection.execute(select(*COLUMNS, *ISSUE).select_from(JOINED).where(*clauses)).one_or_none()
    if row is None:
        raise NoSuchNotification(f"notification does not exist [id: {number}]")
    return thread_from(row)


def mark_one(database: Database, user: Account, number: int, status: str) -> None:
    """Change the status of a thread of a user."""
    clauses = (notifications.c.id == number, notifications.c.user_id == user.id)
    with database.write() as connection:
        connection.execute(update(notifications).where(*clauses).values(status=status))


def mark_issue_read(database: Database, user: Account, issue: Issue) -> None:
    """Mark the thread of a user about an issue as read if it is unread; a pinned one stays pinned."""
    if database.row(UNREAD_THREAD, user=user.id, issue=issue.id) is None:
        return
    mark_read(database, notifications.c.user_id == user.id, notifications.c.issue_id == issue.id)


def mark_transfers_read(database: Database, user: Account) -> None:
    """Mark the unread threads of a user about repositories as read."""
    if database.row(UNREAD_TRANSFER, user=user.id) is None:
        return
    mark_read(database, notifications.c.user_id == user.id, text("notifications.issue_id IS NULL"))


def mark_read(database: Database, *which: ColumnElement[bool] | TextClause) -> None:
    """Mark unread threads as read."""
    unread = notifications.c.status == UNREAD
    with database.write() as connection:
        connection.execute(update(notifications).where(*which, unread).values(status=READ))


def mark_all(
    database: Database, user: Account, which: NotificationFilter, status: str, *, public_only: bool
) -> None:
    """Change the status of all threads of a user that match a filter, in one statement."""
    with database.write() as connection:
        chosen = selection(connection, user, which, public_only=public_only)
        ids = select(notifications.c.id).select_from(chosen.source).where(*chosen.conditions)
        connection.execute(update(notifications).where(notifications.c.id.in_(ids)).values(status=status))


def with_status(notification: Notification, status: str) -> Notification:
    """Return a thread with another status."""
    return msgspec.structs.replace(notification, status=status)
