"""Subscriptions to single issues: explicit ones, and those of participants and watchers."""

import time
from typing import Final

from sqlalchemy import BindParameter, ColumnElement, bindparam, exists, func, or_, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile
from holdfast.hosting.store.accounts import COLUMNS, Account, account_from
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.subscriptions import visible_to
from holdfast.hosting.store.tables import comments, issue_assignees, issue_subscriptions, issues, users, watches

__all__ = ["choose", "is_subscribed", "subscribers"]


def choose(database: Database, issue: Issue, user: Account, *, is_subscribed: bool) -> bool:
    """Subscribe a user to an issue or unsubscribe them, and return whether that is a change."""
    table = issue_subscriptions
    row = {"issue_id": issue.id, "user_id": user.id, "is_subscribed": is_subscribed}
    chosen = upsert(database, table).on_conflict_do_update(
        index_elements=[table.c.issue_id, table.c.user_id],
        set_={"is_subscribed": is_subscribed},
        where=table.c.is_subscribed != is_subscribed,
    )
    try:
        with database.write() as connection:
            changed = connection.execute(
                chosen.returning(table.c.user_id), {**row, "created_at": int(time.time())}
            ).one_or_none()
    except IntegrityError as error:
        raise GoneMeanwhile("the issue or the user was deleted in the meantime") from error
    return changed is not None


def takes_part(issue_id: ColumnElement[int] | int, user_id: ColumnElement[int] | int) -> ColumnElement[bool]:
    """Return the condition that a user opened an issue, is assigned to it, or has commented on it."""
    return or_(
        exists().where(issues.c.id == issue_id, issues.c.author_id == user_id),
        exists().where(issue_assignees.c.issue_id == issue_id, issue_assignees.c.user_id == user_id),
        exists().where(
            comments.c.issue_id == issue_id,
            comments.c.author_id == user_id,
            or_(comments.c.kind == "comment", comments.c.kind == "code", comments.c.kind == "review"),
        ),
    )


ISSUE_ID: Final[BindParameter[int]] = bindparam("issue", type_=issues.c.id.type)
USER_ID: Final[BindParameter[int]] = bindparam("user", type_=users.c.id.type)
IS_SUBSCRIBED: Final = Statement(
    select(
        func.coalesce(
            select(issue_subscriptions.c.is_subscribed)
            .where(issue_subscriptions.c.issue_id == ISSUE_ID, issue_subscriptions.c.user_id == USER_ID)
            .scalar_subquery(),
            or_(
                exists().where(watches.c.repository_id == bindparam("repository"), watches.c.user_id == USER_ID),
                takes_part(ISSUE_ID, USER_ID),
            ),
        ).label("is_subscribed")
    )
)


def is_subscribed(database: Database, issue: Issue, user: Account) -> bool:
    """Return whether a user is subscribed: explicitly, otherwise as a participant or watcher."""
    row = database.row(IS_SUBSCRIBED, issue=issue.id, user=user.id, repository=issue.repository_id)
    return row is not None and bool(row[0])


def subscribers(
    database: Database, issue: Issue, viewer: Account | None, *, skip: int, limit: int
) -> tuple[list[Account], int]:
    """Return one page of the explicitly subscribed users whom a viewer may see, and the total."""
    table = issue_subscriptions
    wanted = (table.c.issue_id == issue.id, table.c.is_subscribed, visible_to(viewer))
    joined = select(*COLUMNS).join(table, table.c.user_id == users.c.id).where(*wanted)
    number = select(func.count()).select_from(table).join(users, table.c.user_id == users.c.id).where(*wanted)
    with database.read() as connection:
        rows = connection.execute(joined.order_by(table.c.created_at, users.c.id).offset(skip).limit(limit)).all()
        total = connection.execute(number).scalar_one()
    return [account_from(tuple(row)) for row in rows], total
