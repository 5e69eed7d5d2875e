"""SSH keys of users, deploy keys of repositories, and the host keys of the service."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, NoSuchSshKey, SshKeyTaken
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import ssh_host_keys, ssh_keys

__all__ = [
    "SshKey",
    "add_host_keys",
    "create_key",
    "delete_key",
    "find_key",
    "has_key",
    "host_keys",
    "key_by_fingerprint",
    "keys_of",
    "note_use",
]


class SshKey(msgspec.Struct, frozen=True):
    """An SSH key of a user, or of a repository."""

    id: int
    user_id: int | None
    repository_id: int | None
    title: str
    content: str
    """The algorithm and the key in base64."""
    fingerprint: str
    is_read_only: bool
    created_at: int
    last_used_at: int


KEY: Final = tuple(ssh_keys.c[name] for name in SshKey.__struct_fields__)
BY_FINGERPRINT = Statement(select(*KEY).where(ssh_keys.c.fingerprint == bindparam("fingerprint")))
USED = update(ssh_keys).where(ssh_keys.c.id == bindparam("key_id")).values(last_used_at=bindparam("moment"))


def owned_by(owner: Account | Repository) -> ColumnElement[bool]:
    """Return the condition on the owner of keys."""
    column = ssh_keys.c.repository_id if isinstance(owner, Repository) else ssh_keys.c.user_id
    return column == owner.id


def create_key(
    database: Database,
    owner: Account | Repository,
    *,
    title: str,
    content: str,
    fingerprint: str,
    is_read_only: bool = False,
) -> SshKey:
    """Add a key to a user or a repository; raise `SshKeyTaken` if any user or repository has it already."""
    row: dict[str, Any] = {
        "repository_id" if isinstance(owner, Repository) else "user_id": owner.id,
        "title": title,
        "content": content,
        "fingerprint": fingerprint,
        "is_read_only": is_read_only,
        "created_at": int(time.time()),
    }
    try:
        with database.write() as connection:
            created = connection.execute(insert(ssh_keys).returning(*KEY), row).one()
    except IntegrityError:
        if key_by_fingerprint(database, fingerprint) is None:
            raise GoneMeanwhile("it was deleted meanwhile") from None
        raise SshKeyTaken from None
    return SshKey(*created)


def keys_of(
    database: Database,
    owner: Account | Repository,
    *,
    skip: int,
    limit: int,
    fingerprint: str = "",
    number: int = 0,
) -> tuple[list[SshKey], int]:
    """Return one page of the keys of a user or a repository, oldest first, and the total."""
    wanted = [owned_by(owner)]
    if fingerprint:
        wanted.append(ssh_keys.c.fingerprint == fingerprint)
    if number:
        wanted.append(ssh_keys.c.id == number)
    with database.read() as connection:
        rows = connection.execute(select(*KEY).where(*wanted).order_by(ssh_keys.c.id).offset(skip).limit(limit))
        keys = [SshKey(*row) for row in rows]
        total = connection.execute(select(func.count()).select_from(ssh_keys).where(*wanted)).scalar_one()
    return keys, total


def find_key(database: Database, owner: Account | Repository, number: int) -> SshKey:
    """Return a key of a user or a repository."""
    with database.read() as connection:
        wanted = select(*KEY).where(owned_by(owner), ssh_keys.c.id == number)
        row = connection.execute(wanted).one_or_none()
    if row is None:
        raise NoSuchSshKey(number)
    return SshKey(*row)


def has_key(database: Database, owner: Account | Repository, key: SshKey) -> bool:
    """Return whether a user or a repository still has a key."""
    with database.read() as connection:
        wanted = select(ssh_keys.c.id).where(owned_by(owner), ssh_keys.c.id == key.id)
        return connection.execute(wanted).first() is not None


def delete_key(database: Database, key: SshKey) -> None:
    """Delete a key."""
    with database.write() as connection:
        connection.execute(delete(ssh_keys).where(ssh_keys.c.id == key.id))


def key_by_fingerprint(database: Database, fingerprint: str) -> SshKey | None:
    """Return the key with a fingerprint, or None."""
    row = database.row(BY_FINGERPRINT, fingerprint=fingerprint)
    return None if row is None else SshKey(*row)


def note_use(database: Database, used: Mapping[int, int]) -> None:
    """Store when keys were last used, by key id."""
    with database.write() as connection:
        connection.execute(USED, [{"key_id": number, "moment": moment} for number, moment in used.items()])


def host_keys(database: Database) -> dict[str, str]:
    """Return the encrypted host keys by algorithm."""
    with database.read() as connection:
        rows = connection.execute(
            select(ssh_host_keys.c.algorithm, ssh_host_keys.c.private_key).order_by(ssh_host_keys.c.algorithm)
        )
        return {algorithm: private_key for algorithm, private_key in rows}  # noqa: C416  # rows are not pairs to mypy


def add_host_keys(database: Database, keys: Sequence[tuple[str, str]]) -> None:
    """Add encrypted host keys; of several machines starting at once, one adds its keys."""
    now = int(time.time())
    rows = [
        {"algorithm": algorithm, "private_key": private_key, "created_at": now} for algorithm, private_key in keys
    ]
    with database.write() as connection:
        connection.execute(upsert(database, ssh_host_keys).on_conflict_do_nothing(), rows)
