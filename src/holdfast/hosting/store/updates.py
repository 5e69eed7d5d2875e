"""What happens to refs, kept so that none of it is lost: what is about to move is written first, what moved after.

A row that is not done says that a ref was about to move. Whoever finds one whose process is gone looks at the ref
and either records what happened or removes the row. What is recorded needs no row any more.
"""

import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, bindparam, delete, exists, insert, select, true, update

from holdfast.hosting.store import events
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.statement import Link, Statement
from holdfast.hosting.store.tables import commit_keys, ref_updates

__all__ = [
    "Move",
    "Pending",
    "add_moves",
    "announce",
    "finish",
    "forget",
    "pending_updates",
    "record_moves",
    "still_pending",
]

BRANCHES = "refs/heads/"
TAGS = "refs/tags/"
FOREVER = 2**53
NOTHING_KNOWN: Final[Mapping[Any, object]] = MappingProxyType({})
COLUMNS = ("repository_id", "actor_id", "ref", "old", "new", "under_lock", "created_at")
# Every commit through the API runs these; building a statement takes longer than running it.
ADD = Statement(
    insert(ref_updates).values({name: bindparam(name) for name in COLUMNS}).returning(ref_updates.c.id)
)
CLEAR = Statement(
    delete(ref_updates)
    .where(
        ref_updates.c.id == bindparam("number"),
        ~exists(select(commit_keys.c.update_id).where(commit_keys.c.update_id == ref_updates.c.id)),
    )
    .returning(ref_updates.c.id)
)
FINISH = Statement(update(ref_updates).where(ref_updates.c.id == bindparam("number")).values(is_done=true()))


class Move(msgspec.Struct, frozen=True):
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

    @property
    def changes(self) -> bool:
        """Whether there is such a ref before and afterwards."""
        return bool(self.old.strip("0") and self.new.strip("0"))


class Pending(msgspec.Struct, frozen=True):
    """A move that was announced, and not settled yet."""

    id: int
    repository_id: int
    actor_id: int | None
    move: Move
    created_at: int
    under_lock: bool
    """Whether it was announced by somebody who held the repository's lock until it was settled."""


def announce(database: Database, repository: Repository, actor_id: int, moves: Sequence[Move]) -> list[int]:
    """Write down what is about to happen, before it happens; return the numbers of the rows."""
    with database.write() as connection:
        return add_moves(connection, repository, [(actor_id, move) for move in moves])


def add_moves(
    connection: Link, repository: Repository, made: Sequence[tuple[int, Move]], *, under_lock: bool = False
) -> list[int]:
    """Write down moves that some people are about to make, and return the numbers of the rows in their order."""
    now = int(time.time())
    numbers: list[int] = []
    for actor_id, move in made:
        ((number,),) = ADD.run(
            connection,
            repository_id=repository.id,
            actor_id=actor_id,
            ref=move.ref,
            old=move.old,
            new=move.new,
            under_lock=under_lock,
            created_at=now,
        )
        numbers.append(number)
    return numbers


def record_moves(
    connection: Link,
    repository: Repository,
    actor_id: int | None,
    moves: Sequence[Move],
    *,
    known: Mapping[Move, object] = NOTHING_KNOWN,
) -> None:
    """Record the events of refs that have moved: creating comes before pushing; deleting a branch is no push.

    `known` is what the renderer of payloads has read of moves already.
    """
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
                known=known.get(move),
            )


def finish(connection: Link, numbers: Sequence[int]) -> None:
    """Remove announcements that are settled; one that was made under a key stays as long as the key, marked."""
    for number in numbers:
        if not CLEAR.run(connection, number=number):
            FINISH.run(connection, number=number)


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove announcements of what did not happen."""
    connection.execute(delete(ref_updates).where(ref_updates.c.id.in_(numbers)))


def pending_updates(database: Database, *, before: int = FOREVER) -> list[Pending]:
    """Return what was announced before a moment and is not settled, oldest first."""
    statement = (
        select(ref_updates)
        .where(~ref_updates.c.is_done, ref_updates.c.created_at < before)
        .order_by(ref_updates.c.id)
        .limit(1000)
    )
    with database.read() as connection:
        return [pending(row) for row in connection.execute(statement)]


def pending(row: Row[Any]) -> Pending:
    """Make one of a row."""
    move = Move(row.ref, row.old, row.new)
    return Pending(row.id, row.repository_id, row.actor_id, move, row.created_at, row.under_lock)


def still_pending(database: Database, repository_id: int, numbers: Sequence[int]) -> list[Pending]:
    """Return which of some announcements of a repository are not settled yet, oldest first."""
    statement = (
        select(ref_updates)
        .where(
            ref_updates.c.repository_id == repository_id,
            ref_updates.c.id.in_(numbers),
            ~ref_updates.c.is_done,
        )
        .order_by(ref_updates.c.id)
    )
    with database.read() as connection:
        return [pending(row) for row in connection.execute(statement)]
