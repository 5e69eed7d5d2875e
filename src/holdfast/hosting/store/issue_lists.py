"""Issue lists, of one repository or of all that a user can read: filtered, sorted and counted in SQL."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Select, and_, case, exists, false, func, or_, select, true, tuple_

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.dependencies import HAS_OPEN_BLOCKER
from holdfast.hosting.store.issue_transactions import ISSUE, Issue
from holdfast.hosting.store.repositories import COVERED, Repository, readable_by
from holdfast.hosting.store.tables import (
    comments,
    issue_assignees,
    issue_labels,
    issues,
    labels,
    milestones,
    repositories,
    teams,
    users,
)

__all__ = [
    "ORDERS",
    "Filter",
    "IssueName",
    "between_branches",
    "count_issues",
    "in_repository",
    "in_team",
    "list_issues",
    "owned_by",
    "readable_among",
    "visible_to",
]

IssueName = tuple[str, str, int]
"""Owner and name of a repository, folded, and the number of an issue in it."""

# `users` is the owner of the repository in these statements.
people = users.alias("people")
WITH_PLACE: Final = issues.join(repositories, repositories.c.id == issues.c.repository_id).join(
    users, users.c.id == repositories.c.owner_id
)
NONE: Final = "none"
ANY: Final = "*"
WITHOUT_DATE_LAST: Final = case((issues.c.due_at == 0, 1), else_=0)
ORDERS: Final[dict[str, tuple[ColumnElement[Any], ...]]] = {
    "newest": (issues.c.created_at.desc(), issues.c.id.desc()),
    "oldest": (issues.c.created_at, issues.c.id),
    "recentupdate": (issues.c.updated_at.desc(), issues.c.id.desc()),
    "recentclose": (issues.c.closed_at.desc(), issues.c.id.desc()),
    "leastupdate": (issues.c.updated_at, issues.c.id),
    "mostcomment": (issues.c.comment_count.desc(), issues.c.id.desc()),
    "leastcomment": (issues.c.comment_count, issues.c.id.desc()),
    "nearduedate": (WITHOUT_DATE_LAST, issues.c.due_at, issues.c.id),
    "farduedate": (WITHOUT_DATE_LAST, issues.c.due_at.desc(), issues.c.id),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Filters for issues; empty and None match everything. User names are matched in any case."""

    is_closed: bool | None = None
    text: str = ""
    labels: Sequence[str] = ()
    """Names; an issue must have all of them."""
    label_ids: Sequence[int] = ()
    """Ids; an issue must have all of them."""
    milestones: Sequence[str] = ()
    """Titles or ids, any of them; `none` matches issues without a milestone, `*` those with one."""
    since: int | None = None
    before: int | None = None
    author: str = ""
    assignee: str = ""
    """A user name; `none` or `*` as for milestones."""
    mentioned: str = ""
    is_ready: bool | None = None
    """Whether it is open and has no open blocker."""


def user_id(name: str) -> ColumnElement[int]:
    """Return the subquery for the id of the user with this name."""
    return select(people.c.id).where(people.c.folded_name == name.casefold()).scalar_subquery()


def contains(text: str) -> ColumnElement[bool]:
    """Return the condition that an issue's title or body contains a text, or that its number is the text."""
    found = [issues.c.title.icontains(text, autoescape=True), issues.c.body.icontains(text, autoescape=True)]
    number = text.removeprefix("#")
    if number.isascii() and number.isdigit() and len(number) < 19:
        found.append(issues.c.number == int(number))
    return or_(*found)


def has_labels(names: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that an issue has all labels with these names."""
    folded = set(names)
    having_all = (
        select(issue_labels.c.issue_id)
        .join(labels, labels.c.id == issue_labels.c.label_id)
        .where(labels.c.name.in_(folded))
        .group_by(issue_labels.c.issue_id)
        .having(func.count(labels.c.name.distinct()) == len(folded))
    )
    return issues.c.id.in_(having_all)


def has_label_ids(ids: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that an issue has all labels with these ids."""
    unique_ids = set(ids)
    having_all = (
        select(issue_labels.c.issue_id)
        .where(issue_labels.c.label_id.in_(unique_ids))
        .group_by(issue_labels.c.issue_id)
        .having(func.count() == len(unique_ids))
    )
    return issues.c.id.in_(having_all)


def has_milestone(keys: Sequence[str]) -> ColumnElement[bool]:
    """Return the condition that an issue belongs to one of these milestones."""
    ids = [int(key) for key in keys if key.isascii() and key.isdigit() and len(key) < 19]
    named = select(milestones.c.id).where(or_(milestones.c.title.in_(keys), milestones.c.id.in_(ids)))
    found: list[ColumnElement[bool]] = [issues.c.milestone_id.in_(named)]
    if NONE in keys:
        found.append(issues.c.milestone_id.is_(None))
    if ANY in keys:
        found.append(issues.c.milestone_id.is_not(None))
    return or_(*found)


def is_assigned(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue is assigned to a user."""
    assigned = issue_assignees.c.issue_id == issues.c.id
    if name == NONE:
        return ~exists().where(assigned)
    if name == ANY:
        return exists().where(assigned)
    return exists().where(assigned, issue_assignees.c.user_id == user_id(name))


def mentions(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue or one of its comments mentions a user (`@name`)."""
    written = f"@{name}"
    in_comments = exists().where(
        comments.c.issue_id == issues.c.id,
        comments.c.kind == "comment",
        comments.c.body.icontains(written, autoescape=True),
    )
    return or_(issues.c.body.icontains(written, autoescape=True), in_comments)


def conditions_of(filters: Filter) -> list[ColumnElement[bool]]:
    """Return the SQL conditions of a filter."""
    found: list[ColumnElement[bool]] = []
    if filters.is_closed is not None:
        found.append(issues.c.is_closed == filters.is_closed)
    if filters.text:
        found.append(contains(filters.text))
    if filters.labels:
        found.append(has_labels(filters.labels))
    if filters.label_ids:
        found.append(has_label_ids(filters.label_ids))
    if filters.milestones:
        found.append(has_milestone(filters.milestones))
    if filters.since is not None:
        found.append(issues.c.updated_at >= filters.since)
    if filters.before is not None:
        found.append(issues.c.updated_at <= filters.before)
    if filters.author:
        found.append(issues.c.author_id == user_id(filters.author))
    if filters.assignee:
        found.append(is_assigned(filters.assignee))
    if filters.mentioned:
        found.append(mentions(filters.mentioned))
    if filters.is_ready is not None:
        ready = and_(~issues.c.is_closed, ~HAS_OPEN_BLOCKER)
        found.append(ready if filters.is_ready else ~ready)
    return found


def in_repository(repository: Repository, kinds: Sequence[bool]) -> ColumnElement[bool]:
    """Return the condition that an issue is in a repository; `kinds` are the accepted values of `is_pull`."""
    return and_(issues.c.repository_id == repository.id, issues.c.is_pull.in_(kinds))


def between_branches(head: str, base: str) -> list[ColumnElement[bool]]:
    """Return the conditions on a pull request's branches; an empty name matches any."""
    found = []
    if head:
        found.append(issues.c.head_branch == head)
    if base:
        found.append(issues.c.base_branch == base)
    return found


def visible_to(
    user: Account | None, *, public_only: bool, kinds: Sequence[bool] = (False, True)
) -> ColumnElement[bool]:
    """Return the condition that a user may read an issue, in any repository."""
    parts: list[ColumnElement[bool]] = []
    if False in kinds:
        may = readable_by(user, public_only=public_only, unit="repo.issues")
        parts.append(and_(~issues.c.is_pull, repositories.c.has_issues, may))
    if True in kinds:
        may = readable_by(user, public_only=public_only, unit="repo.pulls")
        parts.append(and_(issues.c.is_pull, repositories.c.has_pulls, may))
    return or_(false(), *parts)


def readable_among(
    database: Database, names: Collection[IssueName], user: Account | None, *, public_only: bool
) -> set[IssueName]:
    """Return which of these issues exist and are readable by a user."""
    columns = (users.c.folded_name, repositories.c.folded_name, issues.c.number)
    readable = visible_to(user, public_only=public_only)
    statement = select(*columns).select_from(WITH_PLACE).where(tuple_(*columns).in_(list(names)), readable)
    with database.read() as connection:
        return {(row[0], row[1], row[2]) for row in connection.execute(statement)}


def owned_by(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue is in a repository of this owner."""
    return users.c.folded_name == name.casefold()


def in_team(name: str) -> ColumnElement[bool]:
    """Return the condition that an issue is in a repository of one of its owner's teams."""
    return exists().where(
        teams.c.organization_id == repositories.c.owner_id,
        teams.c.folded_name == name.casefold(),
        COVERED,
    )


def counting(conditions: Sequence[ColumnElement[bool]]) -> Select[int]:
    """Return the statement that counts the issues matching all conditions."""
    return select(func.count()).select_from(WITH_PLACE).where(*conditions)


def count_issues(database: Database, conditions: Sequence[ColumnElement[bool]], filters: Filter) -> int:
    """Return the number of issues matching the conditions and the filter."""
    with database.read() as connection:
        total: int = connection.execute(counting([true(), *conditions, *conditions_of(filters)])).scalar_one()
    return total


def list_issues(
    database: Database,
    conditions: Sequence[ColumnElement[bool]],
    filters: Filter,
    *,
    sort: str = "newest",
    first_repository: int = 0,
    skip: int,
    limit: int,
) -> tuple[list[Issue], int]:
    """Return one page of the issues matching the conditions and the filter, and the total."""
    all_conditions = [true(), *conditions, *conditions_of(filters)]
    order = list(ORDERS[sort])
    if first_repository:
        order.insert(0, case((issues.c.repository_id == first_repository, 0), else_=1))
    statement = select(*ISSUE).select_from(WITH_PLACE).where(*all_conditions).order_by(*order)
    with database.read() as connection:
        rows = connection.execute(statement.offset(skip).limit(limit)).all()
        total = connection.execute(counting(all_conditions)).scalar_one()
    return [Issue(*row) for row in rows], total
