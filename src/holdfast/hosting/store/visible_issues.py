"""Issues across repositories with permissions: each with its repository and whether the reader may read it."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, case, func, select, true

from holdfast.hosting.store.accounts import COLUMNS, WIDTH, Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_lists import visible_to
from holdfast.hosting.store.issue_transactions import ISSUE, Issue
from holdfast.hosting.store.repositories import REPOSITORY, Repository, repositories_by_id, repository_from
from holdfast.hosting.store.tables import issue_dependencies, issues, repositories, users

__all__ = ["Reader", "VisibleIssue", "blocked_by", "blockers_of", "visible_issues_by_id"]

PLACE_WIDTH: Final = WIDTH + len(REPOSITORY)
END: Final = PLACE_WIDTH + len(ISSUE)
# The maximum number of ids in one query.
MAX_IDS: Final = 5000


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of issues: anonymous or a user, possibly with a token limited to public repositories."""

    user: Account | None = None
    public_only: bool = False


@dataclass(frozen=True, slots=True)
class VisibleIssue:
    """An issue with its repository, and whether the reader may read it."""

    issue: Issue
    repository: Repository
    is_readable: bool

    @property
    def closes_issues(self) -> bool:
        """Whether it is a pull request whose closing keywords take effect when it is merged."""
        return self.issue.is_pull and self.issue.base_branch == self.repository.default_branch


def visible_issues_query(reader: Reader) -> Select[*tuple[Any, ...]]:
    """Return the query for issues with their repositories and whether the reader may read them."""
    readable = visible_to(reader.user, public_only=reader.public_only)
    return (
        select(*COLUMNS, *REPOSITORY, *ISSUE, readable.label("is_readable"))
        .select_from(issues)
        .join(repositories, repositories.c.id == issues.c.repository_id)
        .join(users, users.c.id == repositories.c.owner_id)
    )


def visible_issues_from(rows: Iterable[Row[*tuple[Any, ...]]]) -> Iterator[VisibleIssue]:
    """Build visible issues from rows of `visible_issues_query`; each repository is built once."""
    places: dict[int, Repository] = {}
    for row in rows:
        columns = tuple(row)
        number = columns[WIDTH]
        if number not in places:
            places[number] = repository_from(columns[:PLACE_WIDTH])
        yield VisibleIssue(Issue(*columns[PLACE_WIDTH:END]), places[number], columns[END])


def visible_issues_by_id(connection: Connection, ids: Collection[int], reader: Reader) -> dict[int, VisibleIssue]:
    """Return issues by id; missing ones are left out.

    Many issues have few repositories, whose columns are two thirds of a row, so these are read once.
    """
    readable = visible_to(reader.user, public_only=reader.public_only)
    query = visible_issues_query(reader).with_only_columns(*ISSUE, readable)
    rows: list[Row[*tuple[Any, ...]]] = []
    unique = list(ids)
    for start in range(0, len(unique), MAX_IDS):
        rows += connection.execute(query.where(issues.c.id.in_(unique[start : start + MAX_IDS])))
    found = [(Issue(*columns[:-1]), columns[-1]) for columns in rows]
    places = repositories_by_id(connection, {issue.repository_id for issue, _ in found})
    return {
        issue.id: VisibleIssue(issue, places[issue.repository_id], is_readable) for issue, is_readable in found
    }


def blockers_of(
    database: Database, issue: Issue, reader: Reader, *, skip: int, limit: int
) -> tuple[list[VisibleIssue], int]:
    """Return one page of an issue's blockers, and the total, including those the reader may not read."""
    return related(database, issue, reader, blockers=True, skip=skip, limit=limit)


def blocked_by(
    database: Database, issue: Issue, reader: Reader, *, skip: int, limit: int
) -> tuple[list[VisibleIssue], int]:
    """Return one page of the issues an issue blocks that the reader may read, and the total."""
    return related(database, issue, reader, blockers=False, skip=skip, limit=limit)


def related(
    database: Database, issue: Issue, reader: Reader, *, blockers: bool, skip: int, limit: int
) -> tuple[list[VisibleIssue], int]:
    """Return one page of the other side of an issue's dependencies: same repository first, then newest first.

    Unreadable blockers are listed and counted; unreadable blocked issues are not.
    """
    columns = issue_dependencies.c
    issue_column, others = (
        (columns.issue_id, columns.blocker_id) if blockers else (columns.blocker_id, columns.issue_id)
    )
    shown = true() if blockers else visible_to(reader.user, public_only=reader.public_only)
    query = (
        visible_issues_query(reader)
        .join(issue_dependencies, others == issues.c.id)
        .where(issue_column == issue.id, shown)
    )
    statement = query.add_columns(func.count().over()).order_by(
        case((issues.c.repository_id == issue.repository_id, 0), else_=1),
        issues.c.repository_id,
        issues.c.created_at.desc(),
        issues.c.id.desc(),
    )
    with database.read() as connection:
        rows = connection.execute(statement.offset(skip).limit(limit)).all()
        if rows:
            return list(visible_issues_from(rows)), rows[0][-1]
        # An empty page has no row with the total.
        counted = query.with_only_columns(func.count())
        return [], connection.execute(counted).scalar_one() if skip else 0
