"""Dependencies: that an issue waits for another, its blocker, wherever that one is.

Following blockers never leads back to where one began. What changes the relations, closes a blocker or deletes one
holds the lock of the whole graph (`hold_graph`), so this is true whoever does something at the same time.

Two kinds of events come from here, both recorded for the repository of the issue that waits:

- `issue_dependency`, with details `action` (`added` or `removed`), `issue_id` and `blocker_id`.
- `issue_unblocked`, with details `issue_id` and `blocker_id`, when the last open blocker of an open issue was
  closed or deleted; one that was deleted cannot be looked up any more. Where dependencies are switched off nothing
  waits, and nothing is told.

The two issues may be in different repositories: who may be told of one may not be allowed to read the other.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, insert, select

from holdfast.hosting.errors import DependencyCycle, DependencyTaken, GoneMeanwhile, NoSuchDependency, StillBlocked
from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.dependency_graph import find_cycle
from holdfast.hosting.store.issue_transactions import Issue, IssueTransaction, changing, hold_graph
from holdfast.hosting.store.repositories import ALLOWS_DEPENDENCIES, Repository
from holdfast.hosting.store.tables import issue_dependencies, issues, repositories, users

__all__ = [
    "HAS_OPEN_BLOCKER",
    "Unblocked",
    "add_dependency",
    "drop_relations",
    "leave_graph",
    "refuse_while_blocked",
    "remove_dependency",
    "set_dependencies",
    "tell_unblocked",
    "unblocked_without",
]

blockers = issues.alias("blockers")
OPEN_BLOCKER: Final = (
    exists()
    .where(
        issue_dependencies.c.issue_id == issues.c.id,
        issue_dependencies.c.blocker_id == blockers.c.id,
        ~blockers.c.is_closed,
    )
    .correlate(issues)
)
# Of a row of `issues` with its row of `repositories`: whether it waits for one that is open.
HAS_OPEN_BLOCKER: Final[ColumnElement[bool]] = and_(ALLOWS_DEPENDENCIES, OPEN_BLOCKER)


@dataclass(frozen=True, slots=True)
class Unblocked:
    """An issue that has lost its last open blocker."""

    issue_id: int
    blocker_id: int
    repository_id: int
    owner_id: int


def add_dependency(
    database: Database, repository: Repository, issue: Issue, blocker: Issue, *, actor: Account
) -> None:
    """Let an issue wait for another."""
    with changing(database, repository, actor, graph=True) as change:
        check_allowed(change)
        if blocker.id in blockers_of(change.connection, issue):
            raise DependencyTaken(named(issue, blocker, "does already exist"))
        add(change, issue, [blocker.id])


def remove_dependency(
    database: Database, repository: Repository, issue: Issue, blocker: Issue, *, actor: Account
) -> None:
    """Let an issue not wait for another any more."""
    with changing(database, repository, actor, graph=True) as change:
        check_allowed(change)
        if blocker.id not in blockers_of(change.connection, issue):
            raise NoSuchDependency(named(issue, blocker, "does not exist"))
        remove(change, issue, [blocker.id])


def set_dependencies(
    database: Database,
    repository: Repository,
    issue: Issue,
    wanted: Sequence[Issue],
    *,
    actor: Account,
    removable: ColumnElement[bool],
) -> None:
    """Let an issue wait for exactly these; of those it waits for now, what is not `removable` stays.

    The condition is one on `issues`, `repositories` and their owners in `users`.
    """
    with changing(database, repository, actor, graph=True) as change:
        check_allowed(change)
        had = blockers_of(change.connection, issue)
        may_go = blockers_of(change.connection, issue, removable)
        ids = list(dict.fromkeys(one.id for one in wanted))
        remove(change, issue, [number for number in may_go if number not in ids])
        add(change, issue, [number for number in ids if number not in had])


def named(issue: Issue, blocker: Issue, problem: str) -> str:
    """Say which relation is not as it should be."""
    return f"issue dependency {problem} [issue id: {issue.id}, dependency id: {blocker.id}]"


def check_allowed(change: IssueTransaction) -> None:
    """Refuse to touch the relations of a repository that was archived or has them switched off meanwhile."""
    allowed = select(repositories.c.id).where(
        repositories.c.id == change.repository.id, repositories.c.archived_at == 0, ALLOWS_DEPENDENCIES
    )
    if change.connection.execute(allowed).one_or_none() is None:
        raise GoneMeanwhile("not found")


def blockers_of(connection: Connection, issue: Issue, condition: ColumnElement[bool] | None = None) -> list[int]:
    """Return the ids of what an issue waits for."""
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
    """Let an issue wait for others it does not wait for yet, unless that closes a circle."""
    if not ids:
        return
    path = find_cycle(change.connection, issue.id, ids)
    if path:
        raise DependencyCycle(path)
    made = {"issue_id": issue.id, "actor_id": change.actor.id, "created_at": change.now}
    change.connection.execute(insert(issue_dependencies), [{**made, "blocker_id": number} for number in ids])
    tell(change, issue, ids, kind="add_dependency", action="added")


def remove(change: IssueTransaction, issue: Issue, ids: Sequence[int]) -> None:
    """Let an issue not wait for others it waits for."""
    if not ids:
        return
    change.connection.execute(
        delete(issue_dependencies).where(
            issue_dependencies.c.issue_id == issue.id, issue_dependencies.c.blocker_id.in_(ids)
        )
    )
    tell(change, issue, ids, kind="remove_dependency", action="removed")


def tell(change: IssueTransaction, issue: Issue, ids: Sequence[int], *, kind: str, action: str) -> None:
    """Say on the timelines of both issues what became of each relation, and record it for others."""
    change.note_on(
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
    """Refuse to close an issue that waits for one that is open."""
    waits = (
        select(issues.c.id)
        .join(repositories, repositories.c.id == issues.c.repository_id)
        .where(issues.c.id == issue.id, HAS_OPEN_BLOCKER)
    )
    if change.connection.execute(waits).one_or_none() is not None:
        raise StillBlocked("cannot close this issue or pull request because it still has open dependencies")


def unblocked_without(connection: Connection, gone: Issue | Sequence[int]) -> list[Unblocked]:
    """Return the open issues that lose their last open blocker when an issue closes, or when repositories go.

    To be asked before that happens; the repositories are given by their ids.
    """
    leaving = issues.alias("leaving")
    if isinstance(gone, Issue):
        leaves = leaving.c.id == gone.id
        stays = blockers.c.id != gone.id
    else:
        leaves = and_(leaving.c.repository_id.in_(gone), issues.c.repository_id.not_in(gone))
        stays = blockers.c.repository_id.not_in(gone)
    others = issue_dependencies.alias("others")
    waits_for = issue_dependencies.c.blocker_id
    remaining = exists().where(
        others.c.issue_id == issues.c.id,
        others.c.blocker_id == blockers.c.id,
        ~blockers.c.is_closed,
        stays,
    )
    statement = (
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
    return [Unblocked(*row) for row in connection.execute(statement)]


def leave_graph(connection: Connection, ids: Sequence[int], actor: Account) -> None:
    """Tell who waits no more when repositories are removed, which must be the next thing the transaction does."""
    hold_graph(connection)
    unblocked = unblocked_without(connection, ids)
    drop_relations(connection, ids)
    tell_unblocked(connection, unblocked, actor, int(time.time()))


def drop_relations(connection: Connection, gone: Issue | Sequence[int]) -> None:
    """Let nothing wait any more for an issue, or for those of repositories, that are about to be deleted."""
    if isinstance(gone, Issue):
        leaves = issue_dependencies.c.blocker_id == gone.id
    else:
        of_theirs = select(issues.c.id).where(issues.c.repository_id.in_(gone))
        leaves = issue_dependencies.c.blocker_id.in_(of_theirs)
    connection.execute(delete(issue_dependencies).where(leaves))


def tell_unblocked(connection: Connection, found: Sequence[Unblocked], actor: Account, now: int) -> None:
    """Record that issues have lost their last open blocker."""
    for one in found:
        events.record(
            connection,
            "issue_unblocked",
            owner_id=one.owner_id,
            repository_id=one.repository_id,
            actor_id=actor.id,
            details={"issue_id": one.issue_id, "blocker_id": one.blocker_id},
            now=now,
        )
