"""Migrations in progress, and pull mirrors: their sources and the times of their next updates."""

import time
from typing import Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import migrations, mirrors, repositories
from holdfast.redacted_repr import redacted

__all__ = [
    "Migration",
    "Mirror",
    "abandoned_migrations",
    "add_migration",
    "add_mirror",
    "claim_due",
    "end_sync",
    "find_migration",
    "request_sync",
    "set_interval",
    "set_mirrored",
    "set_progress",
]

FIELDS: Final = ("status", "phase", "done", "total", "started_at", "updated_at")


class Migration(msgspec.Struct, frozen=True):
    """The progress of a migration."""

    status: str
    phase: str
    done: int
    total: int
    started_at: int
    updated_at: int


@redacted
class Mirror(msgspec.Struct, frozen=True):
    """A pull mirror; its secret is encrypted."""

    repository_id: int
    remote_address: str
    username: str
    secret: str
    interval: int
    next_sync_at: int | None
    last_error: str


MIRROR: Final = tuple(mirrors.c[name] for name in Mirror.__struct_fields__)


def add_migration(connection: Connection, repository_id: int, actor_id: int, phase: str) -> None:
    """Record the start of a migration."""
    now = int(time.time())
    row = {"repository_id": repository_id, "actor_id": actor_id, "status": "running", "phase": phase}
    connection.execute(insert(migrations), {**row, "started_at": now, "updated_at": now})


def set_progress(
    connection: Connection,
    repository_id: int,
    *,
    status: str = "running",
    phase: str,
    done: int = 0,
    total: int = 0,
) -> None:
    """Record the progress of a migration."""
    values = {"status": status, "phase": phase, "done": done, "total": total, "updated_at": int(time.time())}
    connection.execute(update(migrations).where(migrations.c.repository_id == repository_id).values(values))


def find_migration(database: Database, repository_id: int) -> Migration | None:
    """Return the migration that created a repository; None if there was none."""
    statement = select(*(migrations.c[name] for name in FIELDS)).where(migrations.c.repository_id == repository_id)
    with database.read() as connection:
        row = connection.execute(statement).one_or_none()
    return None if row is None else Migration(*row)


def abandoned_migrations(database: Database, before: int) -> list[int]:
    """Return repositories with an unfinished migration and no progress since a time; a hundred at most."""
    is_abandoned = (migrations.c.status == "running", migrations.c.updated_at < before)
    with database.read() as connection:
        statement = select(migrations.c.repository_id).where(*is_abandoned).limit(100)
        return list(connection.execute(statement).scalars())


def add_mirror(
    connection: Connection, repository_id: int, remote_address: str, *, username: str, secret: str, interval: int
) -> None:
    """Make a repository a mirror."""
    now = int(time.time())
    row = {
        "repository_id": repository_id,
        "remote_address": remote_address,
        "username": username,
        "secret": secret,
        "interval": interval,
        "next_sync_at": now + interval if interval else None,
        "created_at": now,
    }
    connection.execute(insert(mirrors), row)


def request_sync(database: Database, repository_id: int) -> bool:
    """Make a mirror due immediately; return False if the repository is not a mirror."""
    statement = update(mirrors).where(mirrors.c.repository_id == repository_id)
    with database.write() as connection:
        return connection.execute(statement.values(next_sync_at=int(time.time()))).rowcount > 0


def set_interval(connection: Connection, repository_id: int, interval: int) -> None:
    """Change how often a mirror is updated."""
    after = int(time.time()) + interval if interval else None
    statement = update(mirrors).where(mirrors.c.repository_id == repository_id)
    connection.execute(statement.values(interval=interval, next_sync_at=after))


def claim_due(database: Database, *, seconds: int, now: int) -> Mirror | None:
    """Claim the mirror that has been due the longest for `seconds`; None if none is due."""
    first = (
        select(mirrors.c.repository_id)
        .where(mirrors.c.next_sync_at <= now)
        .order_by(mirrors.c.next_sync_at)
        .limit(1)
        .scalar_subquery()
    )
    claimed = (
        update(mirrors)
        .where(mirrors.c.repository_id == first, mirrors.c.next_sync_at <= now)
        .values(next_sync_at=now + seconds)
        .returning(*MIRROR)
    )
    with database.write() as connection:
        row = connection.execute(claimed).one_or_none()
    return None if row is None else Mirror(*row)


def end_sync(database: Database, mirror: Mirror, *, error: str, retry_after: int, now: int) -> None:
    """Record that a claimed mirror was updated, or the error, and when it is due next.

    A mirror for which an update was requested meanwhile stays due.
    """
    wait = max(mirror.interval, retry_after) if error else mirror.interval
    of_repository = mirrors.c.repository_id == mirror.repository_id
    with database.write() as connection:
        connection.execute(update(mirrors).where(of_repository).values(last_error=error))
        connection.execute(
            update(mirrors)
            .where(of_repository, mirrors.c.next_sync_at == mirror.next_sync_at)
            .values(next_sync_at=now + wait if mirror.interval else None)
        )
        if not error:
            set_mirrored(connection, mirror.repository_id)


def set_mirrored(connection: Connection, repository_id: int) -> None:
    """Record that a mirror is up to date."""
    statement = update(repositories).where(repositories.c.id == repository_id)
    connection.execute(statement.values(mirrored_at=int(time.time())))
