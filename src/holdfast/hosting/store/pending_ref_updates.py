"""What happens to refs, kept so that none of it is lost: what is about to move is written first, what moved after.

A row that is not done says that a ref was about to move. Whoever finds one whose process is gone looks at the ref
and either records what happened or removes the row. What is recorded needs no row any more.
"""

import os
import re
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, Row, bindparam, delete, exists, func, insert, select, true, update

from holdfast.hosting.store import events, hook_subscriptions
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Bind, Link, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import commit_keys, ref_updates
from holdfast.hosting.store.tables import events as event_rows

__all__ = [
    "Move",
    "Pending",
    "add_moves",
    "announce",
    "finish",
    "forget",
    "pending_updates",
    "record_moves",
    "recorded_since",
    "still_pending",
]

BRANCHES = "refs/heads/"
TAGS = "refs/tags/"
FOREVER = 2**53
ESCAPED: Final = re.compile(r"\\x([0-9a-f]{2})")
NOTHING_KNOWN: Final[Mapping[Any, object]] = MappingProxyType({})
COLUMNS = ("repository_id", "actor_id", "ref", "old", "new", "under_lock", "created_at")
# Every commit through the API runs these; building a statement takes longer than running it.
ADD = Statement(
    insert(ref_updates).values({name: bindparam(name) for name in COLUMNS}).returning(ref_updates.c.id)
)
# From this many rows on, one statement for all of them costs less than one for each.
MANY = 16
AT_ONCE = 500
ADD_MANY = Statement(insert(ref_updates).values({name: bindparam(name) for name in COLUMNS}))
ADD_RETURNING = insert(ref_updates).returning(ref_updates.c.id, sort_by_parameter_order=True)
UNKEYED = delete(ref_updates).where(
    ref_updates.c.id == bindparam("number"),
    ~exists(select(commit_keys.c.update_id).where(commit_keys.c.update_id == ref_updates.c.id)),
)
CLEAR = Statement(UNKEYED.returning(ref_updates.c.id))
CLEAR_MANY = Statement(UNKEYED)
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
    def moves(self) -> bool:
        """Whether anything is different afterwards; it is not when a ref is deleted that is not there."""
        return self.old != self.new and not (self.creates and self.deletes)

    @property
    def changes(self) -> bool:
        """Whether there is such a ref before and afterwards."""
        return bool(self.old.strip("0") and self.new.strip("0"))


class MoveDetails(msgspec.Struct, frozen=True):
    """What the details of an event say about a move."""

    ref: str = ""
    before: str = ""
    after: str = ""


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
    if len(made) >= MANY and isinstance(connection, Connection):
        return add_many(connection, repository, made, under_lock=under_lock, now=now)
    for actor_id, move in made:
        ((number,),) = ADD.run(
            connection,
            repository_id=repository.id,
            actor_id=actor_id,
            ref=stored(move.ref),
            old=move.old,
            new=move.new,
            under_lock=under_lock,
            created_at=now,
        )
        numbers.append(number)
    return numbers


def add_many(
    connection: Connection,
    repository: Repository,
    made: Sequence[tuple[int, Move]],
    *,
    under_lock: bool,
    now: int,
) -> list[int]:
    """Write down many moves by few statements."""
    rows: list[dict[str, Bind]] = [
        dict(
            zip(
                COLUMNS,
                (repository.id, actor_id, stored(move.ref), move.old, move.new, under_lock, now),
                strict=True,
            )
        )
        for actor_id, move in made
    ]
    if connection.dialect.name != "sqlite":
        return list(connection.execute(ADD_RETURNING, rows).scalars())
    # SQLite returns numbers for one row at a time; but nobody else writes now, and each is above those before.
    last = connection.execute(select(func.coalesce(func.max(ref_updates.c.id), 0))).scalar_one()
    ADD_MANY.run_many(connection, rows)
    added = select(ref_updates.c.id).where(ref_updates.c.id > last).order_by(ref_updates.c.id)
    return list(connection.execute(added).scalars())


def record_moves(
    connection: Link,
    repository: Repository,
    actor_id: int | None,
    moves: Sequence[Move],
    *,
    options: Sequence[str] = (),
    known: Mapping[Move, object] = NOTHING_KNOWN,
) -> None:
    """Record the events of refs that have moved: creating comes before pushing; deleting a branch is no push.

    Of refs that are neither branches nor tags nobody is told. The options of a push are part of its push events.
    `known` is what the renderer of payloads has read of moves already.
    """
    told = [(move, kind, event) for move in moves for kind, event in events_of(move)]
    about = {"owner_id": repository.owner.id, "repository_id": repository.id, "actor_id": actor_id}
    if len(told) >= MANY and not hook_subscriptions.has_subscribers(
        connection, owner_id=repository.owner.id, repository_id=repository.id
    ):
        made = [(event, details_of(move, kind, event, options)) for move, kind, event in told]
        events.record_without_deliveries(connection, made, **about)
        return
    for move, kind, event in told:
        details = details_of(move, kind, event, options)
        events.record(connection, event, **about, details=details, known=known.get(move))


def events_of(move: Move) -> list[tuple[str, str]]:
    """Return whether a move is of a branch or a tag, with each event it is; staying where it is, is none."""
    if not move.moves:
        return []
    if move.ref.startswith(BRANCHES):
        kinds = ["delete"] if move.deletes else (["create"] if move.creates else []) + ["push"]
        return [("branch", kind) for kind in kinds]
    if move.ref.startswith(TAGS):
        kinds = ["push", "delete"] if move.deletes else ["push", *(["create"] if move.creates else [])]
        return [("tag", kind) for kind in kinds]
    return []


def details_of(move: Move, kind: str, event: str, options: Sequence[str]) -> dict[str, object]:
    """Return what an event says of a move."""
    details: dict[str, object] = {"ref": shown(move.ref), "before": move.old, "after": move.new, "ref_type": kind}
    return {**details, "push_options": list(options)} if options and event == "push" else details


def finish(connection: Link, numbers: Sequence[int]) -> None:
    """Remove announcements that are settled; one that was made under a key stays as long as the key, marked."""
    if len(numbers) >= MANY:
        rows: list[dict[str, Bind]] = [{"number": number} for number in numbers]
        CLEAR_MANY.run_many(connection, rows)
        FINISH.run_many(connection, rows)
        return
    for number in numbers:
        if not CLEAR.run(connection, number=number):
            FINISH.run(connection, number=number)


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove announcements of what did not happen."""
    for start in range(0, len(numbers), AT_ONCE):
        connection.execute(delete(ref_updates).where(ref_updates.c.id.in_(numbers[start : start + AT_ONCE])))


def pending_updates(database: Database, *, before: int = FOREVER, after: int = 0) -> list[Pending]:
    """Return a thousand of what was announced before a moment and is not settled, oldest first, after a number."""
    statement = (
        select(ref_updates)
        .where(~ref_updates.c.is_done, ref_updates.c.created_at < before, ref_updates.c.id > after)
        .order_by(ref_updates.c.id)
        .limit(1000)
    )
    with database.read() as connection:
        return [pending(row) for row in connection.execute(statement)]


def shown(ref: str) -> str:
    """Return a ref as people see it."""
    return ref if ref.isascii() else os.fsencode(ref).decode(errors="replace")


def stored(ref: str) -> str:
    r"""Return a ref as a database keeps it: a byte that is no UTF-8 as `\xe9`, for no ref has a backslash."""
    return ref if ref.isascii() else os.fsencode(ref).decode(errors="backslashreplace")


def restored(ref: str) -> str:
    """Return a ref that a database has kept."""
    return ESCAPED.sub(lambda found: os.fsdecode(bytes.fromhex(found[1])), ref) if "\\" in ref else ref


def pending(row: Row[Any]) -> Pending:
    """Make one of a row."""
    move = Move(restored(row.ref), row.old, row.new)
    return Pending(row.id, row.repository_id, row.actor_id, move, row.created_at, row.under_lock)


def recorded_since(database: Database, repository_id: int, found: Sequence[Pending]) -> set[Move]:
    """Return the moves whose events were recorded since the first of some announcements was made.

    Somebody whose process died in the middle of a move may have made it again before the first try is looked at.
    """
    if not found:
        return set()
    statement = select(event_rows.c.details).where(
        event_rows.c.repository_id == repository_id,
        event_rows.c.created_at >= min(pending.created_at for pending in found),
        event_rows.c.kind.in_(("push", "delete")),
    )
    with database.read() as connection:
        told = [
            msgspec.json.decode(details, type=MoveDetails) for details in connection.execute(statement).scalars()
        ]
    return {Move(one.ref, one.before, one.after) for one in told}


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
