"""Git LFS: which repository has which objects, and file locks."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, delete, exists, insert, literal, or_, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import GoneMeanwhile, LockTaken, NoSuchLock
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database, current_time, upsert
from holdfast.hosting.store.leases import take_lease
from holdfast.hosting.store.prepared_statements import Link, Statement
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import leases, lfs_links, lfs_locks, users

__all__ = [
    "Lock",
    "add_links",
    "add_lock",
    "claim_linked",
    "claim_unlinked",
    "claim_upload",
    "delete_expired_leases",
    "find_lock",
    "has_links",
    "link",
    "linked_at",
    "linked_sizes",
    "locks_of",
    "release_unlinked",
    "remove_links",
    "remove_lock",
]


@dataclass(frozen=True, slots=True)
class Lock:
    """A locked path."""

    id: int
    path: str
    owner_id: int
    owner: str
    locked_at: int


# An upload and a removal of an object exclude each other by a lease on it. The lease of uploads is shared, and
# lasts long enough for them to link the object; a merge that links the objects of another repository takes it too.
NAME: Final = "large file "
UPLOADING: Final = "brought"
REMOVING: Final = "removed"

LOCK = select(lfs_locks.c.id, lfs_locks.c.path, lfs_locks.c.owner_id, users.c.name, lfs_locks.c.locked_at).join(
    users, users.c.id == lfs_locks.c.owner_id
)


def linked_sizes(database: Database, repository: Repository, oids: Iterable[str]) -> dict[str, int]:
    """Return which of these objects a repository has, with their sizes."""
    statement = select(lfs_links.c.oid, lfs_links.c.size).where(
        lfs_links.c.repository_id == repository.id, lfs_links.c.oid.in_(list(oids))
    )
    with database.read() as connection:
        return {row.oid: row.size for row in connection.execute(statement)}


def has_links(database: Database, repository: Repository) -> bool:
    """Return whether a repository has any objects."""
    statement = select(lfs_links.c.oid).where(lfs_links.c.repository_id == repository.id).limit(1)
    with database.read() as connection:
        return connection.execute(statement).first() is not None


def linked_at(database: Database, repository: Repository, oid: str) -> int | None:
    """Return when an object was linked to a repository, or None."""
    statement = select(lfs_links.c.created_at).where(
        lfs_links.c.repository_id == repository.id, lfs_links.c.oid == oid
    )
    with database.read() as connection:
        return connection.execute(statement).scalar_one_or_none()


def link(database: Database, repository: Repository, oid: str, size: int) -> None:
    """Link an object to a repository; idempotent."""
    try:
        with database.write() as connection:
            add_links(connection, repository, {oid: size})
    except IntegrityError as error:
        raise GoneMeanwhile(f"repository {repository.full_name} was deleted in the meantime") from error


LINK_COLUMNS: Final = ("repository_id", "oid", "size", "created_at")
ADD_LINK = Statement(
    insert(lfs_links).from_select(
        LINK_COLUMNS,
        select(*(bindparam(name, type_=lfs_links.c[name].type) for name in LINK_COLUMNS)).where(
            ~exists().where(
                lfs_links.c.repository_id == bindparam("repository_id"), lfs_links.c.oid == bindparam("oid")
            )
        ),
    )
)


def add_links(link: Link, repository: Repository, sizes: Mapping[str, int]) -> None:
    """Record that a repository has some objects."""
    now = int(time.time())
    for oid, size in sizes.items():
        ADD_LINK.run(link, repository_id=repository.id, oid=oid, size=size, created_at=now)


def remove_links(connection: Connection, repository: Repository, oids: Iterable[str]) -> None:
    """Unlink objects from a repository."""
    of_repository = lfs_links.c.repository_id == repository.id
    connection.execute(delete(lfs_links).where(of_repository, lfs_links.c.oid.in_(list(oids))))


def claim_upload(database: Database, oid: str, *, seconds: float) -> bool:
    """Take the upload lease on an object, which prevents its removal; False while it is being removed."""
    return take_lease(database, NAME + oid, UPLOADING, seconds=seconds)


def claim_linked(
    database: Database, repository: Repository, oids: Iterable[str], *, seconds: float
) -> dict[str, int]:
    """Take the upload lease on those objects that a repository has; return these, with their sizes.

    They can be linked to another repository until the lease expires, even if this repository is deleted meanwhile.
    """
    linked = select(lfs_links.c.oid, lfs_links.c.size).where(lfs_links.c.repository_id == repository.id)
    moment = current_time(database)
    values = {"holder": UPLOADING, "until": moment + int(seconds)}
    with database.write() as connection:
        present = connection.execute(linked.where(lfs_links.c.oid.in_(list(oids)))).scalars()
        rows = [{"name": NAME + oid, **values} for oid in sorted(present)]
        if not rows:
            return {}
        claims = (
            upsert(database, leases)
            .values(rows)
            .on_conflict_do_update(
                index_elements=["name"],
                set_=values,
                where=or_(leases.c.until <= moment, leases.c.holder == UPLOADING),
            )
            .returning(leases.c.name)
        )
        taken = [name.removeprefix(NAME) for name in connection.execute(claims).scalars()]
        # Checked again after taking the lease: an object without a link may have been removed before.
        return {row.oid: row.size for row in connection.execute(linked.where(lfs_links.c.oid.in_(taken)))}


def claim_unlinked(
    database: Database, oids: Iterable[str], *, seconds: float, now: float | None = None
) -> list[str]:
    """Take the removal lease on those objects that are neither linked nor being uploaded; return these."""
    moment = current_time(database) if now is None else literal(int(now))
    values = {"holder": REMOVING, "until": moment + int(seconds)}
    # In one order, so that two transactions never wait for each other's rows.
    rows = [{"name": NAME + oid, **values} for oid in sorted(oids)]
    claims = (
        upsert(database, leases)
        .values(rows)
        .on_conflict_do_update(index_elements=["name"], set_=values, where=leases.c.until <= moment)
        .returning(leases.c.name)
    )
    with database.write() as connection:
        taken = {name.removeprefix(NAME) for name in connection.execute(claims).scalars()}
        # Checked after taking the lease: a concurrent upload has linked the object by now, or holds its lease.
        linked_oids = select(lfs_links.c.oid).where(lfs_links.c.oid.in_(taken)).distinct()
        linked = set(connection.execute(linked_oids).scalars())
        delete_removal_leases(connection, linked)
    return sorted(taken - linked)


def release_unlinked(database: Database, oids: Iterable[str]) -> None:
    """Release the removal leases."""
    with database.write() as connection:
        delete_removal_leases(connection, oids)


def delete_removal_leases(connection: Connection, oids: Iterable[str]) -> None:
    """Delete the removal leases of objects."""
    named = leases.c.name.in_([NAME + oid for oid in oids])
    connection.execute(delete(leases).where(named, leases.c.holder == REMOVING))


def delete_expired_leases(database: Database, connection: Connection, *, now: float | None = None) -> None:
    """Delete expired leases."""
    moment = current_time(database) if now is None else literal(int(now))
    connection.execute(delete(leases).where(leases.c.name.startswith(NAME), leases.c.until <= moment))


def locks_of(
    database: Database, repository: Repository, *, path: str = "", number: int = 0, after: int = 0, limit: int
) -> list[Lock]:
    """Return the locks of a repository with ids above `after`, oldest first."""
    statement = LOCK.where(lfs_locks.c.repository_id == repository.id, lfs_locks.c.id > after)
    if path:
        statement = statement.where(lfs_locks.c.path == path)
    if number:
        statement = statement.where(lfs_locks.c.id == number)
    with database.read() as connection:
        rows = connection.execute(statement.order_by(lfs_locks.c.id).limit(limit)).all()
    return [Lock(*row) for row in rows]


def find_lock(database: Database, repository: Repository, number: int) -> Lock:
    """Return a lock by id."""
    locks = locks_of(database, repository, number=number, limit=1)
    if not locks:
        raise NoSuchLock("no such lock")
    return locks[0]


def add_lock(database: Database, repository: Repository, path: str, owner: Account) -> Lock:
    """Lock a path for a user; raise `LockTaken` if it is locked."""
    row = {
        "repository_id": repository.id,
        "path": path,
        "owner_id": owner.id,
        "locked_at": int(time.time()),
    }
    try:
        with database.write() as connection:
            lock_id = connection.execute(upsert(database, lfs_locks).returning(lfs_locks.c.id), row).scalar_one()
    except IntegrityError as error:
        raise LockTaken("already created lock") from error
    return find_lock(database, repository, lock_id)


def remove_lock(database: Database, lock: Lock) -> None:
    """Delete a lock."""
    with database.write() as connection:
        connection.execute(delete(lfs_locks).where(lfs_locks.c.id == lock.id))
