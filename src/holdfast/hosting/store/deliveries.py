"""Webhook deliveries: one row per webhook and event, with the state and the last result."""

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, bindparam, exists, func, insert, literal, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, NoSuchDelivery, NotWaiting, TooManyAtOnce
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.event_payloads import Event, render_payload
from holdfast.hosting.store.list_pages import page_ids
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.tables import deliveries, events, hooks

__all__ = [
    "DELIVERY",
    "INACTIVE",
    "LISTED",
    "Delivery",
    "DeliveryFilter",
    "cancel",
    "cancel_waiting",
    "deliveries_of",
    "find_delivery",
    "payload_of",
    "queue_for_hooks",
    "record_for_hook",
    "redeliver",
    "redeliver_all",
    "retry_waiting",
]

INACTIVE: Final = "the hook is not active; make it active first"
# The maximum number of deliveries one request can redeliver.
MOST_AGAIN: Final = 10_000


@dataclass(frozen=True, slots=True)
class Delivery:
    """A webhook delivery; the fields are the columns of the table, in this order."""

    id: int
    uuid: str
    hook_id: int
    event_id: int
    kind: str
    state: str
    """`waiting`, `delivered`, `failed` or `cancelled`."""
    again_of: int | None
    tries: int
    due_at: int
    """When the next attempt is due, in milliseconds since 1970; other times are in seconds."""
    created_at: int
    ended_at: int
    method: str
    url: str
    headers: str
    body: str
    """The request body; empty if it is the event's payload."""
    status: int
    """The HTTP status of the response; 0 if there was none, and then `error` says why."""
    answer_headers: str
    answer: bytes
    error: str
    milliseconds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryFilter:
    """Filters for the deliveries of a webhook; None matches everything."""

    state: str | None = None
    kind: str | None = None
    since: int | None = None
    before: int | None = None

    def conditions(self, hook_id: int) -> list[ColumnElement[bool]]:
        """Return the SQL conditions."""
        conditions = [deliveries.c.hook_id == hook_id]
        if self.state is not None:
            conditions.append(deliveries.c.state == self.state)
        if self.kind is not None:
            conditions.append(deliveries.c.kind == self.kind)
        if self.since is not None:
            conditions.append(deliveries.c.created_at >= self.since)
        if self.before is not None:
            conditions.append(deliveries.c.created_at < self.before)
        return conditions


DELIVERY: Final = tuple(deliveries.c[name] for name in Delivery.__dataclass_fields__)
# Lists leave out request and response bodies, which may be large.
LEFT_OUT: Final = {"headers": "{}", "body": "", "answer_headers": "{}", "answer": b""}
LISTED: Final = tuple(
    literal(LEFT_OUT[column.name], column.type).label(column.name) if column.name in LEFT_OUT else column
    for column in DELIVERY
)
ADD = insert(deliveries)
NEW = ("uuid", "hook_id", "event_id", "kind", "state", "again_of", "due_at", "created_at")
# Prepared: building a statement takes longer than running it.
ADD_WAITING = Statement(insert(deliveries).values({name: bindparam(name) for name in NEW}))


def new_delivery_row(
    hook_id: int, event_id: int, kind: str, *, now: int, again_of: int | None = None
) -> dict[str, Any]:
    """Return the row of a new delivery, due immediately regardless of this machine's clock."""
    return {
        "uuid": str(uuid.uuid4()),
        "hook_id": hook_id,
        "event_id": event_id,
        "kind": kind,
        "state": "waiting",
        "again_of": again_of,
        "due_at": 0,
        "created_at": now,
    }


def queue_for_hooks(connection: Link, hook_ids: list[int], event_id: int, kind: str, *, now: int) -> None:
    """Queue a delivery of an event for each of these webhooks."""
    ADD_WAITING.run_many(connection, [new_delivery_row(number, event_id, kind, now=now) for number in hook_ids])


def deliveries_of(
    database: Database, hook_id: int, filters: DeliveryFilter, *, skip: int, limit: int
) -> tuple[list[Delivery], int]:
    """Return one page of a webhook's deliveries, newest first and without bodies, and the total."""
    conditions = filters.conditions(hook_id)
    with database.read() as connection:
        counted = select(func.count()).select_from(deliveries).where(*conditions)
        total: int = connection.execute(counted).scalar_one()
        ids = page_ids(
            connection,
            select(deliveries.c.id).where(*conditions),
            deliveries.c.id,
            deliveries.c.id,
            descending=True,
            skip=skip,
            limit=limit,
            total=total,
        )
        rows = connection.execute(select(*LISTED).where(deliveries.c.id.in_(ids))).all() if ids else []
    by_id = {row[0]: Delivery(*row) for row in rows}
    return [by_id[number] for number in ids if number in by_id], total


def find_delivery(database: Database, hook_id: int, key: str) -> Delivery:
    """Return a delivery of a webhook by id or UUID."""
    query = select(*DELIVERY).where(deliveries.c.hook_id == hook_id)
    if key.isascii() and key.isdigit() and len(key) < 19:
        query = query.where(deliveries.c.id == int(key))
    else:
        query = query.where(deliveries.c.uuid == key.lower())
    with database.read() as connection:
        row = connection.execute(query).one_or_none()
    if row is None:
        raise NoSuchDelivery("not found")
    return Delivery(*row)


def payload_of(database: Database, delivery: Delivery) -> str:
    """Return the payload of the delivery's event; empty if it has not been rendered yet."""
    with database.read() as connection:
        payload: str = (
            connection.execute(
                select(events.c.payload).where(events.c.id == delivery.event_id)
            ).scalar_one_or_none()
            or ""
        )
    return payload


@contextmanager
def deleted_in_the_meantime() -> Iterator[None]:
    """Translate a failed foreign key into `GoneMeanwhile`: the webhook or the event was deleted."""
    try:
        yield
    except IntegrityError as error:
        raise GoneMeanwhile("the webhook or its delivery was deleted in the meantime") from error


def redeliver(database: Database, delivery: Delivery) -> Delivery:
    """Queue a copy of a delivery after all waiting ones."""
    row = new_delivery_row(
        delivery.hook_id, delivery.event_id, delivery.kind, now=int(time.time()), again_of=delivery.id
    )
    with deleted_in_the_meantime(), database.write() as connection:
        created = connection.execute(ADD.returning(*DELIVERY), row).one()
    return Delivery(*created)


def redeliver_all(database: Database, hook_id: int, filters: DeliveryFilter) -> int:
    """Queue the matching deliveries again in their order, and return how many.

    An event that is already waiting for the webhook is not queued twice.
    """
    still = deliveries.alias()
    now = int(time.time())
    statement = (
        select(func.max(deliveries.c.id).label("id"), deliveries.c.event_id, deliveries.c.kind)
        .where(
            *filters.conditions(hook_id),
            deliveries.c.state != "waiting",
            ~exists().where(
                still.c.hook_id == hook_id,
                still.c.state == "waiting",
                still.c.event_id == deliveries.c.event_id,
            ),
        )
        .group_by(deliveries.c.event_id, deliveries.c.kind)
        .order_by(deliveries.c.event_id)
        .limit(MOST_AGAIN + 1)
    )
    held = select(hooks.c.id).where(hooks.c.id == hook_id).with_for_update(key_share=True)
    with deleted_in_the_meantime(), database.write() as connection:
        connection.execute(held)  # serializes concurrent calls, which would both find nothing waiting
        matching_rows = connection.execute(statement).all()
        if len(matching_rows) > MOST_AGAIN:
            raise TooManyAtOnce(
                f"these filters match more than {MOST_AGAIN} deliveries; filter by a shorter time range"
            )
        if matching_rows:
            rows = [
                new_delivery_row(hook_id, row.event_id, row.kind, now=now, again_of=row.id)
                for row in matching_rows
            ]
            connection.execute(ADD, rows)
    return len(matching_rows)


def cancel(database: Database, delivery: Delivery, reason: str) -> None:
    """Cancel a waiting delivery."""
    with database.write() as connection:
        result = connection.execute(
            update(deliveries)
            .where(deliveries.c.id == delivery.id, deliveries.c.state == "waiting")
            .values(state="cancelled", ended_at=int(time.time()), error=reason)
        )
        if not result.rowcount:
            raise NotWaiting("only a waiting delivery can be cancelled")


def cancel_waiting(connection: Connection, hook_id: int, reason: str, *, now: int) -> None:
    """Cancel all waiting deliveries of a webhook."""
    connection.execute(
        update(deliveries)
        .where(deliveries.c.hook_id == hook_id, deliveries.c.state == "waiting")
        .values(state="cancelled", ended_at=now, error=reason)
    )


def retry_waiting(connection: Connection, hook_id: int) -> None:
    """Make waiting deliveries due immediately and reset their attempt counts."""
    connection.execute(
        update(deliveries)
        .where(deliveries.c.hook_id == hook_id, deliveries.c.state == "waiting", deliveries.c.tries > 0)
        .values(tries=0, due_at=0)
    )


def record_for_hook(
    database: Database,
    hook_id: int,
    kind: str,
    *,
    is_active: bool,
    owner_id: int,
    repository_id: int,
    actor_id: int,
    details: dict[str, object],
    preloaded: object = None,
) -> None:
    """Record an event for a single webhook, regardless of its event filter.

    For an inactive webhook the delivery is recorded as cancelled. `preloaded` is data that the payload renderer
    has read already.
    """
    now = int(time.time())
    event = Event(0, kind, owner_id, repository_id, actor_id, msgspec.json.encode(details).decode(), now, "")
    with deleted_in_the_meantime(), database.write() as connection:
        row = {**asdict(event), "payload": render_payload(connection, event, preloaded)}
        del row["id"]
        event_id: int = connection.execute(insert(events).returning(events.c.id), row).scalar_one()
        delivery = new_delivery_row(hook_id, event_id, kind, now=now)
        if not is_active:
            delivery |= {"state": "cancelled", "ended_at": now, "error": INACTIVE}
        connection.execute(ADD, delivery)
