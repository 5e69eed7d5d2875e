"""What happened, written in the transaction that made it happen: an event without its cause cannot exist."""

import time
from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import bindparam, insert

from holdfast.hosting.store import hook_subscriptions
from holdfast.hosting.store.event_payloads import EVENT, Event, render_payload
from holdfast.hosting.store.prepared_statements import Bind, Link, Statement
from holdfast.hosting.store.tables import events

__all__ = ["EVENT", "Event", "record", "record_silently"]


COLUMNS = ("kind", "owner_id", "repository_id", "actor_id", "details", "created_at", "payload")
# Every commit through the API runs this; building a statement takes longer than running it.
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
    known: object = None,
) -> int:
    """Write down an event and what hooks are to be told of it, and return its number.

    Call it when everything the event is about has been written: the payload shows what the transaction sees now.
    `details` says what cannot be looked up later; `known` is what the payload's renderer has read already.
    """
    moment = int(time.time()) if now is None else now
    written = msgspec.json.encode(details).decode()
    hook_ids = hook_subscriptions.listening(
        connection, kind, owner_id=owner_id, repository_id=repository_id, details=details
    )
    payload = ""
    if hook_ids:
        event = Event(0, kind, owner_id, repository_id, actor_id, written, moment, "")
        payload = render_payload(connection, event, known)
    ((made,),) = ADD.run(
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
        # After the event, whose row waits for whoever deletes the repository: they take the hooks along last.
        hook_subscriptions.queue(connection, hook_ids, made, kind, now=moment)
    return int(made)


def record_silently(
    connection: Link,
    made: Sequence[tuple[str, Mapping[str, object]]],
    *,
    owner_id: int | None,
    repository_id: int | None,
    actor_id: int | None,
    now: int | None = None,
) -> None:
    """Write down many events, each a kind and its details, that no hook is to be told of: a push of many refs."""
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
        for kind, details in made
    ]
    ADD_MANY.run_many(connection, rows)
