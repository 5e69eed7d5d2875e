"""Idempotency keys of commits: repeating a request with the same key creates no second commit."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, insert, select

from holdfast.hosting.errors import RefMoved
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Bind, Link, Statement
from holdfast.hosting.store.ref_updates import RefUpdate
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import commit_keys

__all__ = ["RETENTION_SECONDS", "IdempotencyKey", "UsedKey", "add_keys", "delete_old", "find_key"]

RETENTION_SECONDS: Final = 7 * 24 * 3600
COLUMNS: Final = ("repository_id", "user_id", "key", "fingerprint", "ref", "commit_id", "created_at")
ADD = Statement(insert(commit_keys).values({name: bindparam(name) for name in COLUMNS}))
FIND = Statement(
    select(commit_keys.c.commit_id).where(
        commit_keys.c.repository_id == bindparam("repository_id"),
        commit_keys.c.user_id == bindparam("user_id"),
        commit_keys.c.key == bindparam("key"),
    )
)
DELETE_OLD = Statement(delete(commit_keys).where(commit_keys.c.created_at < bindparam("before")))


@dataclass(frozen=True, slots=True)
class IdempotencyKey:
    """The idempotency key of a request, and a digest of the request."""

    user_id: int
    name: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class UsedKey:
    """A key with the commit that was created for it."""

    fingerprint: str
    ref: str
    commit_id: str


def add_keys(link: Link, repository: Repository, key_updates: Sequence[tuple[IdempotencyKey, RefUpdate]]) -> None:
    """Record keys with the commits that were created for them.

    Raises `RefMoved` if another machine created a commit for one of them since it was looked up. The transaction
    has taken a version of the repository, so no other writer adds the same key concurrently.
    """
    now = int(time.time())
    for key, update in key_updates:
        if FIND.run(link, repository_id=repository.id, user_id=key.user_id, key=key.name):
            raise RefMoved("the Idempotency-Key was used by another request meanwhile")
        values: tuple[Bind, ...] = (
            repository.id,
            key.user_id,
            key.name,
            key.fingerprint,
            update.ref,
            update.new,
            now,
        )
        ADD.run(link, **dict(zip(COLUMNS, values, strict=True)))


def find_key(database: Database, repository: Repository, key: IdempotencyKey) -> UsedKey | None:
    """Return the commit that was created for a key; None if there is none."""
    statement = select(commit_keys.c.fingerprint, commit_keys.c.ref, commit_keys.c.commit_id).where(
        commit_keys.c.repository_id == repository.id,
        commit_keys.c.user_id == key.user_id,
        commit_keys.c.key == key.name,
    )
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    return None if row is None else UsedKey(*row)


def delete_old(link: Link, *, now: int | None = None) -> None:
    """Delete the keys whose retention has expired."""
    DELETE_OLD.run(link, before=(int(time.time()) if now is None else now) - RETENTION_SECONDS)
