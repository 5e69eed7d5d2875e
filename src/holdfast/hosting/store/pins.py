"""Pinned issues and pull requests of a repository: a few of each kind, ordered."""

from typing import Final

from sqlalchemy import Connection, select, update

from holdfast.hosting.errors import TooManyPins
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.issue_transactions import ISSUE, Issue, issue_transaction
from holdfast.hosting.store.issues import refresh_issue
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import issues

__all__ = ["MOST_PINS", "move_pin", "pin_issue", "pinned_issues", "unpin_issue"]

MOST_PINS: Final = 3
"""The maximum number of pinned issues, and of pinned pull requests, per repository."""


def pinned_issues(database: Database, repository: Repository, *, is_pull: bool) -> list[Issue]:
    """Return the pinned issues or pull requests of a repository, in their order."""
    with database.read() as connection:
        return pinned_in(connection, repository, is_pull=is_pull)


def pinned_in(connection: Connection, repository: Repository, *, is_pull: bool) -> list[Issue]:
    """Return the pinned issues or pull requests of a repository, in a transaction."""
    # Relies on the partial index ix_issues_repository_id_pin_order.
    kind = issues.c.is_pull if is_pull else ~issues.c.is_pull
    statement = select(*ISSUE).where(issues.c.repository_id == repository.id, issues.c.pin_order > 0, kind)
    return [Issue(*row) for row in connection.execute(statement.order_by(issues.c.pin_order, issues.c.id))]


def set_order(connection: Connection, order: list[Issue]) -> None:
    """Write the positions of pinned issues, from 1 in this order."""
    for place, issue in enumerate(order, start=1):
        if issue.pin_order != place:
            connection.execute(update(issues).where(issues.c.id == issue.id).values(pin_order=place))


def pin_issue(database: Database, repository: Repository, issue: Issue, actor: Account) -> None:
    """Pin an issue after the others; idempotent."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        if issue.pin_order:
            return
        order = pinned_in(change.connection, repository, is_pull=issue.is_pull)
        if len(order) >= MOST_PINS:
            raise TooManyPins(MOST_PINS)
        set_order(change.connection, [*order, issue])
        change.add_entries(issue, "pin")


def unpin_issue(database: Database, repository: Repository, issue: Issue, actor: Account) -> None:
    """Unpin an issue; does nothing if it is not pinned."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        if not issue.pin_order:
            return
        order = pinned_in(change.connection, repository, is_pull=issue.is_pull)
        change.connection.execute(update(issues).where(issues.c.id == issue.id).values(pin_order=0))
        set_order(change.connection, [pinned for pinned in order if pinned.id != issue.id])
        change.add_entries(issue, "unpin")


def move_pin(database: Database, repository: Repository, issue: Issue, actor: Account, *, position: int) -> None:
    """Move a pinned issue to a position, counted from 1; beyond the last it becomes the last."""
    with issue_transaction(database, repository, actor) as change:
        issue = refresh_issue(change.connection, repository, issue)
        if not issue.pin_order:
            return
        order = pinned_in(change.connection, repository, is_pull=issue.is_pull)
        others = [pinned for pinned in order if pinned.id != issue.id]
        others.insert(position - 1, issue)
        set_order(change.connection, others)
