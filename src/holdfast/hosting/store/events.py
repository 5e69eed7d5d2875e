"""What happened, written in the transaction that made it happen: an event without its cause cannot exist."""

import time
from collections.abc import Mapping

import msgspec
from sqlalchemy import bindparam, insert

from holdfast.hosting.store.statement import Link, Statement
from holdfast.hosting.store.tables import events

__all__ = ["record"]

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
    """Write down an event and return its number; `details` says what cannot be looked up later."""
    ((made,),) = ADD.run(
        connection,
        kind=kind,
        owner_id=owner_id,
        repository_id=repository_id,
        actor_id=actor_id,
        details=msgspec.json.encode(details).decode(),
        created_at=int(time.time()) if now is None else now,
    )
    return int(made)
