"""Large files: which repository has which, and who has locked what."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, delete, select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, LockTaken, NoSuchLock
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.leases import take_lease
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import leases, lfs_links, lfs_locks, users

__all__ = [
    "Lock",
    "add_links",
    "add_lock",
    "claim",
    "end_claims",
    "find_lock",
    "give_back",
    "link",
    "linked_at",
    "linked_sizes",
    "locks_of",
    "remove_links",
    "remove_lock",
    "take_unlinked",
]


@dataclass(frozen=True, slots=True)
class Lock:
    """A path that somebody has locked."""

    id: int
    path: str
    owner_id: int
    owner: str
    locked_at: int


# Whoever brings an object and whoever removes one hold a lease on it, so that they never do so at once. The first
# kind is shared by all who bring it, and runs on until they had time to link it.
NAME: Final = "large file "
BRINGING: Final = "brought"
REMOVING: Final = "removed"

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
    try:
        with database.write() as connection:
            add_links(connection, repository, {oid: size})
    except IntegrityError as error:
        raise GoneMeanwhile(f"repository {repository.full_name} was deleted meanwhile") from error


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


def claim(database: Database, oid: str, *, seconds: float) -> bool:
    """Keep everybody from removing an object that is being brought; false while somebody removes it."""
    return take_lease(database, NAME + oid, BRINGING, seconds=seconds)


def take_unlinked(database: Database, oids: Iterable[str], *, seconds: float, now: float) -> list[str]:
    """Keep everybody from bringing those of some objects that nobody has, nor is bringing; return these."""
    moment = int(now)
    make = sqlite_insert if database.is_sqlite else postgres_insert
    values = {"holder": REMOVING, "until": moment + int(seconds)}
    rows = [{"name": NAME + oid, **values} for oid in oids]
    taking = (
        make(leases)
        .values(rows)
        .on_conflict_do_update(index_elements=["name"], set_=values, where=leases.c.until <= moment)
        .returning(leases.c.name)
    )
    with database.write() as connection:
        taken = {name.removeprefix(NAME) for name in connection.execute(taking).scalars()}
        # Afterwards: whoever brought one has linked it by now, or holds its lease.
        asked = select(lfs_links.c.oid).where(lfs_links.c.oid.in_(taken)).distinct()
        linked = set(connection.execute(asked).scalars())
        end(connection, linked)
    return sorted(taken - linked)


def give_back(database: Database, oids: Iterable[str]) -> None:
    """Let objects be brought again that were removed."""
    with database.write() as connection:
        end(connection, oids)


def end(connection: Connection, oids: Iterable[str]) -> None:
    """End the leases of those who remove."""
    named = leases.c.name.in_([NAME + oid for oid in oids])
    connection.execute(delete(leases).where(named, leases.c.holder == REMOVING))


def end_claims(connection: Connection, *, now: float) -> None:
    """Forget the leases on objects that have run out."""
    connection.execute(delete(leases).where(leases.c.name.startswith(NAME), leases.c.until <= int(now)))


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
