"""Maintenance: deletion of expired rows, and garbage collection of repositories."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import delete

from holdfast.hosting.app import App
from holdfast.hosting.errors import GitError
from holdfast.hosting.git import gc
from holdfast.hosting.services import lfs_objects
from holdfast.hosting.store import lfs, outbox, repositories
from holdfast.hosting.store.login_rate_limit import expired
from holdfast.hosting.store.tables import login_failures, sessions

__all__ = [
    "CleanupResult",
    "GarbageCollection",
    "clean",
    "collect_repositories",
    "collect_where_needed",
    "delete_old_deliveries",
    "needs_gc",
]

MANY_LOOSE: Final = 2000
MANY_PACKS: Final = 20
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """What was deleted."""

    sessions: int
    login_failures: int
    lfs_objects: int
    """LFS objects without a link."""
    lfs_uploads: int
    """Incomplete LFS uploads."""


@dataclass(frozen=True, slots=True)
class GarbageCollection:
    """The result of a garbage collection: repository ids."""

    packed: tuple[int, ...]
    busy: tuple[int, ...]
    failed: tuple[int, ...]


def clean(app: App, *, now: float | None = None) -> CleanupResult:
    """Delete expired sessions, rate limit counters and idempotency keys, and incomplete files."""
    moment = int(time.time() if now is None else now)
    window = app.settings.login_failure_minutes * 60
    with app.database.write() as connection:
        ended = connection.execute(delete(sessions).where(sessions.c.expires_at <= moment)).rowcount
        old = delete(login_failures).where(expired(moment, window))
        forgotten = connection.execute(old).rowcount
        lfs.delete_expired_leases(connection, now=moment)
    app.folders.sweep(now=now)
    cleared = lfs_objects.collect_garbage(app, now=moment)
    return CleanupResult(ended, forgotten, cleared.objects, cleared.unfinished)


def delete_old_deliveries(app: App, *, now: float | None = None) -> int:
    """Delete webhook deliveries after their retention period, and events without deliveries."""
    moment = int(time.time() if now is None else now)
    return outbox.delete_old_deliveries(app.database, before=moment - app.settings.webhook_history_days * 86_400)


def needs_gc(folder: Path) -> bool:
    """Return whether a repository has enough loose objects or packs to slow down reading."""
    objects = folder / "objects"
    packs = sum(1 for _ in (objects / "pack").glob("*.pack"))
    if packs > MANY_PACKS:
        return True
    loose = 0
    for place in objects.glob("[0-9a-f][0-9a-f]"):
        loose += sum(1 for _ in place.iterdir())
        if loose > MANY_LOOSE:
            return True
    return False


def collect_repositories(
    app: App,
    numbers: Iterable[int],
    *,
    grace: int = gc.GRACE,
    passed: Callable[[int], object] = lambda number: number,
) -> GarbageCollection:
    """Run `git gc` on repositories; those locked by a backup are skipped."""
    packed: list[int] = []
    busy: list[int] = []
    failed: list[int] = []
    for number in numbers:
        try:
            done = gc.collect_garbage(app.folders.existing(number), grace=grace)
            if done:
                measure(app, number)
        except (GitError, OSError) as error:
            if not app.folders.exists(number):
                continue  # deleted concurrently
            log.warning("repository garbage collection failed", repository=number, error=type(error).__name__)
            failed.append(number)
        else:
            (packed if done else busy).append(number)
        passed(number)
    return GarbageCollection(tuple(packed), tuple(busy), tuple(failed))


def measure(app: App, number: int) -> None:
    """Store the size of a repository."""
    moment = int(time.time())
    size = app.folders.size(number)
    with app.database.write() as connection:
        repositories.set_size(connection, number, size, measured_at=moment)


def collect_where_needed(app: App) -> GarbageCollection:
    """Collect the repositories that need it."""
    return collect_repositories(app, (number for number in app.folders.all_ids() if needs(app, number)))


def needs(app: App, number: int) -> bool:
    """Return whether a repository needs collecting; False if it was deleted concurrently."""
    try:
        return needs_gc(app.folders.path(number))
    except OSError:
        return False
