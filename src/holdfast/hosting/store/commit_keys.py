"""Keys under which clients ask for commits, so that asking again makes no second one."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, insert, select

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.pending_ref_updates import Move
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import commit_keys, ref_updates

__all__ = ["KEPT_SECONDS", "Key", "Used", "add_keys", "find_key", "forget_old"]

KEPT_SECONDS: Final = 7 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Key:
    """A key somebody asked under, and a digest of everything they asked for."""

    user_id: int
    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Used:
    """What was done under a key; a move that is not done may or may not have happened."""

    fingerprint: str
    update_id: int
    move: Move
    is_done: bool


def add_keys(connection: Connection, repository: Repository, made: Sequence[tuple[Key, int]]) -> None:
    """Remember keys with the announcements that were made under them."""
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
        for key, update in made
    ]
    connection.execute(insert(commit_keys), rows)


def find_key(database: Database, repository: Repository, key: Key) -> Used | None:
    """Return what was done under a key, if anything was."""
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
    return None if row is None else Used(row.fingerprint, row.id, Move(row.ref, row.old, row.new), row.is_done)


def forget_old(connection: Connection, *, now: int | None = None) -> None:
    """Forget the keys nobody will ask under again, and what was done under them."""
    before = (int(time.time()) if now is None else now) - KEPT_SECONDS
    connection.execute(delete(commit_keys).where(commit_keys.c.created_at < before))
    connection.execute(delete(ref_updates).where(ref_updates.c.is_done, ref_updates.c.created_at < before))
