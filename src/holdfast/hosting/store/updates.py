"""What happens to refs, kept so that none of it is lost: what is about to move is written first, what moved after.

A row that is not done says that a ref was about to move. Whoever finds one whose process is gone looks at the ref
and either records what happened or removes the row.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select, update

from holdfast.hosting.store import events
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import ref_updates

__all__ = ["Move", "Pending", "announce", "forget", "pending_updates", "record_moves"]

BRANCHES = "refs/heads/"
TAGS = "refs/tags/"


@dataclass(frozen=True, slots=True)
class Move:
    """A ref that goes from one id to another; an id of zeros is no ref."""

    ref: str
    old: str
    new: str

    @property
    def creates(self) -> bool:
        """Whether there was no such ref."""
        return not self.old.strip("0")

    @property
    def deletes(self) -> bool:
        """Whether there is no such ref afterwards."""
        return not self.new.strip("0")


@dataclass(frozen=True, slots=True)
class Pending:
    """A move that was announced, and not settled yet."""

    id: int
    repository_id: int
    actor_id: int | None
    move: Move
    created_at: int


def announce(database: Database, repository: Repository, actor_id: int, moves: Sequence[Move]) -> list[int]:
    """Write down what is about to happen, before it happens; return the numbers of the rows."""
    now = int(time.time())
    rows = [
        {
            "repository_id": repository.id,
            "actor_id": actor_id,
            "ref": move.ref,
            "old": move.old,
            "new": move.new,
            "created_at": now,
        }
        for move in moves
    ]
    with database.write() as connection:
        return list(connection.execute(insert(ref_updates).returning(ref_updates.c.id), rows).scalars())


def record_moves(
    connection: Connection,
    repository: Repository,
    actor_id: int | None,
    moves: Sequence[Move],
    *,
    now: int | None = None,
) -> None:
    """Record the events of refs that have moved: creating comes before pushing; deleting a branch is no push."""
    for move in moves:
        kind = "tag" if move.ref.startswith(TAGS) else "branch" if move.ref.startswith(BRANCHES) else ""
        if not kind:
            continue
        details = {"ref": move.ref, "before": move.old, "after": move.new}
        kinds: list[str] = []
        if kind == "branch":
            kinds = ["delete"] if move.deletes else (["create"] if move.creates else []) + ["push"]
        else:
            kinds = ["push", "delete"] if move.deletes else ["push", *(["create"] if move.creates else [])]
        for event in kinds:
            events.record(
                connection,
                event,
                owner_id=repository.owner.id,
                repository_id=repository.id,
                actor_id=actor_id,
                details={**details, "ref_type": kind},
                now=now,
            )


def finish(connection: Connection, numbers: Sequence[int]) -> None:
    """Mark announcements as settled."""
    connection.execute(update(ref_updates).where(ref_updates.c.id.in_(numbers)).values(is_done=True))


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove announcements of what did not happen."""
    connection.execute(delete(ref_updates).where(ref_updates.c.id.in_(numbers)))


def pending_updates(database: Database, *, before: int) -> list[Pending]:
    """Return what was announced before a moment and never settled, oldest first."""
    statement = (
        select(ref_updates)
        .where(~ref_updates.c.is_done, ref_updates.c.created_at < before)
        .order_by(ref_updates.c.id)
        .limit(1000)
    )
    with database.read() as connection:
        return [
            Pending(row.id, row.repository_id, row.actor_id, Move(row.ref, row.old, row.new), row.created_at)
            for row in connection.execute(statement)
        ]
