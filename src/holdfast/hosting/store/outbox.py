"""The webhook outbox: waiting deliveries, sent by one process at a time per webhook (lease).

A process holds the lease of a webhook while it sends, and renews it. Results are written and the lease released in
one transaction, so the next holder sees all of them. If a process dies, its lease expires, and deliveries without
a written result are sent again (at-least-once delivery).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec.structs import astuple
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
from holdfast.hosting.store.prepared_statements import Bind, Statement
from holdfast.hosting.store.tables import deliveries, events, hooks, users

__all__ = [
    "LeasedHook",
    "Pause",
    "QueueSize",
    "Result",
    "WaitingDelivery",
    "claim_hooks",
    "clock_skew",
    "delete_old_deliveries",
    "events_without_payload",
    "leased_hook",
    "queue_size",
    "release_all",
    "renew_leases",
    "store_payloads",
    "waiting_deliveries",
    "write_results",
]

# A literal instead of a bind parameter, so that the query planner can use the partial index.
WAITING: Final[ColumnElement[str]] = literal_column("'waiting'")
WAITS: Final = deliveries.c.state == WAITING
DELETE_BATCH: Final = 2000

# A loose index scan: it steps from one webhook with waiting deliveries to the next along the partial index, so its
# cost depends neither on the backlog nor on the history. Ordering by both columns makes planners pick this index.
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
# A correlated lookup per webhook, as planners may turn a join into a full scan.
head = select(deliveries.c.hook_id).where(deliveries.c.id == heads.c.id).correlate(heads)
FREE: Final = (
    hooks.c.is_active.is_(True),
    hooks.c.paused_at == 0,
    hooks.c.held_until <= bindparam("now"),
)
# The least recently served webhook first.
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
    # `between` instead of `=` keeps both columns in the order: see above.
    .where(
        WAITS,
        deliveries.c.hook_id.between(bindparam("hook"), bindparam("hook")),
        deliveries.c.id > bindparam("after"),
    )
    .order_by(deliveries.c.hook_id, deliveries.c.id)
    .limit(bindparam("most"))
)
WITHOUT_PAYLOAD = select(*EVENT).where(events.c.id.in_(bindparam("ids", expanding=True)), events.c.payload == "")
STORE_PAYLOAD = (
    update(events)
    .where(events.c.id == bindparam("event"), events.c.payload == "")
    .values(payload=bindparam("payload"))
)
STORED_PAYLOADS = select(events.c.id, events.c.payload).where(events.c.id.in_(bindparam("ids", expanding=True)))
RESULT_COLUMNS: Final = (
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
    deliveries.c[name]: bindparam(f"new_{name}") for name in RESULT_COLUMNS
}
# A delivered one stays delivered, even if it was cancelled meanwhile.
RESULT_UPDATE = update(deliveries).where(deliveries.c.id == bindparam("new_delivery")).values(OUTCOME)
UPDATE_RESULT = Statement(RESULT_UPDATE)
UPDATE_WAITING = Statement(RESULT_UPDATE.where(WAITS))
RELEASE = Statement(
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.holder == bindparam("by"))
    .values(holder="", held_until=bindparam("until"))
)
PAUSE = Statement(
    update(hooks)
    .where(hooks.c.id == bindparam("hook"), hooks.c.holder == bindparam("by"), hooks.c.paused_at == 0)
    .values(paused_at=bindparam("moment"), pause_reason=bindparam("because"))
)
RENEW = (
    update(hooks)
    .where(
        hooks.c.id.in_(bindparam("leased", expanding=True)),
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
class LeasedHook:
    """A leased webhook; `target` is the kind of its owner, as shown to receivers."""

    hook: Hook
    target: str


class WaitingDelivery(msgspec.Struct, frozen=True):
    """A waiting delivery; `payload` is empty if it has not been rendered yet."""

    id: int
    uuid: str
    event_id: int
    kind: str
    tries: int
    due_at: int
    payload: str


class Result(msgspec.Struct, frozen=True):
    """The result of an attempt; the fields but the first are columns of the delivery."""

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


RESULT_PARAMETERS: Final = tuple(f"new_{name}" for name in Result.__struct_fields__)


@dataclass(frozen=True, slots=True)
class Pause:
    """A webhook to pause until it is resumed."""

    hook: int
    reason: str
    at: int


@dataclass(frozen=True, slots=True)
class QueueSize:
    """The number of waiting deliveries, and the creation time of the oldest (0 if there is none)."""

    length: int
    oldest: int


def clock_skew(database: Database) -> int:
    """Return how many milliseconds the database's clock is ahead; leases use the database's time."""
    if database.is_sqlite:
        return 0
    with database.read() as connection:
        theirs = connection.execute(text("SELECT extract(epoch FROM clock_timestamp()) * 1000")).scalar_one()
    return int(theirs) - int(time.time() * 1000)


def claim_hooks(database: Database, holder: str, *, most: int, until: int, now: int) -> list[int]:
    """Take leases on webhooks with due deliveries; return their ids, the least recently served first."""
    due_ids = [row[0] for row in database.rows(DUE, now=now, most=most)]
    if not due_ids:
        return []
    with database.write() as connection:
        free = set(connection.execute(CHOSEN, {"found": due_ids, "now": now}).scalars())
        chosen = [number for number in due_ids if number in free]
        if chosen:
            connection.execute(HOLD, {"chosen": chosen, "by": holder, "until": until})
    return chosen


def leased_hook(database: Database, holder: str, hook: int, *, now: int) -> LeasedHook | None:
    """Return a webhook whose lease is held by `holder`, if it is active and not paused; otherwise None."""
    row = database.row(HELD, hook=hook, by=holder, now=now)
    if row is None:
        return None
    *columns, is_organization = row
    leased = Hook(*columns)
    owner = "organization" if is_organization else "user"
    return LeasedHook(leased, owner if leased.scope == "owner" else leased.scope)


def waiting_deliveries(database: Database, hook: int, *, after: int, most: int) -> list[WaitingDelivery]:
    """Return the waiting deliveries of a webhook with ids above `after`, in order."""
    return [WaitingDelivery(*row) for row in database.rows(WAITING_FOR, hook=hook, after=after, most=most)]


def events_without_payload(database: Database, ids: Sequence[int]) -> list[Event]:
    """Return which of these events have no payload yet."""
    with database.read() as connection:
        return [Event(*row) for row in connection.execute(WITHOUT_PAYLOAD, {"ids": list(ids)})]


def store_payloads(database: Database, payloads: Mapping[int, str]) -> dict[int, str]:
    """Store payloads unless they are stored already, and return the stored ones."""
    with database.write() as connection:
        connection.execute(
            STORE_PAYLOAD, [{"event": event, "payload": payload} for event, payload in payloads.items()]
        )
        return {row.id: row.payload for row in connection.execute(STORED_PAYLOADS, {"ids": list(payloads)})}


def write_results(
    database: Database,
    holder: str,
    results: Sequence[Result],
    *,
    pauses: Sequence[Pause] = (),
    released: Sequence[int] = (),
    now: int,
) -> None:
    """Write results, pause webhooks and release leases, in one transaction."""
    ended = [bind_values(result) for result in results if result.state != "waiting"]
    retried = [bind_values(result) for result in results if result.state == "waiting"]
    with database.quick_write() as connection:
        if ended:
            UPDATE_RESULT.run_many(connection, ended)
        if retried:
            UPDATE_WAITING.run_many(connection, retried)
        if pauses:
            paused: list[dict[str, Bind]] = [
                {"hook": pause.hook, "by": holder, "moment": pause.at, "because": pause.reason} for pause in pauses
            ]
            PAUSE.run_many(connection, paused)
        if released:
            RELEASE.run_many(connection, [{"hook": hook, "by": holder, "until": now} for hook in released])


def bind_values(result: Result) -> dict[str, Bind]:
    """Return the bind parameters of a result."""
    return dict(zip(RESULT_PARAMETERS, astuple(result), strict=True))


def renew_leases(database: Database, holder: str, leased: Sequence[int], *, until: int, now: int) -> set[int]:
    """Renew leases; return the webhooks whose lease is still held."""
    parameters = {"by": holder, "leased": list(leased), "until": until, "now": now}
    with database.write() as connection:
        return set(connection.execute(RENEW, parameters).scalars())


def release_all(database: Database) -> None:
    """Release all leases; only for a process that knows that no other process sends."""
    with database.write() as connection:
        connection.execute(update(hooks).where(hooks.c.holder != "").values(holder="", held_until=0))


def queue_size(database: Database) -> QueueSize:
    """Return the number of waiting deliveries and the age of the oldest."""
    length, oldest = database.rows(QUEUE)[0]
    return QueueSize(length, oldest)


def delete_old_deliveries(database: Database, *, before: int) -> int:
    """Delete deliveries that ended before a time, and then older events without deliveries."""
    old = (
        select(deliveries.c.id)
        .where(deliveries.c.created_at < before, deliveries.c.ended_at < before, deliveries.c.state != "waiting")
        .limit(DELETE_BATCH)
    )
    removed = 0
    # In batches, so that other writers do not wait long.
    while True:
        with database.write() as connection:
            deleted = connection.execute(delete(deliveries).where(deliveries.c.id.in_(old))).rowcount
        removed += deleted
        if deleted < DELETE_BATCH:
            break
    delete_old_events(database, before=before)
    return removed


def delete_old_events(database: Database, *, before: int) -> None:
    """Delete events before a time that no delivery refers to."""
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
            event_ids = list(connection.execute(older.order_by(events.c.id).limit(DELETE_BATCH)).scalars())
            if not event_ids:
                return
            connection.execute(delete(events).where(events.c.id.in_(event_ids)))
        last = event_ids[-1]
