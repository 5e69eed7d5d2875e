"""Looking after what is kept: clearing away what has run out, and packing repositories."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog
from sqlalchemy import delete

from holdfast.hosting.app import Host
from holdfast.hosting.errors import GitError
from holdfast.hosting.git import gc
from holdfast.hosting.services import lfs_objects
from holdfast.hosting.store import lfs, outbox, repositories
from holdfast.hosting.store.login_rate_limit import expired
from holdfast.hosting.store.tables import login_failures, sessions

__all__ = [
    "Cleaned",
    "Collected",
    "clean",
    "collect",
    "collect_needed",
    "forget_deliveries",
    "needs_collecting",
]

MANY_LOOSE: Final = 2000
MANY_PACKS: Final = 20
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What was cleared away."""

    sessions: int
    login_failures: int
    lfs_objects: int
    """Large files no repository has had for a while."""
    lfs_uploads: int
    """What was left of large files that never arrived."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of the repositories that were to be packed: their ids."""

    packed: tuple[int, ...]
    busy: tuple[int, ...]
    failed: tuple[int, ...]


def clean(host: Host, *, now: float | None = None) -> Cleaned:
    """Clear away sessions that have run out, wrong passwords that no longer count, and half-made things."""
    moment = int(time.time() if now is None else now)
    window = host.settings.login_failure_minutes * 60
    with host.database.write() as connection:
        ended = connection.execute(delete(sessions).where(sessions.c.expires_at <= moment)).rowcount
        old = delete(login_failures).where(expired(moment, window))
        forgotten = connection.execute(old).rowcount
        lfs.end_claims(connection, now=moment)
    host.folders.sweep(now=now)
    cleared = lfs_objects.clear(host, now=moment)
    return Cleaned(ended, forgotten, cleared.objects, cleared.unfinished)


def forget_deliveries(host: Host, *, now: float | None = None) -> int:
    """Remove what webhooks were told longer ago than it is kept, and events nobody is still to be told of."""
    moment = int(time.time() if now is None else now)
    return outbox.forget(host.database, before=moment - host.settings.webhook_history_days * 86_400)


def needs_collecting(folder: Path) -> bool:
    """Tell whether a repository has so many loose objects or packs that reading it becomes slow."""
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


def collect(
    host: Host,
    numbers: Iterable[int],
    *,
    grace: int = gc.GRACE,
    passed: Callable[[int], object] = lambda number: number,
) -> Collected:
    """Pack repositories and drop what nothing leads to; those a backup is being made of are left for later."""
    packed: list[int] = []
    busy: list[int] = []
    failed: list[int] = []
    for number in numbers:
        try:
            done = gc.collect(host.folders.existing(number), grace=grace)
            if done:
                measure(host, number)
        except (GitError, OSError) as error:
            if not host.folders.exists(number):
                continue  # deleted meanwhile
            log.warning("a repository cannot be packed", repository=number, error=type(error).__name__)
            failed.append(number)
        else:
            (packed if done else busy).append(number)
        passed(number)
    return Collected(tuple(packed), tuple(busy), tuple(failed))


def measure(host: Host, number: int) -> None:
    """Write down how many bytes a repository takes now that it is packed."""
    moment = int(time.time())
    size = host.folders.size(number)
    with host.database.write() as connection:
        repositories.note_size(connection, number, size, measured_at=moment)


def collect_needed(host: Host) -> Collected:
    """Pack the repositories that need it."""
    return collect(host, (number for number in host.folders.all_ids() if needs(host, number)))


def needs(host: Host, number: int) -> bool:
    """Tell whether a repository that may vanish meanwhile needs packing."""
    try:
        return needs_collecting(host.folders.path(number))
    except OSError:
        return False
