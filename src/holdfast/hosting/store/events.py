"""Events: recorded in the same transaction as the change they describe (transactional outbox)."""

import time
from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import bindparam, insert

from holdfast.hosting.store import hook_subscriptions
from holdfast.hosting.store.event_payloads import EVENT, Event, render_payload
from holdfast.hosting.store.prepared_statements import Bind, Link, Statement
from holdfast.hosting.store.tables import events

__all__ = ["EVENT", "Event", "record", "record_without_deliveries"]


COLUMNS = ("kind", "owner_id", "repository_id", "actor_id", "details", "created_at", "payload")
# Prepared: building a statement takes longer than running it.
ADD = Statement(insert(events).values({name: bindparam(name) for name in COLUMNS}).returning(events.c.id))
ADD_MANY = Statement(insert(events).values({name: bindparam(name) for name in COLUMNS}))


def record(
    connection: Link,
    kind: str,
    *,
    owner_id: int | None,
    repository_id: int | None,
    actor_id: int | None,
    details: Mapping[str, object],
    now: int | None = None,
    preloaded: object = None,
) -> int:
    """Record an event with the deliveries of the subscribed webhooks, and return its id.

    Must be called after all rows the event describes have been written: the payload shows what the transaction
    sees. `details` holds data that cannot be looked up later; `preloaded` is data the payload renderer has read
    already.
    """
    moment = int(time.time()) if now is None else now
    written = msgspec.json.encode(details).decode()
    hook_ids = hook_subscriptions.subscribed_hooks(
        connection, kind, owner_id=owner_id, repository_id=repository_id, details=details
    )
    payload = ""
    if hook_ids:
        event = Event(0, kind, owner_id, repository_id, actor_id, written, moment, "")
        payload = render_payload(connection, event, preloaded)
    ((event_id,),) = ADD.run(
        connection,
        kind=kind,
        owner_id=owner_id,
        repository_id=repository_id,
        actor_id=actor_id,
        details=written,
        created_at=moment,
        payload=payload,
    )
    if hook_ids:
        # After the event's row, which blocks on a concurrent deletion of the repository: its webhooks are deleted
        # last.
        hook_subscriptions.queue_deliveries(connection, hook_ids, event_id, kind, now=moment)
    return int(event_id)


def record_without_deliveries(
    connection: Link,
    events: Sequence[tuple[str, Mapping[str, object]]],
    *,
    owner_id: int | None,
    repository_id: int | None,
    actor_id: int | None,
    now: int | None = None,
) -> None:
    """Record many events (kind and details) without deliveries, for a push of many refs."""
    about = {"owner_id": owner_id, "repository_id": repository_id, "actor_id": actor_id}
    moment = int(time.time()) if now is None else now
    rows: list[dict[str, Bind]] = [
        {
            "kind": kind,
            **about,
            "details": msgspec.json.encode(details).decode(),
            "created_at": moment,
            "payload": "",
        }
        for kind, details in events
    ]
    ADD_MANY.run_many(connection, rows)
