"""Ref updates that were pending when a process of a version before the repository log was killed."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, delete, select

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repository_log import ref_name, stored_name
from holdfast.hosting.store.tables import commit_keys, events, ref_updates

__all__ = ["PendingUpdate", "delete_key_of", "delete_pending", "pending_updates", "recorded_since"]


class PendingUpdate(msgspec.Struct, frozen=True):
    """A ref update that was about to happen."""

    id: int
    repository_id: int
    actor_id: int | None
    update: RefUpdate
    created_at: int


class RecordedUpdate(msgspec.Struct, frozen=True):
    """A ref update in the details of an event."""

    ref: str = ""
    before: str = ""
    after: str = ""


def pending_updates(database: Database) -> list[PendingUpdate]:
    """Return all pending updates, by repository and then oldest first."""
    statement = select(ref_updates).order_by(ref_updates.c.repository_id, ref_updates.c.id)
    with database.read() as connection:
        return [
            PendingUpdate(
                row.id,
                row.repository_id,
                row.actor_id,
                RefUpdate(ref_name(row.ref), row.old, row.new),
                row.created_at,
            )
            for row in connection.execute(statement)
        ]


def recorded_since(database: Database, repository_id: int, since: int) -> set[RefUpdate]:
    """Return the updates of a repository whose events were recorded since a time.

    The request of a killed process may have been repeated since.
    """
    statement = select(events.c.details).where(
        events.c.repository_id == repository_id,
        events.c.created_at >= since,
        events.c.kind.in_(("push", "delete")),
    )
    with database.read() as connection:
        updates = [
            msgspec.json.decode(details, type=RecordedUpdate)
            for details in connection.execute(statement).scalars()
        ]
    return {RefUpdate(update.ref, update.before, update.after) for update in updates}


def delete_pending(connection: Connection, updates: Sequence[PendingUpdate]) -> None:
    """Delete pending updates."""
    for pending_update in updates:
        connection.execute(delete(ref_updates).where(ref_updates.c.id == pending_update.id))


def delete_key_of(connection: Connection, pending: PendingUpdate) -> None:
    """Delete the idempotency key of an update that did not happen, so that its request can be repeated."""
    connection.execute(
        delete(commit_keys).where(
            commit_keys.c.repository_id == pending.repository_id,
            commit_keys.c.ref == stored_name(pending.update.ref),
            commit_keys.c.commit_id == pending.update.new,
        )
    )
