"""What belongs to issues: labels, assignees, milestones, authors and repositories, for a whole page at once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, select

from holdfast.hosting.store.accounts import COLUMNS as ACCOUNT
from holdfast.hosting.store.accounts import Account, account_from, accounts_by_id
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.labels import COLUMNS as LABEL
from holdfast.hosting.store.labels import Label
from holdfast.hosting.store.milestones import Milestone, milestones_by_id
from holdfast.hosting.store.repositories import Repository, repositories_by_id
from holdfast.hosting.store.tables import issue_assignees, issue_labels, labels, users
from holdfast.hosting.store.tracker import Issue

__all__ = ["IssueParts", "TimelineParts", "issue_parts", "timeline_parts"]


@dataclass(frozen=True, slots=True)
class IssueParts:
    """What belongs to some issues."""

    repositories: dict[int, Repository]
    authors: dict[int, Account]
    milestones: dict[int, Milestone]
    labels: dict[int, list[Label]] = field(default_factory=dict)
    """By the issue's id, in the order of their names."""
    assignees: dict[int, list[Account]] = field(default_factory=dict)
    """By the issue's id, in the order of their names."""


@dataclass(frozen=True, slots=True)
class TimelineParts:
    """What the entries of a timeline name."""

    people: dict[int, Account]
    labels: dict[int, Label]
    milestones: dict[int, Milestone]


def issue_parts(database: Database, listed: Sequence[Issue], known: Repository | None = None) -> IssueParts:
    """Load what belongs to issues, in the same few queries however many there are."""
    ids = [issue.id for issue in listed]
    with database.read() as connection:
        places = (
            {known.id: known}
            if known is not None
            else repositories_by_id(connection, {issue.repository_id for issue in listed})
        )
        parts = IssueParts(
            places,
            accounts_by_id(connection, {issue.author_id for issue in listed if issue.author_id is not None}),
            milestones_by_id(
                connection, {issue.milestone_id for issue in listed if issue.milestone_id is not None}
            ),
        )
        load_labels(connection, ids, parts)
        load_assignees(connection, ids, parts)
    return parts


def load_labels(connection: Connection, ids: Sequence[int], parts: IssueParts) -> None:
    """Fill in the labels of issues."""
    statement = (
        select(issue_labels.c.issue_id, *LABEL)
        .join(labels, labels.c.id == issue_labels.c.label_id)
        .where(issue_labels.c.issue_id.in_(ids))
        .order_by(labels.c.name, labels.c.id)
    )
    for number, *columns in connection.execute(statement):
        parts.labels.setdefault(number, []).append(Label(*columns))


def load_assignees(connection: Connection, ids: Sequence[int], parts: IssueParts) -> None:
    """Fill in who issues are assigned to."""
    statement = (
        select(issue_assignees.c.issue_id, *ACCOUNT)
        .join(users, users.c.id == issue_assignees.c.user_id)
        .where(issue_assignees.c.issue_id.in_(ids))
        .order_by(users.c.folded_name)
    )
    for row in connection.execute(statement):
        parts.assignees.setdefault(row[0], []).append(account_from(tuple(row), 1))


def labels_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Label]:
    """Return the labels of these ids; one that is gone is left out."""
    if not ids:
        return {}
    rows = connection.execute(select(*LABEL).where(labels.c.id.in_(ids)))
    return {label.id: label for row in rows for label in [Label(*row)]}


def timeline_parts(database: Database, entries: Sequence[Comment]) -> TimelineParts:
    """Load what entries name, in the same few queries however many there are."""
    told = [entry.happening for entry in entries]
    people = {entry.author_id for entry in entries} | {one.assignee_id for one in told}
    steps = {one.milestone_id for one in told} | {one.old_milestone_id for one in told}
    with database.read() as connection:
        return TimelineParts(
            accounts_by_id(connection, {number for number in people if number is not None}),
            labels_by_id(connection, {one.label_id for one in told if one.label_id is not None}),
            milestones_by_id(connection, {number for number in steps if number is not None}),
        )
