"""Idempotency keys of commits: a repeated request returns the first commit instead of creating another."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import commit_keys, ref_updates

__all__ = [
    "RETENTION_SECONDS",
    "IdempotencyKey",
    "RecordedUpdate",
    "add_idempotency_keys",
    "delete_expired_keys",
    "find_idempotency_key",
]

RETENTION_SECONDS: Final = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """An idempotency key of a user, and a digest of the request it was sent with."""

    user_id: int
    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RecordedUpdate:
    """The ref update recorded under an idempotency key; one that is not done may or may not have happened."""

    fingerprint: str
    update_id: int
    move: Move
    is_done: bool


def add_idempotency_keys(
    connection: Connection, repository: Repository, keys: Sequence[tuple[IdempotencyKey, int]]
) -> None:
    """Store idempotency keys with the pending ref updates they belong to."""
    now = int(time.time())
    rows = [
        {
            "repository_id": repository.id,
            "user_id": key.user_id,
            "key": key.name,
            "fingerprint": key.fingerprint,
            "update_id": update,
            "created_at": now,
        }
        for key, update in keys
    ]
    connection.execute(insert(commit_keys), rows)


def find_idempotency_key(database: Database, repository: Repository, key: IdempotencyKey) -> RecordedUpdate | None:
    """Return the ref update recorded under an idempotency key, or None."""
    statement = (
        select(commit_keys.c.fingerprint, ref_updates)
        .join(ref_updates, ref_updates.c.id == commit_keys.c.update_id)
        .where(
            commit_keys.c.repository_id == repository.id,
            commit_keys.c.user_id == key.user_id,
            commit_keys.c.key == key.name,
        )
    )
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    return (
        None
        if row is None
        else RecordedUpdate(row.fingerprint, row.id, Move(row.ref, row.old, row.new), row.is_done)
    )


def delete_expired_keys(connection: Connection, *, now: int | None = None) -> None:
    """Delete expired idempotency keys and the ref updates kept for them."""
    before = (int(time.time()) if now is None else now) - RETENTION_SECONDS
    connection.execute(delete(commit_keys).where(commit_keys.c.created_at < before))
    connection.execute(delete(ref_updates).where(ref_updates.c.is_done, ref_updates.c.created_at < before))
