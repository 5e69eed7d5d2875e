"""Issues as rows, and one change to those of a repository: who makes it, when, and in which transaction.

Everything that changes issues opens its transaction here. The repository's row is locked first, so that numbers,
counters and rules such as "one label of a scope" need no lock of their own, and two changes never wait for each
other in a circle.
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
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import comments, issues, repositories

__all__ = ["ISSUE", "Issue", "IssueTransaction", "changing", "hold_graph", "hold_repositories"]

Details = Mapping[str, object]
# The first byte keeps it apart from locks of other kinds.
GRAPH: Final = 0x47 << 56


@dataclass(frozen=True, slots=True)
class Issue:
    """One issue or pull request; the fields are the columns of the table, in this order."""

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


ISSUE: Final = tuple(issues.c[name] for name in Issue.__dataclass_fields__)
# Every change runs this; building a statement takes longer than running it.
HOLD_ONE = Statement(
    select(repositories.c.id).where(repositories.c.id == bindparam("id")).with_for_update(key_share=True)
)


@dataclass(frozen=True, slots=True)
class IssueTransaction:
    """A change while it is being made."""

    connection: Connection
    repository: Repository
    actor: Account
    now: int

    def note(self, issue: Issue, kind: str, entries: Sequence[tuple[str, Details]] = (("", {}),)) -> None:
        """Put entries on an issue's timeline, each a body and details; the issue counts as changed."""
        self.note_on(kind, [(issue.id, body, details) for body, details in entries])

    def note_on(self, kind: str, entries: Sequence[tuple[int, str, Details]]) -> None:
        """Put entries on the timelines of several issues, each the issue's id, a body and details."""
        if not entries:
            return
        rows = [
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
        self.connection.execute(insert(comments), rows)
        changed = issues.c.id.in_({number for number, _, _ in entries})
        self.connection.execute(update(issues).where(changed).values(updated_at=self.now))

    def touch(self, issue: Issue) -> None:
        """Mark an issue as changed now."""
        self.connection.execute(update(issues).where(issues.c.id == issue.id).values(updated_at=self.now))

    def tell(self, issue: Issue, part: str, action: str, **details: object) -> None:
        """Record the event others are told of; `part` is empty, `assign`, `label`, `milestone` or `comment`."""
        whole, prefix = ("pull_request", "pull_request") if issue.is_pull else ("issues", "issue")
        facts = {"action": action, "issue_id": issue.id, "number": issue.number, "is_pull": issue.is_pull}
        events.record(
            self.connection,
            f"{prefix}_{part}" if part else whole,
            owner_id=self.repository.owner.id,
            repository_id=self.repository.id,
            actor_id=self.actor.id,
            details={**facts, **details},
            now=self.now,
        )


def hold_graph(connection: Connection) -> None:
    """Let nobody else change which issue waits for which until the transaction ends.

    The relations of all repositories are one graph: two changes in different repositories could close a circle
    together, or each take the last blocker but one. Whoever needs this lock takes it before any other, so nobody
    waits for it who is waited for. On SQLite a transaction that writes is alone anyway.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": GRAPH})


def hold_repositories(connection: Connection, ids: Collection[int]) -> int:
    """Let nobody else change the issues of repositories until the transaction ends; return how many are there.

    Whoever holds more than one holds the graph too.
    """
    columns = repositories.c
    held = select(columns.id).where(columns.id.in_(ids)).order_by(columns.id).with_for_update(key_share=True)
    return len(connection.execute(held).all())


@contextmanager
def changing(
    database: Database, repository: Repository, actor: Account, *, graph: bool = False
) -> Iterator[IssueTransaction]:
    """Open a transaction in which nobody else changes the issues of a repository.

    With `graph`, nobody changes meanwhile which issue waits for which either, whatever repository they are in.
    """
    try:
        with database.write() as connection:
            if graph:
                hold_graph(connection)
            if not HOLD_ONE.read(connection, id=repository.id):
                raise NoSuchRepository(f"the repository {repository.full_name} was deleted meanwhile")
            yield IssueTransaction(connection, repository, actor, int(time.time()))
    except IntegrityError as error:
        # Nothing that is written here can clash with a row that is there, so something it points to is gone.
        raise GoneMeanwhile("something this names was deleted meanwhile") from error
