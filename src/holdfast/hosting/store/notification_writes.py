"""Writes notifications, in the transaction of the event they are about.

Users who watch the repository, are subscribed to the issue or participate in it are notified of comments and state
changes; users who are mentioned, assigned or requested for a review are notified of that in any case. Users who
can accept the transfer of a repository are notified while it is pending. Transactions that change issues hold the
lock of the repository, so a thread is written by one of them at a time.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    bindparam,
    case,
    delete,
    exists,
    insert,
    literal,
    or_,
    select,
    union,
    update,
)

from holdfast.hosting.store.members import OWNER
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import (
    comments,
    issue_assignees,
    issue_subscriptions,
    issues,
    notifications,
    team_members,
    teams,
    users,
    watches,
)

__all__ = [
    "PINNED",
    "READ",
    "UNREAD",
    "end_transfer",
    "may_act_for",
    "mention_pattern",
    "notify",
    "notify_of_transfer",
]

UNREAD, READ, PINNED = "unread", "read", "pinned"
# Of a very long timeline, only the authors of the latest entries count as participants.
RECENT_ENTRIES: Final = 1000
MOST_MENTIONS: Final = 50
NAME: Final = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
BEFORE_MENTION: Final = r"(?<![\w/@#&.-])"
MENTION: Final = re.compile(rf"{BEFORE_MENTION}@({NAME})")
LONGEST_TEXT: Final = 200_000
# Events that all subscribers are notified of: the part of an issue, and the action.
NOTIFIED: Final = frozenset(
    {
        ("", "opened"),
        ("", "closed"),
        ("", "reopened"),
        ("comment", "created"),
        ("review_approved", "reviewed"),
        ("review_rejected", "reviewed"),
        ("review_comment", "reviewed"),
    }
)


ISSUE_ID: Final[BindParameter[int]] = bindparam("issue")
ACTOR_ID: Final[BindParameter[int]] = bindparam("actor")
RECENT: Final = (
    select(comments.c.author_id.label("user_id"), comments.c.kind.label("kind"))
    .where(comments.c.issue_id == ISSUE_ID)
    .order_by(comments.c.created_at.desc(), comments.c.id.desc())
    .limit(RECENT_ENTRIES)
    .subquery("recent")
)
HEARD_OF: Final = union(
    select(watches.c.user_id.label("user_id")).where(watches.c.repository_id == bindparam("repository")),
    select(issues.c.author_id).where(issues.c.id == ISSUE_ID),
    select(issue_assignees.c.user_id).where(issue_assignees.c.issue_id == ISSUE_ID),
    select(RECENT.c.user_id).where(
        or_(RECENT.c.kind == "comment", RECENT.c.kind == "code", RECENT.c.kind == "review")
    ),
    select(issue_subscriptions.c.user_id).where(
        issue_subscriptions.c.issue_id == ISSUE_ID, issue_subscriptions.c.is_subscribed
    ),
).subquery("heard_of")
CHOSE_NOT_TO: Final = exists().where(
    issue_subscriptions.c.issue_id == ISSUE_ID,
    issue_subscriptions.c.user_id == HEARD_OF.c.user_id,
    ~issue_subscriptions.c.is_subscribed,
)
SUBSCRIBED: Final = select(HEARD_OF.c.user_id).where(
    HEARD_OF.c.user_id.is_not(None), HEARD_OF.c.user_id != ACTOR_ID, ~CHOSE_NOT_TO
)


def renewal(recipients: Select[*tuple[Any, ...]]) -> Any:
    """Return the statement that marks the threads of users as unread again; pinned ones stay pinned."""
    return (
        update(notifications)
        .where(notifications.c.issue_id == ISSUE_ID, notifications.c.user_id.in_(recipients))
        .values(
            status=case((notifications.c.status == PINNED, PINNED), else_=UNREAD),
            comment_id=bindparam("comment"),
            updated_at=bindparam("now"),
        )
    )


def creation(recipients: Select[*tuple[Any, ...]]) -> Any:
    """Return the statement that adds threads for users who have none about the issue."""
    people = recipients.subquery("people")
    has_one = exists().where(notifications.c.issue_id == ISSUE_ID, notifications.c.user_id == people.c.user_id)
    now = bindparam("now", type_=notifications.c.created_at.type)
    rows = select(
        people.c.user_id,
        bindparam("repository", type_=notifications.c.repository_id.type),
        bindparam("issue", type_=notifications.c.issue_id.type),
        bindparam("comment", type_=notifications.c.comment_id.type),
        literal(UNREAD),
        now,
        now,
    ).where(~has_one)
    names = ["user_id", "repository_id", "issue_id", "comment_id", "status", "created_at", "updated_at"]
    return insert(notifications).from_select(names, rows)


RENEW_SUBSCRIBED: Final = Statement(renewal(SUBSCRIBED))
ADD_SUBSCRIBED: Final = Statement(creation(SUBSCRIBED))


def notify(
    connection: Connection,
    *,
    repository_id: int,
    issue_id: int,
    actor_id: int,
    part: str,
    action: str,
    details: Mapping[str, object],
    now: int,
) -> None:
    """Write the notifications of an event of an issue, in its transaction."""
    comment = details.get("comment_id") if part == "comment" else None
    comment_id = comment if isinstance(comment, int) else None
    binds: dict[str, int | None] = {"issue": issue_id, "comment": comment_id, "now": now}
    if (part, action) in NOTIFIED:
        for statement in (RENEW_SUBSCRIBED, ADD_SUBSCRIBED):
            statement.run(connection, **binds, repository=repository_id, actor=actor_id)
    named = named_users(connection, issue_id, comment_id, (part, action), details) - {actor_id}
    if named:
        chosen = select(users.c.id.label("user_id")).where(users.c.id.in_(sorted(named)), ~users.c.is_organization)
        connection.execute(renewal(chosen), binds)
        connection.execute(creation(chosen), {**binds, "repository": repository_id})


def notify_of_transfer(
    connection: Connection, *, repository_id: int, recipient_id: int, actor_id: int, now: int
) -> None:
    """Write the notifications of a pending transfer, for the users who can accept it."""
    rows = select(
        users.c.id,
        literal(repository_id, notifications.c.repository_id.type),
        literal(UNREAD),
        literal(now, notifications.c.created_at.type),
        literal(now, notifications.c.updated_at.type),
    ).where(
        users.c.id != actor_id,
        ~users.c.is_organization,
        may_act_for(literal(recipient_id, users.c.id.type), users.c.id),
    )
    names = ["user_id", "repository_id", "status", "created_at", "updated_at"]
    connection.execute(insert(notifications).from_select(names, rows))


def end_transfer(connection: Connection, repository_id: int) -> None:
    """Delete the notifications of a transfer that is no longer pending."""
    conditions = (notifications.c.repository_id == repository_id, notifications.c.issue_id.is_(None))
    connection.execute(delete(notifications).where(*conditions))


def may_act_for(recipient_id: ColumnElement[int], user_id: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a user is an account, or may create repositories in that organization."""
    creates = exists().where(
        teams.c.organization_id == recipient_id,
        or_(teams.c.may_create_repositories, teams.c.mode >= OWNER),
        team_members.c.team_id == teams.c.id,
        team_members.c.user_id == user_id,
    )
    return or_(recipient_id == user_id, creates)


def named_users(
    connection: Connection,
    issue_id: int,
    comment_id: int | None,
    event: tuple[str, str],
    details: Mapping[str, object],
) -> set[int]:
    """Return the users who are notified without a subscription: mentioned, assigned, or requested for a review."""
    if event == ("assign", "assigned"):
        assigned = details.get("assignee_ids")
        return (
            {user_id for user_id in assigned if isinstance(user_id, int)} if isinstance(assigned, list) else set()
        )
    if event == ("review_request", "review_requested"):
        reviewer, team = details.get("reviewer_id"), details.get("team_id")
        if isinstance(team, int):
            members = select(team_members.c.user_id).where(team_members.c.team_id == team)
            return set(connection.execute(members).scalars())
        return {reviewer} if isinstance(reviewer, int) else set()
    old = details.get("old_body")
    text = None
    if event == ("", "opened") or (event == ("", "edited") and old is not None):
        text = select(issues.c.body).where(issues.c.id == issue_id)
    elif event in {("comment", "created"), ("comment", "edited")}:
        text = select(comments.c.body).where(comments.c.id == comment_id)
    if text is None:
        return set()
    # An edit notifies only users who were not mentioned before.
    before = set(mentions(old)) if isinstance(old, str) else set()
    names = [name for name in mentions(connection.execute(text).scalar_one_or_none() or "") if name not in before]
    if not names:
        return set()
    return set(connection.execute(select(users.c.id).where(users.c.folded_name.in_(names))).scalars())


def mentions(text: str) -> list[str]:
    """Return the names mentioned in a text, casefolded, up to `MOST_MENTIONS`."""
    names = dict.fromkeys(name.casefold() for name in MENTION.findall(text[:LONGEST_TEXT]))
    return list(names)[:MOST_MENTIONS]


def mention_pattern(name: str) -> str:
    """Return the regular expression for a mention of one user, in the syntax that Python and PostgreSQL share."""
    return rf"(?i){BEFORE_MENTION}@{re.escape(name)}(?![\w.-]*[A-Za-z0-9])"
