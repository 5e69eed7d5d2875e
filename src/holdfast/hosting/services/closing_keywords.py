"""Issues that commits close, open again or only name, once they have come to the default branch.

What the messages ask for is found out before the transaction that records the move; the transaction then does what
whoever moved the branch may ask for. So neither can be there without the other, and nothing is done twice.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy import Connection

from holdfast.hosting import access
from holdfast.hosting.access import Actor, Unit
from holdfast.hosting.app import App
from holdfast.hosting.errors import GitError, StillBlocked
from holdfast.hosting.git import history
from holdfast.hosting.git.commits import Commit, read_commit
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.services.commit_message_events import Places, Wish, newest, said_in
from holdfast.hosting.services.commit_references import refer
from holdfast.hosting.store import issues, repositories
from holdfast.hosting.store.accounts import Account, accounts_by_id
from holdfast.hosting.store.database import Database, Within
from holdfast.hosting.store.issue_transactions import IssueTransaction, hold_graph, hold_repositories
from holdfast.hosting.store.issues import Issue, Reason
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository

__all__ = ["fulfil", "hold", "wishes_of"]

log = structlog.get_logger(__name__)
# How many commits of one move are read: the newest.
READ: Final = 1000
# How many issues one transaction changes: nobody else writes to SQLite meanwhile.
ISSUES: Final = 300
# How often issues that waited for others are tried again once some of those are closed.
ROUNDS: Final = 10


@dataclass(frozen=True, slots=True)
class Deed:
    """A wish that may be done: the issue it is about, and the change it would be part of."""

    wish: Wish
    change: IssueTransaction
    issue: Issue


def wishes_of(
    app: App, repository: Repository, actor_id: int, move: Move, known: Sequence[Commit] | None
) -> list[Wish]:
    """Return what the commits of a move ask for, oldest first; `known` are these commits where they are at hand.

    A branch that begins brings a history from elsewhere, which has nothing to do with the issues here.
    """
    if move.ref != f"refs/heads/{repository.default_branch}" or not move.changes:
        return []
    try:
        commits = brought(app, repository, move) if known is None else known
        wishes = [Wish(actor_id, one.id, ask) for one in commits for ask in said_in(one.message)]
        return newest(wishes) if wishes else wishes
    except GitError as error:
        # That the branch has moved is told all the same.
        problem = type(error).__name__
        log.warning("new commits cannot be read", repository_id=repository.id, commit=move.new, error=problem)
        return []


def brought(app: App, repository: Repository, move: Move) -> Iterable[Commit]:
    """Read the newest commits a move has brought, oldest first."""
    repo = open_repository(app.folders.existing(repository.id))
    return (read_commit(repo, one) for one in reversed(history.new_commits(repo, move.old, move.new, limit=READ)))


def hold(database: Database, connection: Connection, repository: Repository, wishes: Sequence[Wish]) -> Places:
    """Let nobody else change the issues that wishes are about, before anything else the transaction does."""
    names = {wish.place for wish in wishes} - {("", "")}
    if names or any(wish.ask.closes is not None for wish in wishes):
        hold_graph(connection)
    named = {("", ""): repository.id}
    if names:
        found = repositories.find_repositories(Within(database, connection), names)
        named |= {name: one.id for name, one in found.items()}
    hold_repositories(connection, set(named.values()))
    now = repositories.repositories_by_id(connection, set(named.values()))
    return {name: now[number] for name, number in named.items() if number in now}


def fulfil(
    database: Database, connection: Connection, repository: Repository, places: Places, wishes: Sequence[Wish]
) -> None:
    """Do what the wishes ask for, as far as those whose they are may; what cannot be done fails nothing."""
    asking = [wish for wish in wishes if wish.ask.closes is not None]
    if asking:
        close(database, connection, repository, places, asking)
    refer(database, connection, repository, places, [wish for wish in wishes if wish.ask.closes is None])


def close(
    database: Database, connection: Connection, repository: Repository, places: Places, wishes: Sequence[Wish]
) -> None:
    """Close what the wishes ask for, or open it again."""
    waiting = deeds_of(Within(database, connection), connection, places, wishes)
    for _ in range(ROUNDS):
        before = len(waiting)
        # The other way round each time: issues that wait for one another in a row are often named in that order.
        waiting = [deed for deed in waiting if not is_done(deed, repository)][::-1]
        if not waiting or len(waiting) == before:
            break
    for deed in waiting:
        log.info(
            "a commit would close an issue that has open dependencies",
            repository_id=deed.issue.repository_id,
            issue=deed.issue.number,
            commit=deed.wish.commit_id,
        )


def is_done(deed: Deed, repository: Repository) -> bool:
    """Close an issue or open it again; tell when it cannot be closed yet."""
    reason = Reason(deed.wish.commit_id, repository.id)
    if not deed.wish.ask.closes:
        issues.reopen(deed.change, deed.issue, reason)
        return True
    try:
        issues.close(deed.change, deed.issue, reason)
    except StillBlocked:
        return False
    return True


def deeds_of(database: Database, connection: Connection, places: Places, wishes: Sequence[Wish]) -> list[Deed]:
    """Return what may be done, one thing for each issue: what was asked for last, by the first who did."""
    people = accounts_by_id(connection, {wish.actor_id for wish in wishes})
    writable = {number: writable_by(database, person, places) for number, person in people.items()}
    allowed = [
        (wish, places[wish.place])
        for wish in wishes
        if wish.place in places and places[wish.place].id in writable.get(wish.actor_id, ())
    ]
    if not allowed:
        return []
    now = int(time.time())
    found = issues.find_issues(database, [(place.id, wish.ask.number) for wish, place in allowed])
    deeds: dict[int, Deed] = {}
    for wish, place in allowed:
        issue = found.get((place.id, wish.ask.number))
        if issue is None or issue.is_pull:
            continue
        before = deeds.get(issue.id)
        if before is None or before.wish.ask.closes != wish.ask.closes:
            deeds[issue.id] = Deed(wish, IssueTransaction(connection, place, people[wish.actor_id], now), issue)
    return list(deeds.values())[-ISSUES:]


def writable_by(database: Database, person: Account, places: Places) -> set[int]:
    """Return the repositories whose issues somebody may change."""
    open_to_all = {one.id: one for one in places.values() if not one.archived_at}
    grants = repositories.grants_in(database, person, list(open_to_all.values()))
    return {
        number
        for number, one in open_to_all.items()
        if access.repository_access(Actor(person), one, grants[number]).may_write(Unit.ISSUES)
    }
