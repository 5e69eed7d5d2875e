"""Large files: which repository has which, and who has locked what."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import LockTaken, NoSuchLock
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import lfs_links, lfs_locks, users

__all__ = [
    "Lock",
    "add_links",
    "add_lock",
    "find_lock",
    "link",
    "linked_at",
    "linked_sizes",
    "locks_of",
    "remove_links",
    "remove_lock",
]


@dataclass(frozen=True, slots=True)
class Lock:
    """A path that somebody has locked."""

    id: int
    path: str
    owner_id: int
    owner: str
    locked_at: int


LOCK = select(lfs_locks.c.id, lfs_locks.c.path, lfs_locks.c.owner_id, users.c.name, lfs_locks.c.locked_at).join(
    users, users.c.id == lfs_locks.c.owner_id
)


def linked_sizes(database: Database, repository: Repository, oids: Iterable[str]) -> dict[str, int]:
    """Return which of some objects a repository has, with their sizes."""
    statement = select(lfs_links.c.oid, lfs_links.c.size).where(
        lfs_links.c.repository_id == repository.id, lfs_links.c.oid.in_(list(oids))
    )
    with database.read() as connection:
        return {row.oid: row.size for row in connection.execute(statement)}


def linked_at(database: Database, repository: Repository, oid: str) -> int | None:
    """Return since when a repository has an object; None when it has not."""
    statement = select(lfs_links.c.created_at).where(
        lfs_links.c.repository_id == repository.id, lfs_links.c.oid == oid
    )
    with database.read() as connection:
        return connection.execute(statement).scalar_one_or_none()


def link(database: Database, repository: Repository, oid: str, size: int) -> None:
    """Write down that a repository has an object; twice is once."""
    with database.write() as connection:
        add_links(connection, repository, {oid: size})


def add_links(connection: Connection, repository: Repository, sizes: Mapping[str, int]) -> set[str]:
    """Write down that a repository has some objects, and return which of them it did not have before."""
    make = sqlite_insert if connection.dialect.name == "sqlite" else postgres_insert
    now = int(time.time())
    rows = [
        {"repository_id": repository.id, "oid": oid, "size": size, "created_at": now}
        for oid, size in sizes.items()
    ]
    adding = make(lfs_links).values(rows).on_conflict_do_nothing().returning(lfs_links.c.oid)
    return set(connection.execute(adding).scalars())


def remove_links(connection: Connection, repository: Repository, oids: Iterable[str]) -> None:
    """Take back that a repository has some objects."""
    mine = lfs_links.c.repository_id == repository.id
    connection.execute(delete(lfs_links).where(mine, lfs_links.c.oid.in_(list(oids))))


def locks_of(
    database: Database, repository: Repository, *, path: str = "", number: int = 0, after: int = 0, limit: int
) -> list[Lock]:
    """Return the locks of a repository after one of a number, oldest first."""
    statement = LOCK.where(lfs_locks.c.repository_id == repository.id, lfs_locks.c.id > after)
    if path:
        statement = statement.where(lfs_locks.c.path == path)
    if number:
        statement = statement.where(lfs_locks.c.id == number)
    with database.read() as connection:
        rows = connection.execute(statement.order_by(lfs_locks.c.id).limit(limit)).all()
    return [Lock(*row) for row in rows]


def find_lock(database: Database, repository: Repository, number: int) -> Lock:
    """Return a lock by its number."""
    found = locks_of(database, repository, number=number, limit=1)
    if not found:
        raise NoSuchLock("no such lock")
    return found[0]


def add_lock(database: Database, repository: Repository, path: str, owner: Account) -> Lock:
    """Lock a path for somebody; one that is locked already stays with whoever has it."""
    row = {
        "repository_id": repository.id,
        "path": path,
        "owner_id": owner.id,
        "locked_at": int(time.time()),
    }
    make = sqlite_insert if database.is_sqlite else postgres_insert
    try:
        with database.write() as connection:
            made = connection.execute(make(lfs_locks).returning(lfs_locks.c.id), row).scalar_one()
    except IntegrityError as error:
        raise LockTaken("already created lock") from error
    return find_lock(database, repository, made)


def remove_lock(database: Database, lock: Lock) -> None:
    """Unlock a path."""
    with database.write() as connection:
        connection.execute(delete(lfs_locks).where(lfs_locks.c.id == lock.id))
