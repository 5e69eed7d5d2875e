"""Maintenance: deletion of expired rows, compaction and garbage collection of repositories."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import structlog
from sqlalchemy import delete

from holdfast.hosting.app import App
from holdfast.hosting.errors import HostingError, StorageError
from holdfast.hosting.git.history import refresh_commit_graph
from holdfast.hosting.services import attachments, chat_uploads, lfs_objects
from holdfast.hosting.storage import instance
from holdfast.hosting.storage.backup_lease import is_backup_running
from holdfast.hosting.store import lfs, outbox, passkeys, repositories, repository_log
from holdfast.hosting.store.login_rate_limit import expired
from holdfast.hosting.store.tables import login_failures, sessions

__all__ = [
    "CleanupResult",
    "CompactionResult",
    "clean",
    "collect_expired",
    "collect_garbage",
    "compact",
    "compact_all",
    "delete_old_deliveries",
    "delete_orphaned_copies",
    "delete_packs",
    "delete_temporary_files",
    "evict_copies",
    "tidy_copies",
    "verify_copies",
]

# Incomplete uploads are deleted after this time.
UPLOAD_SECONDS: Final = 86_400
# What is read of the local copies in one run: about a second with a fast disk, and 700 GiB in the runs of a day.
VERIFIED_BYTES: Final = 512 * 2**20
# A write of another machine may be about to record a ref to objects that were reachable when it began, and which
# it therefore has not packed. Its upload of a large pack may take this long.
LEAST_RETENTION_SECONDS: Final = 3600
# Copies of deleted repositories are deleted after this time without use, and so many in one run.
ORPHAN_SECONDS: Final = 86_400
ORPHANS_AT_ONCE: Final = 100
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CleanupResult:
    """Numbers of deleted rows and objects."""

    sessions: int
    login_failures: int
    lfs_objects: int
    """LFS objects without a link."""
    uploads: int
    """Incomplete uploads to the object store."""


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The ids of repositories that were compacted, that another machine had locked, and that failed."""

    compacted: tuple[int, ...]
    busy: tuple[int, ...]
    failed: tuple[int, ...]


def clean(app: App, *, now: float | None = None) -> CleanupResult:
    """Delete expired sessions, counters, challenges, idempotency keys and uploads, and incomplete files."""
    moment = int(time.time() if now is None else now)
    window = app.settings.login_failure_minutes * 60
    with app.database.write() as connection:
        ended = connection.execute(delete(sessions).where(sessions.c.expires_at <= moment)).rowcount
        old = delete(login_failures).where(expired(moment, window))
        forgotten = connection.execute(old).rowcount
        lfs.delete_expired_leases(app.database, connection, now=now)
        passkeys.delete_expired_challenges(connection, now=moment)
    app.folders.sweep(now=now)
    removed = lfs_objects.collect_garbage(app, now=now)
    attachments.collect_garbage(app, now=moment)
    chat_uploads.expire(app, now=moment)
    chat_uploads.collect_garbage(app, now=moment)
    return CleanupResult(ended, forgotten, removed, delete_unfinished_uploads(app, moment))


def delete_unfinished_uploads(app: App, now: int) -> int:
    """Delete incomplete files and multipart uploads after a day; errors of the store are logged."""
    try:
        return app.store.delete_unfinished(now - UPLOAD_SECONDS)
    except StorageError as error:
        log.warning("unfinished uploads not deleted", error=str(error))
        return 0


def delete_temporary_files(app: App, *, now: float | None = None) -> None:
    """Delete the temporary files and folders of this machine that a process that was killed has left."""
    moment = time.time() if now is None else now
    app.folders.sweep(now=moment)
    app.store.delete_incoming(moment - UPLOAD_SECONDS)


def delete_old_deliveries(app: App, *, now: float | None = None) -> int:
    """Delete webhook deliveries after their retention period, and events without deliveries."""
    moment = int(time.time() if now is None else now)
    return outbox.delete_old_deliveries(app.database, before=moment - app.settings.webhook_history_days * 86_400)


def compact(
    app: App, numbers: Iterable[int], *, progress: Callable[[int], object] = lambda number: number
) -> CompactionResult:
    """Compact repositories that have many packs; skips a repository that another machine is compacting."""
    compacted: list[int] = []
    busy: list[int] = []
    failed: list[int] = []
    for number in numbers:
        try:
            if app.compactor.is_needed(number):
                (compacted if app.compactor.compact(number) else busy).append(number)
        except (HostingError, OSError) as error:
            if repositories.find_by_id(app.database, number) is not None:
                log.warning("compaction failed", repository_id=number, error=type(error).__name__)
                failed.append(number)
        progress(number)
    return CompactionResult(tuple(compacted), tuple(busy), tuple(failed))


def collect_garbage(
    app: App, numbers: Iterable[int], *, progress: Callable[[int], object] = lambda number: number
) -> CompactionResult:
    """Delete objects unreachable from refs, current or within the retention time, and compact the rest."""
    collected: list[int] = []
    busy: list[int] = []
    failed: list[int] = []
    for number in numbers:
        try:
            is_done = app.compactor.collect_garbage(number, retention_seconds=retention_seconds(app))
            (collected if is_done else busy).append(number)
        except (HostingError, OSError) as error:
            if repositories.find_by_id(app.database, number) is not None:
                log.warning("garbage collection failed", repository_id=number, error=type(error).__name__)
                failed.append(number)
        progress(number)
    return CompactionResult(tuple(collected), tuple(busy), tuple(failed))


def retention_seconds(app: App) -> int:
    """Return how long former ref targets are kept."""
    return max(app.settings.ref_retention_days * 86_400, LEAST_RETENTION_SECONDS)


def collect_expired(app: App, *, now: float | None = None) -> CompactionResult:
    """Collect the garbage of repositories where the retention time of a former ref target has ended.

    Each is considered from where its last collection ended, so that what expired while the service was stopped, or
    while a repository was busy or could not be read, is collected by a later run.
    """
    ended = int(time.time() if now is None else now) - retention_seconds(app)
    results = [
        collect_since(app, number, since, ended)
        for number, since in repository_log.with_expired_refs(app.database, ended).items()
    ]
    return CompactionResult(
        tuple(number for result in results for number in result.compacted),
        tuple(number for result in results for number in result.busy),
        tuple(number for result in results for number in result.failed),
    )


def collect_since(app: App, number: int, since: int, until: int) -> CompactionResult:
    """Collect the garbage of a repository if ref updates in a time range left any, and record that it is done."""
    result = CompactionResult((), (), ())
    try:
        if app.compactor.has_garbage(number, since=since, until=until):
            result = collect_garbage(app, [number])
        if not result.busy and not result.failed:
            repository_log.set_collected(app.database, number, until)
    except (HostingError, OSError) as error:
        if repositories.find_by_id(app.database, number) is not None:
            log.warning("garbage collection failed", repository_id=number, error=type(error).__name__)
    return result


def compact_all(app: App) -> CompactionResult:
    """Compact every repository that needs it, including those left by a process that ended after a write."""
    return compact(app, repository_log.repositories_with_packs(app.database))


def delete_packs(app: App) -> None:
    """Delete superseded packs, and orphaned packs of the object store."""
    # A running backup may be about to read them.
    if not is_backup_running(app.database):
        app.compactor.delete_superseded()
        if instance.owns_store(app.database, app.store):
            app.compactor.delete_orphans()


def evict_copies(app: App) -> int:
    """Evict the least recently used local copies, down to the setting `local_copies_mb`; return how many."""
    limit = app.settings.local_copies_mb * 2**20
    return app.copies.evict(limit) if limit else 0


def tidy_copies(app: App) -> int:
    """Replace packs of local copies by the result of a compaction, on any machine; return how many were tidied.

    A copy receives the objects of each new version as loose objects or as a small pack. Without this, only the
    machine that compacts a repository would have a copy that is fast to read.
    """
    tidied = 0
    for number in app.copies.outdated():
        try:
            if app.copies.tidy_outdated(number):
                refresh_commit_graph(app.folders.path(number))
                tidied += 1
        except (HostingError, OSError) as error:
            if repositories.find_by_id(app.database, number) is not None:
                log.warning("local copy not tidied", repository_id=number, error=type(error).__name__)
    return tidied


def delete_orphaned_copies(app: App, *, now: float | None = None) -> int:
    """Delete local copies of repositories that another machine has deleted; return how many.

    Those that were not used for a day are deleted, `ORPHANS_AT_ONCE` at most. If the database does not belong to
    the data folder, nothing is deleted.
    """
    if instance.mismatch(app.database, app.settings):
        return 0
    before = (time.time() if now is None else now) - ORPHAN_SECONDS
    # In this order: a repository that is created concurrently must not be taken for deleted.
    copies = sorted(app.folders.all_ids())
    with app.database.read() as connection:
        existing = repositories.repositories_by_id(connection, copies)
    deleted = 0
    for number in copies:
        if number not in existing and deleted < ORPHANS_AT_ONCE and app.copies.delete_orphan(number, before):
            app.archives.discard(number)
            app.fetches.discard(number)
            deleted += 1
    return deleted


def verify_copies(app: App) -> int:
    """Verify the checksums of some local copies, and delete corrupt ones; return how many bytes were read."""
    return app.verifier.run(VERIFIED_BYTES)
