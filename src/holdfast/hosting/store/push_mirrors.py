"""Push mirrors: remote repositories that are updated from a local one."""

import time
from typing import Final

import msgspec
from sqlalchemy import Connection, and_, delete, func, insert, or_, select, update

from holdfast.hosting.errors import NoSuchPushMirror
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import push_mirrors, repositories
from holdfast.redacted_repr import redacted

__all__ = [
    "PushMirror",
    "add_push_mirror",
    "claim_due",
    "count_push_mirrors",
    "end_push",
    "find_push_mirror",
    "list_push_mirrors",
    "remove_credentials",
    "remove_push_mirror",
    "request_push",
]


@redacted
class PushMirror(msgspec.Struct, frozen=True):
    """A push mirror; its secret is encrypted. The fields are columns of the table."""

    id: int
    repository_id: int
    name: str
    remote_address: str
    username: str
    secret: str
    interval: int
    sync_on_commit: bool
    next_sync_at: int | None
    pushed_version: int
    last_error: str
    last_update: int
    created_at: int


COLUMNS: Final = tuple(push_mirrors.c[name] for name in PushMirror.__struct_fields__)


def add_push_mirror(database: Database, repository: Repository, **columns: str | int | bool) -> PushMirror:
    """Add a push mirror, which is due immediately."""
    now = int(time.time())
    row = {"repository_id": repository.id, "next_sync_at": now, "created_at": now, **columns}
    with database.write() as connection:
        new_row = connection.execute(insert(push_mirrors).returning(*COLUMNS), row).one()
    return PushMirror(*new_row)


def count_push_mirrors(database: Database, repository: Repository) -> int:
    """Return how many push mirrors a repository has."""
    statement = select(func.count()).where(push_mirrors.c.repository_id == repository.id)
    with database.read() as connection:
        return connection.execute(statement).scalar_one()


def list_push_mirrors(
    database: Database, repository: Repository, *, skip: int, limit: int
) -> tuple[list[PushMirror], int]:
    """Return a page of the push mirrors of a repository, oldest first, and the total."""
    statement = select(*COLUMNS).where(push_mirrors.c.repository_id == repository.id).order_by(push_mirrors.c.id)
    with database.read() as connection:
        mirrors = [PushMirror(*row) for row in connection.execute(statement.offset(skip).limit(limit))]
    return mirrors, count_push_mirrors(database, repository)


def find_push_mirror(database: Database, repository: Repository, name: str) -> PushMirror:
    """Return a push mirror by name; raise `NoSuchPushMirror`."""
    condition = and_(push_mirrors.c.repository_id == repository.id, push_mirrors.c.name == name)
    with database.read() as connection:
        row = connection.execute(select(*COLUMNS).where(condition)).one_or_none()
    if row is None:
        raise NoSuchPushMirror
    return PushMirror(*row)


def remove_push_mirror(database: Database, mirror: PushMirror) -> None:
    """Delete a push mirror."""
    with database.write() as connection:
        connection.execute(delete(push_mirrors).where(push_mirrors.c.id == mirror.id))


def remove_credentials(connection: Connection, repository_id: int, reason: str) -> None:
    """Remove the credentials of a repository's push mirrors, which then have an error and wait for a request."""
    has_credentials = or_(push_mirrors.c.username != "", push_mirrors.c.secret != "")
    statement = update(push_mirrors).where(push_mirrors.c.repository_id == repository_id, has_credentials)
    connection.execute(statement.values(username="", secret="", next_sync_at=None, last_error=reason))


def request_push(database: Database, repository: Repository) -> int:
    """Make the push mirrors of a repository due immediately; return how many there are."""
    statement = update(push_mirrors).where(push_mirrors.c.repository_id == repository.id)
    with database.write() as connection:
        return connection.execute(statement.values(next_sync_at=int(time.time()))).rowcount


def claim_due(database: Database, *, seconds: int, now: int) -> PushMirror | None:
    """Claim a push mirror that is due for `seconds`; None if none is due.

    One with `sync_on_commit` is due when its repository has changed since the last push, unless that failed. If
    the process that claims it ends before `end_push`, it is due again when the claim ends.
    """
    changed = and_(
        push_mirrors.c.sync_on_commit,
        push_mirrors.c.last_error == "",
        repositories.c.version > push_mirrors.c.pushed_version,
    )
    is_due = and_(push_mirrors.c.claimed_until <= now, or_(push_mirrors.c.next_sync_at <= now, changed))
    first = (
        select(push_mirrors.c.id)
        .join(repositories, repositories.c.id == push_mirrors.c.repository_id)
        .where(is_due)
        .order_by(push_mirrors.c.id)
        .limit(1)
        .scalar_subquery()
    )
    claimed = (
        update(push_mirrors)
        .where(push_mirrors.c.id == first, push_mirrors.c.claimed_until <= now)
        .values(claimed_until=now + seconds, next_sync_at=now + seconds)
        .returning(*COLUMNS)
    )
    with database.write() as connection:
        row = connection.execute(claimed).one_or_none()
    return None if row is None else PushMirror(*row)


def end_push(database: Database, mirror: PushMirror, *, error: str, version: int, wait: int) -> None:
    """Record that a claimed push mirror was pushed, or the error, and when it is due next.

    A mirror for which a push was requested meanwhile stays due.
    """
    now = int(time.time())
    statement = update(push_mirrors).where(push_mirrors.c.id == mirror.id)
    values: dict[str, str | int] = {"claimed_until": 0, "last_error": error}
    if not error:
        values |= {"last_update": now, "pushed_version": version}
    with database.write() as connection:
        connection.execute(statement.values(**values))
        unrequested = statement.where(push_mirrors.c.next_sync_at == mirror.next_sync_at)
        connection.execute(unrequested.values(next_sync_at=now + wait if wait else None))
