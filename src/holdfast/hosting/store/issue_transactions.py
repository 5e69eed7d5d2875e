"""Issues, and the transaction that changes the issues of one repository.

All changes of issues open their transaction here. It locks the repository's row first, so that numbers,
counters and rules such as one label per scope need no further locks, and there are no deadlocks.
"""

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, NoSuchRepository
from holdfast.hosting.store import events
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.notification_writes import notify
from holdfast.hosting.store.prepared_statements import Bind, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import comments, issues, repositories

__all__ = ["ISSUE", "Issue", "IssueTransaction", "issue_transaction", "lock_graph", "lock_repository_rows"]

Details = Mapping[str, object]
# The key of the graph's advisory lock; the first byte separates it from other locks.
GRAPH: Final = 0x47 << 56


@dataclass(frozen=True, slots=True)
class Issue:
    """An issue or pull request; the fields are the columns of the table, in this order."""

    id: int
    repository_id: int
    number: int
    is_pull: bool
    author_id: int | None
    title: str
    body: str
    ref: str
    milestone_id: int | None
    is_closed: bool
    is_locked: bool
    lock_reason: str
    due_at: int
    closed_at: int
    created_at: int
    updated_at: int
    content_version: int
    time_estimate: int
    comment_count: int
    pin_order: int
    head_branch: str
    base_branch: str
    head_sha: str
    base_sha: str
    is_draft: bool
    merged_at: int
    head_repository_id: int | None = None
    """The repository of the head branch; None for an issue, and once that repository is deleted."""
    original_author: str = ""
    """The original name of the author, if it was migrated."""


ISSUE: Final = tuple(issues.c[name] for name in Issue.__dataclass_fields__)
# Prepared: building a statement takes longer than running it.
LOCK_REPOSITORY = Statement(
    select(repositories.c.id).where(repositories.c.id == bindparam("id")).with_for_update(key_share=True)
)
ENTRY: Final = ("issue_id", "kind", "author_id", "body", "details", "created_at", "updated_at")
ADD_ENTRY = Statement(insert(comments).values({name: bindparam(name) for name in ENTRY}))
TOUCH = Statement(update(issues).where(issues.c.id == bindparam("number")).values(updated_at=bindparam("now")))


@dataclass(frozen=True, slots=True)
class IssueTransaction:
    """An open transaction that changes the issues of a repository."""

    connection: Connection
    repository: Repository
    actor: Account
    now: int

    def add_entries(self, issue: Issue, kind: str, entries: Sequence[tuple[str, Details]] = (("", {}),)) -> None:
        """Add entries (body, details) to an issue's timeline, and mark the issue as updated."""
        self.add_entries_to(kind, [(issue.id, body, details) for body, details in entries])

    def add_entries_to(self, kind: str, entries: Sequence[tuple[int, str, Details]]) -> None:
        """Add entries (issue id, body, details) to the timelines of several issues."""
        if not entries:
            return
        rows: list[dict[str, Bind]] = [
            {
                "issue_id": number,
                "kind": kind,
                "author_id": self.actor.id,
                "body": body,
                "details": msgspec.json.encode(details).decode(),
                "created_at": self.now,
                "updated_at": self.now,
            }
            for number, body, details in entries
        ]
        changed = dict.fromkeys(number for number, _, _ in entries)
        if len(rows) == 1:
            ADD_ENTRY.run(self.connection, **rows[0])
        else:
            ADD_ENTRY.run_many(self.connection, rows)
        if len(changed) == 1:
            TOUCH.run(self.connection, number=entries[0][0], now=self.now)
        else:
            TOUCH.run_many(self.connection, [{"number": number, "now": self.now} for number in changed])

    def touch(self, issue: Issue) -> None:
        """Mark an issue as updated now."""
        TOUCH.run(self.connection, number=issue.id, now=self.now)

    def record_event(self, issue: Issue, part: str, action: str, **details: object) -> None:
        """Record the event; `part` is empty, `assign`, `label`, `milestone` or `comment`."""
        main_kind, prefix = ("pull_request", "pull_request") if issue.is_pull else ("issues", "issue")
        facts = {"action": action, "issue_id": issue.id, "number": issue.number, "is_pull": issue.is_pull}
        events.record(
            self.connection,
            f"{prefix}_{part}" if part else main_kind,
            owner_id=self.repository.owner.id,
            repository_id=self.repository.id,
            actor_id=self.actor.id,
            details={**facts, **details},
            now=self.now,
        )
        if action != "deleted":
            notify(
                self.connection,
                repository_id=self.repository.id,
                issue_id=issue.id,
                actor_id=self.actor.id,
                part=part,
                action=action,
                details=details,
                now=self.now,
            )


def lock_graph(connection: Connection) -> None:
    """Lock the dependency graph until the transaction ends (advisory lock).

    The dependencies of all repositories form one graph: concurrent changes in two repositories could close a cycle
    together. The lock is taken before any other, so there are no deadlocks. On SQLite a write transaction is
    exclusive anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": GRAPH})


def lock_repository_rows(connection: Connection, ids: Collection[int]) -> int:
    """Lock the rows of repositories until the transaction ends, and return how many exist.

    With more than one, the caller must hold the graph's lock too.
    """
    if len(ids) == 1:
        return len(LOCK_REPOSITORY.read(connection, id=next(iter(ids))))
    columns = repositories.c
    held = select(columns.id).where(columns.id.in_(ids)).order_by(columns.id).with_for_update(key_share=True)
    return len(connection.execute(held).all())


@contextmanager
def issue_transaction(
    database: Database,
    repository: Repository,
    actor: Account,
    *,
    graph: bool = False,
    others: Collection[int] = (),
) -> Iterator[IssueTransaction]:
    """Open a transaction that locks the issues of a repository.

    With `graph` it also locks the dependency graph of all repositories, and with `others` that and the issues of
    other repositories, by id, as far as they exist.
    """
    try:
        with database.write() as connection:
            if graph or others:
                lock_graph(connection)
            if others:
                lock_repository_rows(connection, {repository.id, *others})
            if not LOCK_REPOSITORY.read(connection, id=repository.id):
                raise NoSuchRepository(f"the repository {repository.full_name} was deleted in the meantime")
            yield IssueTransaction(connection, repository, actor, int(time.time()))
    except IntegrityError as error:
        # No unique constraint can fail here, so a foreign key did: something referred to was deleted.
        raise GoneMeanwhile("something this refers to was deleted in the meantime") from error
