"""Inserts migrated issues and releases: with their original numbers and times, and without events."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from holdfast.hosting.store.tables import (
    attachments,
    comments,
    issue_assignees,
    issue_dependencies,
    issues,
    labels,
    milestones,
    releases,
    repositories,
)

__all__ = [
    "add_assignees",
    "add_comments",
    "add_dependencies",
    "add_issues",
    "add_labels",
    "add_milestones",
    "add_release_file",
    "add_releases",
    "recount",
]

Row = Mapping[str, Any]


def add_labels(connection: Connection, rows: Sequence[Row]) -> dict[str, int]:
    """Add labels, and return their ids by name."""
    statement = insert(labels).returning(labels.c.name, labels.c.id)
    return {row[0]: row[1] for row in connection.execute(statement, list(rows))} if rows else {}


def add_milestones(connection: Connection, rows: Sequence[Row]) -> dict[str, int]:
    """Add milestones, and return their ids by title."""
    statement = insert(milestones).returning(milestones.c.title, milestones.c.id)
    return {row[0]: row[1] for row in connection.execute(statement, list(rows))} if rows else {}


def add_issues(connection: Connection, rows: Sequence[Row]) -> dict[int, int]:
    """Add issues, and return their ids by number."""
    statement = insert(issues).returning(issues.c.number, issues.c.id)
    return {row[0]: row[1] for row in connection.execute(statement, list(rows))} if rows else {}


def add_assignees(connection: Connection, pairs: Sequence[tuple[int, int]]) -> None:
    """Assign users to issues."""
    if pairs:
        connection.execute(
            insert(issue_assignees), [{"issue_id": issue, "user_id": user} for issue, user in pairs]
        )


def add_comments(connection: Connection, rows: Sequence[Row]) -> None:
    """Add comments."""
    if rows:
        connection.execute(insert(comments), list(rows))


def add_dependencies(connection: Connection, rows: Sequence[Row]) -> None:
    """Add dependencies; the caller has checked that there is no cycle."""
    if rows:
        connection.execute(insert(issue_dependencies), list(rows))


def add_releases(connection: Connection, rows: Sequence[Row]) -> dict[str, int]:
    """Add releases, and return their ids by tag."""
    statement = insert(releases).returning(releases.c.tag_name, releases.c.id)
    return {row[0]: row[1] for row in connection.execute(statement, list(rows))} if rows else {}


def add_release_file(connection: Connection, row: Row) -> None:
    """Add the row of a file of a release."""
    connection.execute(insert(attachments), [row])


def recount(connection: Connection, repository_id: int) -> None:
    """Set the counters of a repository and of its issues after an import."""
    written = (
        select(func.count())
        .select_from(comments)
        .where(comments.c.issue_id == issues.c.id, comments.c.kind == "comment")
        .scalar_subquery()
    )
    in_repository = issues.c.repository_id == repository_id
    connection.execute(update(issues).where(in_repository).values(comment_count=written))
    here = comments.c.issue_id.in_(select(issues.c.id).where(in_repository))
    connection.execute(
        update(comments).where(here, comments.c.kind == "comment").values(repository_id=repository_id)
    )
    counted = select(func.count()).select_from(issues).where(in_repository, ~issues.c.is_pull)
    last = select(func.coalesce(func.max(issues.c.number), 0)).where(in_repository)
    published = (
        select(func.count())
        .select_from(releases)
        .where(releases.c.repository_id == repository_id, ~releases.c.is_draft)
    )
    connection.execute(
        update(repositories)
        .where(repositories.c.id == repository_id)
        .values(
            open_issues=counted.where(~issues.c.is_closed).scalar_subquery(),
            closed_issues=counted.where(issues.c.is_closed).scalar_subquery(),
            last_issue=last.scalar_subquery(),
            release_count=published.scalar_subquery(),
        )
    )
