"""Issue dependencies: an issue is blocked by another issue, in the same or another repository.

The graph has no cycles. Every transaction that changes dependencies, or closes or deletes a blocker, holds the
graph's lock (`lock_graph`), so this holds under concurrency.

Two kinds of events are recorded, both for the repository of the blocked issue:

- `issue_dependency`, with details `action` (`added` or `removed`), `issue_id` and `blocker_id`.
- `issue_unblocked`, with details `issue_id` and `blocker_id`, when the last open blocker of an open issue was
  closed or deleted; a deleted one cannot be looked up. It is not recorded where dependencies are disabled.

The two issues may be in different repositories: access to one does not imply access to the other.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, delete, exists, func, insert, select

from holdfast.hosting.errors import DependencyCycle, DependencyTaken, GoneMeanwhile, NoSuchDependency, StillBlocked
from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.dependency_graph import find_cycle
from holdfast.hosting.store.issue_transactions import Issue, IssueTransaction, issue_transaction, lock_graph
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import ALLOWS_DEPENDENCIES, Repository
from holdfast.hosting.store.tables import issue_dependencies, issues, repositories, users

__all__ = [
    "HAS_OPEN_BLOCKER",
    "UnblockedIssue",
    "add_dependency",
    "delete_dependencies",
    "record_unblocked",
    "record_unblocked_by_deletion",
    "refuse_while_blocked",
    "remove_dependency",
    "set_dependencies",
    "unblocked_without",
]

blockers = issues.alias("blockers")
leaving = issues.alias("leaving")
OPEN_BLOCKER: Final = (
    exists()
    .where(
        issue_dependencies.c.issue_id == issues.c.id,
        issue_dependencies.c.blocker_id == blockers.c.id,
        ~blockers.c.is_closed,
    )
    .correlate(issues)
)
# For a row of `issues` joined with `repositories`: whether it has an open blocker.
HAS_OPEN_BLOCKER: Final[ColumnElement[bool]] = and_(ALLOWS_DEPENDENCIES, OPEN_BLOCKER)


@dataclass(frozen=True, slots=True)
class UnblockedIssue:
    """An issue that has lost its last open blocker."""

    issue_id: int
    blocker_id: int
    repository_id: int
    owner_id: int


def add_dependency(
    database: Database, repository: Repository, issue: Issue, blocker: Issue, *, actor: Account
) -> None:
    """Add a blocker to an issue."""
    with issue_transaction(database, repository, actor, graph=True) as change:
        check_allowed(change)
        if blocker.id in blockers_of(change.connection, issue):
            raise DependencyTaken(dependency_message(issue, blocker, "does already exist"))
        add(change, issue, [blocker.id])


def remove_dependency(
    database: Database, repository: Repository, issue: Issue, blocker: Issue, *, actor: Account
) -> None:
    """Remove a blocker from an issue."""
    with issue_transaction(database, repository, actor, graph=True) as change:
        check_allowed(change)
        if blocker.id not in blockers_of(change.connection, issue):
            raise NoSuchDependency(dependency_message(issue, blocker, "does not exist"))
        remove(change, issue, [blocker.id])


def set_dependencies(
    database: Database,
    repository: Repository,
    issue: Issue,
    blocker_ids: Sequence[Issue],
    *,
    actor: Account,
    removable: ColumnElement[bool],
) -> None:
    """Replace the blockers of an issue; existing ones that are not `removable` stay.

    `removable` is a condition on `issues`, `repositories` and their owners in `users`.
    """
    with issue_transaction(database, repository, actor, graph=True) as change:
        check_allowed(change)
        had = blockers_of(change.connection, issue)
        may_go = blockers_of(change.connection, issue, removable)
        ids = list(dict.fromkeys(blocker.id for blocker in blocker_ids))
        remove(change, issue, [number for number in may_go if number not in ids])
        add(change, issue, [number for number in ids if number not in had])


def dependency_message(issue: Issue, blocker: Issue, problem: str) -> str:
    """Return the message for a dependency that exists already, or does not exist."""
    return f"issue dependency {problem} [issue id: {issue.id}, dependency id: {blocker.id}]"


def check_allowed(change: IssueTransaction) -> None:
    """Raise `GoneMeanwhile` if the repository was archived or dependencies were disabled in the meantime."""
    allowed = select(repositories.c.id).where(
        repositories.c.id == change.repository.id, repositories.c.archived_at == 0, ALLOWS_DEPENDENCIES
    )
    if change.connection.execute(allowed).one_or_none() is None:
        raise GoneMeanwhile("not found")


def blockers_of(connection: Connection, issue: Issue, condition: ColumnElement[bool] | None = None) -> list[int]:
    """Return the ids of an issue's blockers."""
    statement = select(issue_dependencies.c.blocker_id).where(issue_dependencies.c.issue_id == issue.id)
    if condition is not None:
        statement = (
            statement.join(issues, issues.c.id == issue_dependencies.c.blocker_id)
            .join(repositories, repositories.c.id == issues.c.repository_id)
            .join(users, users.c.id == repositories.c.owner_id)
            .where(condition)
        )
    return list(connection.execute(statement).scalars())


def add(change: IssueTransaction, issue: Issue, ids: Sequence[int]) -> None:
    """Add blockers in an open transaction; raise `DependencyCycle` if that would close a cycle."""
    if not ids:
        return
    path = find_cycle(change.connection, issue.id, ids)
    if path:
        raise DependencyCycle(path)
    row = {"issue_id": issue.id, "actor_id": change.actor.id, "created_at": change.now}
    change.connection.execute(insert(issue_dependencies), [{**row, "blocker_id": number} for number in ids])
    record_changes(change, issue, ids, kind="add_dependency", action="added")


def remove(change: IssueTransaction, issue: Issue, ids: Sequence[int]) -> None:
    """Remove blockers in an open transaction."""
    if not ids:
        return
    change.connection.execute(
        delete(issue_dependencies).where(
            issue_dependencies.c.issue_id == issue.id, issue_dependencies.c.blocker_id.in_(ids)
        )
    )
    record_changes(change, issue, ids, kind="remove_dependency", action="removed")


def record_changes(change: IssueTransaction, issue: Issue, ids: Sequence[int], *, kind: str, action: str) -> None:
    """Add timeline entries to both issues of each dependency, and record the event."""
    change.add_entries_to(
        kind,
        [
            entry
            for number in ids
            for entry in (
                (issue.id, "", {"dependent_issue_id": number}),
                (number, "", {"dependent_issue_id": issue.id}),
            )
        ],
    )
    for number in ids:
        events.record(
            change.connection,
            "issue_dependency",
            owner_id=change.repository.owner.id,
            repository_id=change.repository.id,
            actor_id=change.actor.id,
            details={"action": action, "issue_id": issue.id, "blocker_id": number},
            now=change.now,
        )


def refuse_while_blocked(change: IssueTransaction, issue: Issue) -> None:
    """Raise `StillBlocked` if an issue has open blockers."""
    if WAITS.read(change.connection, id=issue.id):
        raise StillBlocked("cannot close this issue or pull request because it still has open dependencies")


def unblocked_without(connection: Connection, gone: Issue | Sequence[int]) -> list[UnblockedIssue]:
    """Return the open issues that lose their last open blocker when an issue or repositories are removed.

    Must be called before the removal; repositories are given by id.
    """
    if isinstance(gone, Issue):
        return [UnblockedIssue(*row) for row in UNBLOCKED_WITHOUT_ISSUE.read(connection, gone=gone.id)]
    leaves = and_(leaving.c.repository_id.in_(gone), issues.c.repository_id.not_in(gone))
    statement = unblocked_query(leaves, blockers.c.repository_id.not_in(gone))
    return [UnblockedIssue(*row) for row in connection.execute(statement)]


def unblocked_query(leaves: ColumnElement[bool], stays: ColumnElement[bool]) -> Select[*tuple[Any, ...]]:
    """Return the query for open issues whose last open blocker is removed."""
    others = issue_dependencies.alias("others")
    waits_for = issue_dependencies.c.blocker_id
    remaining = exists().where(
        others.c.issue_id == issues.c.id,
        others.c.blocker_id == blockers.c.id,
        ~blockers.c.is_closed,
        stays,
    )
    return (
        select(issues.c.id, func.max(waits_for), repositories.c.id, repositories.c.owner_id)
        .select_from(
            issue_dependencies.join(leaving, leaving.c.id == waits_for)
            .join(issues, issues.c.id == issue_dependencies.c.issue_id)
            .join(repositories, repositories.c.id == issues.c.repository_id)
        )
        .where(leaves, ~leaving.c.is_closed)
        .where(~issues.c.is_closed, ALLOWS_DEPENDENCIES, ~remaining)
        .group_by(issues.c.id, repositories.c.id, repositories.c.owner_id)
        .order_by(issues.c.id)
    )


# Prepared: building a statement takes longer than running it.
WAITS = Statement(
    select(issues.c.id)
    .join(repositories, repositories.c.id == issues.c.repository_id)
    .where(issues.c.id == bindparam("id"), HAS_OPEN_BLOCKER)
)
UNBLOCKED_WITHOUT_ISSUE = Statement(
    unblocked_query(leaving.c.id == bindparam("gone"), blockers.c.id != bindparam("gone"))
)


def record_unblocked_by_deletion(connection: Connection, ids: Sequence[int], actor: Account) -> None:
    """Record which issues become unblocked when repositories are deleted; must be called before the deletion."""
    lock_graph(connection)
    unblocked = unblocked_without(connection, ids)
    delete_dependencies(connection, ids)
    record_unblocked(connection, unblocked, actor, int(time.time()))


def delete_dependencies(connection: Connection, gone: Issue | Sequence[int]) -> None:
    """Delete the dependencies on an issue, or on the issues of repositories, that are about to be deleted."""
    if isinstance(gone, Issue):
        leaves = issue_dependencies.c.blocker_id == gone.id
    else:
        of_theirs = select(issues.c.id).where(issues.c.repository_id.in_(gone))
        leaves = issue_dependencies.c.blocker_id.in_(of_theirs)
    connection.execute(delete(issue_dependencies).where(leaves))


def record_unblocked(
    connection: Connection, unblocked_issues: Sequence[UnblockedIssue], actor: Account, now: int
) -> None:
    """Record that issues have lost their last open blocker."""
    for unblocked_issue in unblocked_issues:
        events.record(
            connection,
            "issue_unblocked",
            owner_id=unblocked_issue.owner_id,
            repository_id=unblocked_issue.repository_id,
            actor_id=actor.id,
            details={"issue_id": unblocked_issue.issue_id, "blocker_id": unblocked_issue.blocker_id},
            now=now,
        )
