"""The outbox: deliveries that wait, taken by one process at a time for each hook.

A process holds a hook while it sends what waits for it, and says again and again that it still does. What it found
out is written, and the hook let go of, in one transaction: whoever holds the hook next sees all of it. When a
process dies, its hold runs out and what it had not written is sent again.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    bindparam,
    delete,
    exists,
    func,
    literal_column,
    select,
    text,
    update,
)

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.events import EVENT, Event
from holdfast.hosting.store.hooks import HOOK, Hook
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import deliveries, events, hooks, users

__all__ = [
    "Held",
    "Pause",
    "Queue",
    "Result",
    "Waiting",
    "claim",
    "clock_skew",
    "forget",
    "free_all",
    "held",
    "keep_payloads",
    "queue",
    "renew",
    "unmade",
    "waiting_for",
    "write_results",
]

# Written out, not given as a value: only then do the databases know that their index of what waits will do.
WAITING: Final[ColumnElement[str]] = literal_column("'waiting'")
WAITS: Final = deliveries.c.state == WAITING
FORGOTTEN_AT_ONCE: Final = 2000

# Steps from one hook that has something waiting to the next, along the index of what waits: what it costs grows
# neither with what waits nor with what has ended. An order by both columns is one that only this index has.
ahead, passed = deliveries.alias("ahead"), deliveries.alias("passed")
first = select(ahead.c.id).where(ahead.c.state == WAITING).order_by(ahead.c.hook_id, ahead.c.id).limit(1)
heads = select(first.scalar_subquery().label("id")).cte("heads", recursive=True)
heads = heads.union_all(
    select(
        first.where(
            ahead.c.hook_id
            > select(passed.c.hook_id).where(passed.c.id == heads.c.id).correlate(heads).scalar_subquery()
        )
        .correlate(heads)
        .scalar_subquery()
    ).where(heads.c.id.is_not(None))
)
# One look for each, instead of a join that a database may think is better done by reading everything.
head = select(deliveries.c.hook_id).where(deliveries.c.id == heads.c.id).correlate(heads)
FREE: Final = (
    hooks.c.is_active.is_(True),
    hooks.c.paused_at == 0,
    hooks.c.held_until <= bindparam("now"),
)
# The one that was served longest ago comes first.
DUE = Statement(
    select(hooks.c.id)
    .select_from(heads)
    .join(hooks, hooks.c.id == head.scalar_subquery())
    .where(*FREE, head.with_only_columns(deliveries.c.due_at).scalar_subquery() <= bindparam("now"))
    .order_by(hooks.c.held_until, hooks.c.id)
    .limit(bindparam("most"))
)
CHOSEN = (
    select(hooks.c.id)
    .where(hooks.c.id.in_(bindparam("found", expanding=True)), *FREE)
    .with_for_update(skip_locked=True)
)
HOLD = (
    update(hooks)
    .where(hooks.c.id.in_(bindparam("chosen", expanding=True)))
    .values(holder=bindparam("by"), held_until=bindparam("until"))
)
HELD = Statement(
    select(*HOOK, users.c.is_organization)
    .outerjoin(users, users.c.id == hooks.c.owner_id)
    .where(
        hooks.c.id == bindparam("hook"),
        hooks.c.holder == bindparam("by"),
        hooks.c.held_until > bindparam("now"),
        hooks.c.is_active.is_(True),
        hooks.c.paused_at == 0,
    )
)
WAITING_FOR = Statement(
    select(
        deliveries.c.id,
        deliveries.c.uuid,
        deliveries.c.event_id,
        deliveries.c.kind,
        deliveries.c.tries,
        deliveries.c.due_at,
        events.c.payload,
    )
    .join(events, events.c.id == deliveries.c.event_id)
    # Between the same and the same, for the order's sake: see above.
    .where(
        WAITS,
        deliveries.c.hook_id.between(bindparam("hook"), bindparam("hook")),
        deliveries.c.id > bindparam("after"),
    )
    .order_by(deliveries.c.hook_id, deliveries.c.id)
    .limit(bindparam("most"))
)
UNMADE = select(*EVENT).where(events.c.id.in_(bindparam("ids", expanding=True)), events.c.payload == "")
KEEP = (
    update(events)
    .where(events.c.id == bindparam("event"), events.c.payload == "")
    .values(payload=bindparam("made"))
)
KEPT = select(events.c.id, events.c.payload).where(events.c.id.in_(bindparam("ids", expanding=True)))
WHAT_CAME_OF_IT: Final = (
    "state",
    "tries",
    "due_at",
    "ended_at",
    "method",
    "url",
    "headers",
    "body",
    "status",
    "answer_headers",
    "answer",
    "error",
    "milliseconds",
)
OUTCOME: Final[dict[Column[Any], BindParameter[Any]]] = {
    deliveries.c[name]: bindparam(f"its_{name}") for name in WHAT_CAME_OF_IT
}
# What was delivered was delivered, even when it was cancelled meanwhile.
ENDED = update(deliveries).where(deliveries.c.id == bindparam("delivery")).values(OUTCOME)
TRIED = ENDED.where(WAITS)
RELEASE = (
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.holder == bindparam("by"))
    .values(holder="", held_until=bindparam("until"))
)
PAUSE = (
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.holder == bindparam("by"), hooks.c.paused_at == 0)
    .values(paused_at=bindparam("moment"), pause_reason=bindparam("because"))
)
RENEW = (
    update(hooks)
    .where(
        hooks.c.id.in_(bindparam("mine", expanding=True)),
        hooks.c.holder == bindparam("by"),
        hooks.c.held_until > bindparam("now"),
    )
    .values(held_until=bindparam("until"))
    .returning(hooks.c.id)
)
QUEUE = Statement(
    select(func.count(), func.coalesce(func.min(deliveries.c.created_at), 0)).select_from(deliveries).where(WAITS)
)


@dataclass(frozen=True, slots=True)
class Held:
    """A hook as its holder sees it; `target` is whose it is, in the word receivers are told."""

    hook: Hook
    target: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A delivery that waits; `payload` is empty until somebody has made it."""

    id: int
    uuid: str
    event_id: int
    kind: str
    tries: int
    due_at: int
    payload: str


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a try; the fields but the first are columns of the delivery."""

    delivery: int
    state: str
    tries: int
    due_at: int
    ended_at: int
    method: str
    url: str
    headers: str
    body: str
    status: int
    answer_headers: str
    answer: bytes
    error: str
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Pause:
    """A hook that is told nothing more until somebody resumes it."""

    hook: int
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class Queue:
    """How much waits, and since when: seconds since 1970, 0 when nothing does."""

    length: int
    oldest: int


def clock_skew(database: Database) -> int:
    """Return how many milliseconds the database's clock is ahead of ours; all machines go by it."""
    if database.is_sqlite:
        return 0
    with database.read() as connection:
        theirs = connection.execute(text("SELECT extract(epoch FROM clock_timestamp()) * 1000")).scalar_one()
    return int(theirs) - int(time.time() * 1000)


def claim(database: Database, holder: str, *, most: int, until: int, now: int) -> list[int]:
    """Take hold of hooks that have something due; return them, the one served longest ago first."""
    found = [row[0] for row in database.rows(DUE, now=now, most=most)]
    if not found:
        return []
    with database.write() as connection:
        free = set(connection.execute(CHOSEN, {"found": found, "now": now}).scalars())
        chosen = [number for number in found if number in free]
        if chosen:
            connection.execute(HOLD, {"chosen": chosen, "by": holder, "until": until})
    return chosen


def held(database: Database, holder: str, hook: int, *, now: int) -> Held | None:
    """Return a hook that is ours, active and not paused; nothing when it is no longer."""
    row = database.row(HELD, hook=hook, by=holder, now=now)
    if row is None:
        return None
    *columns, is_organization = row
    found = Hook(*columns)
    owner = "organization" if is_organization else "user"
    return Held(found, owner if found.scope == "owner" else found.scope)


def waiting_for(database: Database, hook: int, *, after: int, most: int) -> list[Waiting]:
    """Return what waits for a hook, in the order it happened, after a delivery that was sent already."""
    return [Waiting(*row) for row in database.rows(WAITING_FOR, hook=hook, after=after, most=most)]


def unmade(database: Database, ids: Sequence[int]) -> list[Event]:
    """Return those of some events whose payload nobody has made yet."""
    with database.read() as connection:
        return [Event(*row) for row in connection.execute(UNMADE, {"ids": list(ids)})]


def keep_payloads(database: Database, made: Mapping[int, str]) -> dict[int, str]:
    """Keep the payloads of events, and return what is kept: whoever came first decides for all receivers."""
    with database.write() as connection:
        connection.execute(KEEP, [{"event": event, "made": payload} for event, payload in made.items()])
        return {row.id: row.payload for row in connection.execute(KEPT, {"ids": list(made)})}


def write_results(
    database: Database,
    holder: str,
    results: Sequence[Result],
    *,
    pauses: Sequence[Pause] = (),
    released: Sequence[int] = (),
    now: int,
) -> None:
    """Write what came of many tries, pause hooks and let go of hooks, all of it at once."""
    ended = [bound(result) for result in results if result.state != "waiting"]
    tried = [bound(result) for result in results if result.state == "waiting"]
    with database.write() as connection:
        if ended:
            connection.execute(ENDED, ended)
        if tried:
            connection.execute(TRIED, tried)
        if pauses:
            rows = [{"hook": one.hook, "by": holder, "moment": one.at, "because": one.reason} for one in pauses]
            connection.execute(PAUSE, rows)
        if released:
            connection.execute(RELEASE, [{"hook": hook, "by": holder, "until": now} for hook in released])


def bound(result: Result) -> dict[str, Any]:
    """Name the values of a result as the statements do."""
    named = {f"its_{name}": value for name, value in asdict(result).items() if name != "delivery"}
    return named | {"delivery": result.delivery}


def renew(database: Database, holder: str, mine: Sequence[int], *, until: int, now: int) -> set[int]:
    """Hold on to hooks for longer; return those that are still ours."""
    given = {"by": holder, "mine": list(mine), "until": until, "now": now}
    with database.write() as connection:
        return set(connection.execute(RENEW, given).scalars())


def free_all(database: Database) -> None:
    """Let go of every hook: for whoever knows that nobody else sends from this database."""
    with database.write() as connection:
        connection.execute(update(hooks).where(hooks.c.holder != "").values(holder="", held_until=0))


def queue(database: Database) -> Queue:
    """Count what waits."""
    length, oldest = database.rows(QUEUE)[0]
    return Queue(length, oldest)


def forget(database: Database, *, before: int) -> int:
    """Remove deliveries that ended before a moment, and then events of before it that nobody refers to."""
    old = (
        select(deliveries.c.id)
        .where(deliveries.c.created_at < before, deliveries.c.ended_at < before, deliveries.c.state != "waiting")
        .limit(FORGOTTEN_AT_ONCE)
    )
    removed = 0
    # A little at a time: others want to write too.
    while True:
        with database.write() as connection:
            gone = connection.execute(delete(deliveries).where(deliveries.c.id.in_(old))).rowcount
        removed += gone
        if gone < FORGOTTEN_AT_ONCE:
            break
    forget_events(database, before=before)
    return removed


def forget_events(database: Database, *, before: int) -> None:
    """Remove events of before a moment that no delivery refers to."""
    with database.read() as connection:
        newer = select(events.c.id).where(events.c.created_at >= before).order_by(events.c.id).limit(1)
        end = connection.execute(newer).scalar()
    referred = exists(select(1).where(deliveries.c.event_id == events.c.id))
    last = 0
    while True:
        older = select(events.c.id).where(events.c.id > last, events.c.created_at < before, ~referred)
        if end is not None:
            older = older.where(events.c.id < end)
        with database.write() as connection:
            found = list(connection.execute(older.order_by(events.c.id).limit(FORGOTTEN_AT_ONCE)).scalars())
            if not found:
                return
            connection.execute(delete(events).where(events.c.id.in_(found)))
        last = found[-1]
