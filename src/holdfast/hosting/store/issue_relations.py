"""Loads labels, assignees, milestones, authors and repositories for a page of issues in few queries."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    bindparam,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)

from holdfast.hosting.store.accounts import COLUMNS as ACCOUNT
from holdfast.hosting.store.accounts import WIDTH as ACCOUNT_WIDTH
from holdfast.hosting.store.accounts import Account, account_from, accounts_by_id
from holdfast.hosting.store.attachments import Attachment, AttachmentHolder, attachments_of, stored_attachments
from holdfast.hosting.store.comments import Comment
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.issue_transactions import Issue
from holdfast.hosting.store.labels import COLUMNS as LABEL
from holdfast.hosting.store.labels import Label
from holdfast.hosting.store.milestones import WHOLE, Milestone, milestones_by_id
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository, find_by_id, repositories_by_id
from holdfast.hosting.store.tables import (
    attachments,
    issue_assignees,
    issue_dependencies,
    issue_labels,
    issues,
    labels,
    milestones,
    repositories,
    users,
)
from holdfast.hosting.store.teams import Team, teams_by_id

__all__ = ["IssueParts", "TimelineParts", "issue_parts", "timeline_parts"]


@dataclass(frozen=True, slots=True)
class IssueParts:
    """The related rows of a page of issues."""

    repositories: dict[int, Repository]
    authors: dict[int, Account] = field(default_factory=dict)
    milestones: dict[int, Milestone] = field(default_factory=dict)
    labels: dict[int, list[Label]] = field(default_factory=dict)
    """By issue id, ordered by name."""
    assignees: dict[int, list[Account]] = field(default_factory=dict)
    """By issue id, ordered by name."""
    blockers: dict[int, int] = field(default_factory=dict)
    """The number of open blockers by issue id; zero is left out."""
    blocked: dict[int, int] = field(default_factory=dict)
    """The number of open issues it blocks by issue id; zero is left out."""
    attachments: dict[int, list[Attachment]] = field(default_factory=dict)
    """By issue id, oldest first; issues without one are left out."""


@dataclass(frozen=True, slots=True)
class TimelineParts:
    """The rows that timeline entries refer to."""

    people: dict[int, Account]
    labels: dict[int, Label]
    milestones: dict[int, Milestone]
    teams: dict[int, Team]


# The maximum number of ids in one query.
MAX_IDS: Final = 5000
# The common columns of every row: kind, the id it belongs to, and a count.
COMMON_COLUMNS: Final = 3
others = issues.alias("others")


def relation_columns(
    kind: str,
    number: ColumnElement[int],
    *,
    label: ColumnElement[int] | None = None,
    user: ColumnElement[int] | None = None,
    milestone: ColumnElement[int] | None = None,
    count: ColumnElement[int] | None = None,
) -> Select[*tuple[Any, ...]]:
    """Return the columns of one branch of the union: the kind, the id, and the related row or a count."""
    nothing = cast(null(), issues.c.id.type)
    return select(
        literal(kind).label("kind"),
        number.label("number"),
        (literal(0) if count is None else count).label("count"),
        *(
            (nothing if column is None else column).label(name)
            for column, name in ((label, "label_id"), (user, "user_id"), (milestone, "milestone_id"))
        ),
    )


def count_open(
    kind: str,
    issue_column: ColumnElement[int],
    related_column: ColumnElement[int],
    is_wanted: Select[*tuple[Any, ...]],
) -> Select[*tuple[Any, ...]]:
    """Return the statement that counts the open issues on the other side of an issue's dependencies."""
    return (
        relation_columns(kind, issue_column, count=func.count())
        .join(others, others.c.id == related_column)
        .where(issue_column.in_(is_wanted), ~others.c.is_closed)
        .group_by(issue_column)
    )


def relations_query(condition: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Return the union of everything related to the issues matching a condition, one row per item.

    Authors and milestones, which many issues share, are returned once.
    """
    page = select(issues.c.id, issues.c.author_id, issues.c.milestone_id).where(condition).cte("wanted")
    is_wanted = select(page.c.id)
    relations = union_all(
        relation_columns("author", page.c.author_id, user=page.c.author_id).distinct(),
        relation_columns("milestone", page.c.milestone_id, milestone=page.c.milestone_id).distinct(),
        relation_columns("label", issue_labels.c.issue_id, label=issue_labels.c.label_id).where(
            issue_labels.c.issue_id.in_(is_wanted)
        ),
        relation_columns("assignee", issue_assignees.c.issue_id, user=issue_assignees.c.user_id).where(
            issue_assignees.c.issue_id.in_(is_wanted)
        ),
        relation_columns("attachments", attachments.c.issue_id, count=func.count())
        .where(attachments.c.issue_id.in_(is_wanted))
        .group_by(attachments.c.issue_id),
        count_open("blockers", issue_dependencies.c.issue_id, issue_dependencies.c.blocker_id, is_wanted),
        count_open("blocked", issue_dependencies.c.blocker_id, issue_dependencies.c.issue_id, is_wanted),
    ).subquery("things")
    return (
        select(relations.c.kind, relations.c.number, relations.c.count, *LABEL, *ACCOUNT, *WHOLE.selected_columns)
        .select_from(
            relations.outerjoin(labels, labels.c.id == relations.c.label_id)
            .outerjoin(users, users.c.id == relations.c.user_id)
            .outerjoin(milestones, milestones.c.id == relations.c.milestone_id)
        )
        .where(relations.c.number.is_not(None))
        .order_by(labels.c.name, labels.c.id, users.c.folded_name)
    )


RELATIONS: Final = relations_query(issues.c.id.in_(bindparam("ids", expanding=True)))
# Prepared for webhook payloads, which show one issue or two.
RELATIONS_OF_ONE: Final = Statement(relations_query(issues.c.id == bindparam("id")))


def issue_parts(
    database: Database,
    page: Sequence[Issue],
    *loaded_repositories: Repository,
    readable: Callable[[], ColumnElement[bool]] | None = None,
) -> IssueParts:
    """Load the related rows of issues in a constant number of queries.

    A single issue, and those inside a transaction, are loaded by a prepared statement. Repositories that were
    loaded already are not loaded again; files are loaded for the issues that have some. If `readable` is given,
    only blocked issues that match it are counted; a webhook payload counts all. That condition is expensive to
    build, so it is built only if some issue is blocked.
    """
    parts = IssueParts({repository.id: repository for repository in loaded_repositories})
    with_files: list[int] = []
    if isinstance(database, TransactionDatabase) or len(page) == 1:
        for issue in page:
            if issue.repository_id not in parts.repositories:
                home = find_by_id(database, issue.repository_id)
                parts.repositories.update({} if home is None else {home.id: home})
            for row in database.rows(RELATIONS_OF_ONE, id=issue.id):
                add_row(parts, row, with_files)
        for number in with_files:
            parts.attachments[number] = attachments_of(database, AttachmentHolder("issue_id", number))
    else:
        ids = [issue.id for issue in page]
        with database.read() as connection:
            missing = {issue.repository_id for issue in page} - parts.repositories.keys()
            parts.repositories.update(repositories_by_id(connection, missing))
            for start in range(0, len(ids), MAX_IDS):
                for row in connection.execute(RELATIONS, {"ids": ids[start : start + MAX_IDS]}):
                    add_row(parts, tuple(row), with_files)
            for start in range(0, len(with_files), MAX_IDS):
                some = with_files[start : start + MAX_IDS]
                parts.attachments.update(stored_attachments(connection, "issue_id", some))
    if readable is not None and parts.blocked:
        with database.read() as connection:
            counted = blocked_among(connection, list(parts.blocked), readable())
        parts.blocked.clear()
        parts.blocked.update(counted)
    return parts


def blocked_among(connection: Connection, ids: list[int], readable: ColumnElement[bool]) -> dict[int, int]:
    """Count the open issues blocked by each of these, among those matching a condition."""
    blocker_counts: dict[int, int] = {}
    blocker = issue_dependencies.c.blocker_id
    for start in range(0, len(ids), MAX_IDS):
        statement = (
            select(blocker, func.count())
            .join(issues, issues.c.id == issue_dependencies.c.issue_id)
            .join(repositories, repositories.c.id == issues.c.repository_id)
            .join(users, users.c.id == repositories.c.owner_id)
            .where(blocker.in_(ids[start : start + MAX_IDS]), ~issues.c.is_closed, readable)
            .group_by(blocker)
        )
        blocker_counts.update((number, count) for number, count in connection.execute(statement))
    return blocker_counts


def add_row(parts: IssueParts, row: tuple[Any, ...], with_files: list[int]) -> None:
    """Add one row of the union to the parts, or an issue to those whose files must be loaded."""
    kind, number, count = row[:COMMON_COLUMNS]
    label, account = COMMON_COLUMNS, COMMON_COLUMNS + len(LABEL)
    if kind == "label":
        parts.labels.setdefault(number, []).append(Label(*row[label:account]))
    elif kind == "assignee":
        parts.assignees.setdefault(number, []).append(account_from(row, account))
    elif kind == "author":
        parts.authors[number] = account_from(row, account)
    elif kind == "milestone":
        parts.milestones[number] = Milestone(*row[account + ACCOUNT_WIDTH :])
    elif kind == "blockers":
        parts.blockers[number] = count
    elif kind == "attachments":
        with_files.append(number)
    else:
        parts.blocked[number] = count


def labels_by_id(connection: Connection, ids: Collection[int]) -> dict[int, Label]:
    """Return the labels with these ids; missing ones are left out."""
    if not ids:
        return {}
    rows = connection.execute(select(*LABEL).where(labels.c.id.in_(ids)))
    return {label.id: label for row in rows for label in [Label(*row)]}


def timeline_parts(database: Database, entries: Sequence[Comment]) -> TimelineParts:
    """Load the rows that timeline entries refer to, in a constant number of queries."""
    details = [entry.happening for entry in entries]
    people = {entry.author_id for entry in entries} | {
        timeline_details.assignee_id for timeline_details in details
    }
    teams = {timeline_details.assignee_team_id for timeline_details in details}
    steps = {timeline_details.milestone_id for timeline_details in details} | {
        timeline_details.old_milestone_id for timeline_details in details
    }
    with database.read() as connection:
        return TimelineParts(
            accounts_by_id(connection, {number for number in people if number is not None}),
            labels_by_id(
                connection,
                {
                    timeline_details.label_id
                    for timeline_details in details
                    if timeline_details.label_id is not None
                },
            ),
            milestones_by_id(connection, {number for number in steps if number is not None}),
            teams_by_id(connection, {number for number in teams if number is not None}),
        )
