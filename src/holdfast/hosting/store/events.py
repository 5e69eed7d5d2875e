"""What happened, written in the transaction that made it happen: an event without its cause cannot exist."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
from sqlalchemy import bindparam, insert

from holdfast.hosting.store import listeners
from holdfast.hosting.store.statement import Link, Statement
from holdfast.hosting.store.tables import events

__all__ = ["EVENT", "Event", "record"]


@dataclass(frozen=True, slots=True)
class Event:
    """One event; the fields are the columns of the table, in this order."""

    id: int
    kind: str
    owner_id: int | None
    repository_id: int | None
    actor_id: int | None
    details: str
    """What cannot be looked up later, as JSON."""
    created_at: int
    payload: str
    """What webhooks send of it; empty until the first of them is about to."""


EVENT: Final = tuple(events.c[name] for name in Event.__dataclass_fields__)

COLUMNS = ("kind", "owner_id", "repository_id", "actor_id", "details", "created_at")
# Every commit through the API runs this; building a statement takes longer than running it.
ADD = Statement(insert(events).values({name: bindparam(name) for name in COLUMNS}).returning(events.c.id))


def record(
    connection: Link,
    kind: str,
    *,
    owner_id: int | None,
    repository_id: int | None,
    actor_id: int | None,
    details: Mapping[str, object],
    now: int | None = None,
) -> int:
    """Write down an event and what hooks are to be told of it, and return its number.

    `details` says what cannot be looked up later.
    """
    moment = int(time.time()) if now is None else now
    ((made,),) = ADD.run(
        connection,
        kind=kind,
        owner_id=owner_id,
        repository_id=repository_id,
        actor_id=actor_id,
        details=msgspec.json.encode(details).decode(),
        created_at=moment,
    )
    listeners.queue(
        connection, made, kind, owner_id=owner_id, repository_id=repository_id, details=details, now=moment
    )
    return int(made)
