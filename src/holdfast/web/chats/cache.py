"""The on-disk cache of imported chat backups, shared by all worker processes through file locks.

Each entry is a folder below `cache/chats`, named after the location and the content of its source. The process
that holds the lock of an entry imports it; the others read its progress. Entries can be deleted at any time; the
least recently used are evicted when the cache exceeds its size limit.
"""

import fcntl
import hashlib
import hmac
import os
import shutil
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

import msgspec
import structlog

from holdfast.backup.archives import Archive
from holdfast.backup.archives.schema import VERSION
from holdfast.backup.errors import ArchiveError, BackupError
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast.web.chats.cache_entries import (
    CacheEntry,
    CacheLimits,
    ConversationSource,
    ImportFailed,
    ImportNotStarted,
    ImportReady,
    ImportRunning,
    KeyRequired,
    State,
)
from holdfast.web.chats.encrypted_media import EncryptedMedia, media_of
from holdfast.web.chats.encryption import key_for, open_sealed
from holdfast.web.chats.export_process import ExportFailed, start_export
from holdfast.web.chats.export_worker import ExportForm, ExportTask
from holdfast.web.chats.file_kinds import FileKind
from holdfast.web.chats.import_limits import ImportClient, ImportInProgress, acquire_slot, record_start
from holdfast.web.chats.import_process import SPOOLED, entry_size, exit_reason, run
from holdfast.web.chats.import_worker import (
    PROBLEM,
    PROGRESS,
    READY,
    SEALED,
    ImportProblem,
    ImportProgress,
    ImportTask,
    write_atomically,
)
from holdfast.web.chats.locks import LOCK, is_locked, open_private, private_folder, try_lock, try_lock_entry
from holdfast.web.chats.open_archive import OpenArchive, open_archive_file

__all__ = ["ConversationCache", "RunningImport", "cache_of"]

log = structlog.get_logger(__name__)
Note = TypeVar("Note", bound=msgspec.Struct)

# The number of archives that stay open in one process, and the idle timeout of an encrypted one.
MAX_OPEN: Final = 8
MAX_OPEN_SEALED: Final = 2
SEALED_IDLE_S: Final = 15 * 60
# The number of concurrent imports of all processes together, and the length of the queue.
AT_ONCE: Final = 2
QUEUE: Final = 8
TRY_AGAIN_S: Final = 0.2
DAY_S: Final = 86_400
KEPT_S: Final = 30 * DAY_S
SEALED_KEPT_S: Final = DAY_S
# How long the error of a failed import is kept; shorter for a wrong key, which should leave nothing behind.
FAILED_KEPT_S: Final = 3600
KEY_FAILED_KEPT_S: Final = 60
MOST_ENTRIES: Final = 1000
LAYOUT: Final = 3
RECORD: Final = "record"


@dataclass(frozen=True, slots=True)
class RunningImport:
    """An import started by this process; it is done when `thread` has ended."""

    entry: Path
    thread: threading.Thread


@dataclass(frozen=True, slots=True, repr=False)
class ImportJob:
    """A backup to import: its locks, its keys, and the encryption key of the cache entry."""

    source: ConversationSource
    entry: Path
    record: CacheEntry
    lock: BinaryIO
    slot: BinaryIO
    keys: str
    key: bytes


class ConversationCache:
    """The cache of one service: looks up, imports, evicts (LRU) and expires conversations."""

    def __init__(self, folder: Path, limits: CacheLimits) -> None:
        self.folder = folder / f"{LAYOUT}-{VERSION}"
        self.limits = limits
        self._lock = threading.Lock()
        self._open_archives: dict[str, OpenArchive] = {}

    def look(self, source: ConversationSource, viewer: ImportClient, secret: Secret | None = None) -> State:
        """Return the state of a conversation; an import that needs no key is started if none is running."""
        if source.kind is FileKind.SEALED and secret is None:
            return KeyRequired() if viewer.may_start else ImportNotStarted()
        entry = self._entry(source, viewer, secret)
        archive = self._open_archive(entry, source, viewer, secret)
        if archive is not None:
            return ImportReady(archive)
        if is_locked(entry):
            return ImportRunning(read_record(entry / PROGRESS, ImportProgress) or ImportProgress())
        problem = read_record(entry / PROBLEM, ImportProblem)
        if problem is not None:
            if source.kind is not FileKind.SEALED:
                return ImportFailed(problem.text)
            # The error of a wrong key is reported once, then deleted.
            self._remove(entry)
            return KeyRequired(problem.text) if problem.key else ImportFailed(problem.text)
        # The import may have finished between the two checks.
        archive = self._open_archive(entry, source, viewer, secret)
        if archive is not None:
            return ImportReady(archive)
        if not viewer.may_start:
            return ImportNotStarted()
        if source.kind is FileKind.SEALED:
            return KeyRequired()
        self.begin(source, viewer)
        return ImportRunning(ImportProgress())

    def begin(
        self,
        source: ConversationSource,
        viewer: ImportClient,
        secret: Secret | None = None,
        keys: Secret | None = None,
    ) -> RunningImport | None:
        """Start an import; return None if one is running already.

        Raises `ImportRefused` if a limit is exceeded.
        """
        entry = self._entry(source, viewer, secret)
        sealed = source.kind is FileKind.SEALED
        with self._mutex():
            lock = try_lock_entry(entry)
            if lock is None:
                return None
            try:
                record = self._record(entry, source, viewer, secret)
                slot = self._admit(entry, record, viewer)
                (entry / PROBLEM).unlink(missing_ok=True)
                (entry / PROGRESS).unlink(missing_ok=True)
                write_atomically(entry / RECORD, record)
            except BaseException:
                if not self._is_whole(entry):
                    shutil.rmtree(entry, ignore_errors=True)
                lock.close()
                raise
        key = b"" if secret is None or not sealed else key_for(secret, bind_to_session(source.content, viewer))
        job = ImportJob(source, entry, record, lock, slot, "" if keys is None else keys.reveal(), key)
        thread = threading.Thread(target=self._import, args=(job,), daemon=True, name="chat import")
        thread.start()
        return RunningImport(entry, thread)

    def problem_of(self, running: RunningImport) -> ImportProblem | None:
        """Return why an import with a key failed, and delete its cache entry."""
        problem = read_record(running.entry / PROBLEM, ImportProblem)
        if problem is not None:
            self._remove(running.entry)
        return problem

    def forget(self, source: ConversationSource, viewer: ImportClient, secret: Secret | None = None) -> None:
        """Delete the cache entry of a conversation, so that the next request imports it again."""
        self._remove(self._entry(source, viewer, secret))

    def forget_browser(self, secret: Secret) -> None:
        """Delete every encrypted cache entry of one browser."""
        browser = browser_id(secret)
        self.drop(lambda record: record.browser == browser)

    def is_ready(self, source: ConversationSource, viewer: ImportClient, secret: Secret | None = None) -> bool:
        """Return whether an entry is in the cache."""
        entry = self._entry(source, viewer, secret)
        return (entry / (SEALED if source.kind is FileKind.SEALED else READY)).is_file()

    def begin_export(
        self,
        source: ConversationSource,
        viewer: ImportClient,
        form: ExportForm,
        secret: Secret | None = None,
        *,
        is_current: Callable[[CacheEntry], bool] = lambda _record: True,
    ) -> Generator[bytes, None, None] | None:
        """Start the export of a conversation, and return an iterator of its bytes; None unless it is imported.

        The export of an encrypted conversation ends when its entry is deleted, or when `is_current` returns False
        for the record of the entry.

        Raises `ImportRefused` if a limit is exceeded (exports count as imports), `ExportFailed` if the export
        fails.
        """
        if not self.is_ready(source, viewer, secret):
            return None
        sealed = source.kind is FileKind.SEALED
        key = b"" if secret is None or not sealed else key_for(secret, bind_to_session(source.content, viewer))
        entry = self._entry(source, viewer, secret)
        path = entry / (SEALED if sealed else READY)
        record = read_record(entry / RECORD, CacheEntry)
        media = exported_media(source) if sealed else None

        def may_continue() -> bool:
            if not sealed:
                return True
            with suppress(OSError):
                # It is in use, so it is not evicted.
                os.utime(entry)
            return path.is_file() and record is not None and is_current(record)

        with self._mutex():
            slot = acquire_slot(self.folder, AT_ONCE, "exporting")
            try:
                record_start(self.folder, viewer, self.limits.per_hour)
            except BaseException:
                slot.close()
                raise
        task = ExportTask(str(path), form, self.limits.imports, key)
        return start_export(task, slot, None if media is None else media.files, may_continue)

    def drop(self, unwanted: Callable[[CacheEntry], bool]) -> None:
        """Delete the cache entries a predicate selects, except those being imported."""
        for entry, record in self._entries():
            if record is not None and unwanted(record):
                self._remove(entry)
        self.close_removed()

    def close_removed(self) -> None:
        """Close archives whose entries another process has deleted, and idle ones."""
        with self._lock:
            self._close_archives()

    def close(self) -> None:
        """Close all archives, when the service stops."""
        with self._lock:
            archives = list(self._open_archives.values())
            self._open_archives.clear()
        for archive in archives:
            archive.close()

    def clear_leftovers(self) -> None:
        """Delete the leftovers of interrupted imports, and entries of other cache versions."""
        for folder in self.folder.parent.iterdir() if self.folder.parent.is_dir() else ():
            if folder.name != self.folder.name:
                shutil.rmtree(folder, ignore_errors=True)
        if self.folder.is_dir():
            private_folder(self.folder)
        for entry, record in self._entries():
            lock = try_lock_entry(entry, make=False)
            if lock is None:
                continue
            with lock:
                if record is None or not self._is_whole(entry):
                    shutil.rmtree(entry, ignore_errors=True)
                    continue
                for name in entry.iterdir():
                    if name.name == SPOOLED or name.name.startswith("new.db") or name.suffix in {".part", ".new"}:
                        remove_path(name)
        self.close_removed()

    @staticmethod
    def _is_whole(entry: Path) -> bool:
        """Return whether an entry is complete: imported chats, or the reason of a failure."""
        return any((entry / name).is_file() for name in (READY, SEALED, PROBLEM))

    def _entries(self) -> list[tuple[Path, CacheEntry | None]]:
        """List the entries, least recently used first."""
        try:
            folders = [
                (item.stat().st_mtime, Path(item.path)) for item in os.scandir(self.folder) if item.is_dir()
            ]
        except FileNotFoundError:
            return []
        return [(path, read_record(path / RECORD, CacheEntry)) for _, path in sorted(folders)]

    def _entry(self, source: ConversationSource, viewer: ImportClient, secret: Secret | None) -> Path:
        """Return the folder of a conversation; an encrypted one has one for each browser and login session."""
        origin = 0 if source.origin is None else source.origin.place
        name = hashlib.sha256(f"{source.kind.value} {origin} {source.content}".encode()).hexdigest()
        if source.kind is FileKind.SEALED and secret is not None:
            bound = bind_to_session(name, viewer).encode()
            name = "s" + hmac.new(secret.reveal().encode(), bound, hashlib.sha256).hexdigest()
        return self.folder / name

    @staticmethod
    def _record(
        entry: Path, source: ConversationSource, viewer: ImportClient, secret: Secret | None
    ) -> CacheEntry:
        """Build the record of a conversation that is about to be imported."""
        content = hashlib.sha256(f"{source.kind.value} {source.content}".encode()).hexdigest()
        if secret is None or not entry.name.startswith("s"):
            return CacheEntry(content, source.origin, viewer=viewer.kind, starter=viewer.name)
        return CacheEntry(
            content,
            source.origin,
            browser_id(secret),
            viewer.account,
            viewer.session,
            viewer=viewer.kind,
            starter=viewer.name,
        )

    def _admit(self, entry: Path, record: CacheEntry, viewer: ImportClient) -> BinaryIO:
        """Acquire a slot of the queue: at most one import of a file per kind of viewer, `AT_ONCE` per viewer."""
        running = [
            other_record
            for path, other_record in self._entries()
            if other_record is not None and path != entry and is_locked(path)
        ]
        if any(
            other_record.content == record.content and other_record.viewer == record.viewer
            for other_record in running
        ):
            raise ImportInProgress("this file is already being imported")
        if sum(other_record.starter == record.starter for other_record in running) >= AT_ONCE:
            raise ImportInProgress("two backups are being read for you already")
        slot = acquire_slot(self.folder, QUEUE)
        try:
            record_start(self.folder, viewer, self.limits.per_hour)
        except BaseException:
            slot.close()
            raise
        return slot

    @contextmanager
    def _mutex(self) -> Iterator[None]:
        """Hold the cache's mutual-exclusion lock, a file lock between processes."""
        private_folder(self.folder)
        with open_private(self.folder / "mutex") as mutex:
            fcntl.flock(mutex, fcntl.LOCK_EX)
            yield

    def _remove(self, entry: Path) -> None:
        """Delete an entry, unless it is being imported."""
        with self._lock:
            archive = self._open_archives.pop(entry.name, None)
        if archive is not None:
            archive.close()
        lock = try_lock_entry(entry, make=False)
        if lock is not None:
            with lock:
                shutil.rmtree(entry, ignore_errors=True)

    def _open_archive(
        self, entry: Path, source: ConversationSource, viewer: ImportClient, secret: Secret | None
    ) -> OpenArchive | None:
        """Return the open archive of a conversation that is ready."""
        sealed = source.kind is FileKind.SEALED
        file = entry / (SEALED if sealed else READY)
        with self._lock:
            self._close_archives()
            archive = self._open_archives.pop(entry.name, None)
            if archive is not None:
                self._open_archives[entry.name] = archive
        if archive is not None:
            with suppress(OSError):
                os.utime(entry)
            return archive
        if not file.is_file() or is_locked(entry):
            return None
        try:
            os.utime(entry)
            archive = (
                self._opened(file, source, viewer, secret)
                if sealed
                else open_archive_file(file, source.name, is_ours=True)
            )
        except ArchiveError as error:
            write_atomically(entry / PROBLEM, ImportProblem(f"{str(error).capitalize()}.", key=True))
            file.unlink(missing_ok=True)
            return None
        except FileNotFoundError:
            # Removed in the meantime.
            return None
        with self._lock:
            first = self._open_archives.setdefault(entry.name, archive)
        if first is not archive:
            archive.close()
        return first

    def _opened(
        self, file: Path, source: ConversationSource, viewer: ImportClient, secret: Secret | None
    ) -> OpenArchive:
        """Decrypt an encrypted conversation into memory."""
        if secret is None:
            raise ArchiveError("what was kept of this conversation belongs to another browser")
        key = key_for(secret, bind_to_session(source.content, viewer))
        media = media_of(source.path) if source.media is None else source.media()

        def decrypt() -> Archive:
            return Archive(file.with_name(READY), open_sealed(file, key))

        return OpenArchive(source.name, decrypt, stamp=lambda: None, most=1, media=media, idle=decrypt())

    def _close_archives(self) -> None:
        """Close archives that are deleted, least recently used, or encrypted and idle."""
        now = time.monotonic()
        names = list(self._open_archives)
        sealed = [name for name in names if name.startswith("s")]
        gone = [name for name in names if not (self.folder / name).is_dir()]
        gone += [name for name in sealed if now - self._open_archives[name].used > SEALED_IDLE_S]
        gone += sealed[: max(0, len(sealed) - MAX_OPEN_SEALED)]
        gone += names[: max(0, len(names) - MAX_OPEN)]
        for name in dict.fromkeys(gone):
            self._open_archives.pop(name).close()

    def _import(self, job: ImportJob) -> None:
        """Import a conversation in a child process, and wait for it."""
        with job.lock, job.slot:
            problem: ImportProblem | None = None
            try:
                with self._slot():
                    self.tidy()
                    problem = self._run(job)
            except Exception as error:  # noqa: BLE001  # a thread without a caller; the problem is stored for the next request
                log.error("conversation import failed", error=type(error).__name__)  # noqa: TRY400  # no paths or texts in logs
                problem = ImportProblem("It could not be read from where it is kept.")
            with suppress(OSError):
                self._finish(job.entry, job.record, problem)
        with suppress(OSError):
            self.tidy()

    def _run(self, job: ImportJob) -> ImportProblem | None:
        """Run the import process; return the problem, if any."""
        source, entry = job.source, job.entry
        spooled = entry / SPOOLED
        path = source.path
        if path is None and source.write is not None:
            try:
                source.write(spooled)
            except BackupError as error:
                return ImportProblem(f"This backup cannot be read: {error}.")
            path = spooled
        limits = self.limits.imports
        status, ended = run(ImportTask(str(path), str(entry), source.name, limits, job.keys, job.key), entry)
        if status == 0:
            return None
        problem = read_record(entry / PROBLEM, ImportProblem)
        if problem is None:
            problem = ImportProblem(ended or exit_reason(status, limits))
            log.error("conversation import failed", status=status)
        return problem

    @staticmethod
    def _finish(entry: Path, record: CacheEntry, problem: ImportProblem | None) -> None:
        """Write the result of an import, and delete its temporary files."""
        if problem is None:
            remove_path(entry / SPOOLED)
            write_atomically(entry / RECORD, msgspec.structs.replace(record, size=entry_size(entry)))
            return
        for item in entry.iterdir():
            if item.name not in {LOCK, RECORD}:
                remove_path(item)
        write_atomically(entry / PROBLEM, problem)

    @contextmanager
    def _slot(self) -> Iterator[None]:
        """Wait for a free slot of the concurrency limit."""
        while True:
            for number in range(AT_ONCE):
                slot = open_private(self.folder / f"running{number}")
                if not try_lock(slot, 1):
                    slot.close()
                    continue
                with slot:
                    yield
                return
            time.sleep(TRY_AGAIN_S)

    def tidy(self) -> None:
        """Expire entries unused for 30 days (encrypted ones for 1 day), then evict by LRU down to the limits."""
        now = time.time()
        entries = self._entries()
        sizes = {path: 0 if record is None else record.size for path, record in entries}
        owners: dict[int, int] = {}
        for path, record in entries:
            owner = 0 if record is None else record.owner
            owners[owner] = owners.get(owner, 0) + sizes[path]
        total, count = sum(sizes.values()), len(entries)
        for path, record in entries:
            with suppress(OSError):
                owner = 0 if record is None else record.owner
                age, sealed = now - path.stat().st_mtime, path.name.startswith("s")
                too_old = age > (SEALED_KEPT_S if sealed else KEPT_S)
                if not any((path / name).is_file() for name in (READY, SEALED)):
                    too_old |= age > (KEY_FAILED_KEPT_S if sealed else FAILED_KEPT_S)
                too_much = total > self.limits.total or owners[owner] > self.limits.per_owner
                if (too_old or count > MOST_ENTRIES or (too_much and sizes[path])) and not is_locked(path):
                    self._remove(path)
                    total, count = total - sizes[path], count - 1
                    owners[owner] -= sizes[path]


def remove_path(path: Path) -> None:
    """Delete a file, or a folder recursively; a missing path is no error."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def exported_media(source: ConversationSource) -> EncryptedMedia | None:
    """Return the attachments of an encrypted conversation that are in the store; None if there are none."""
    try:
        return None if source.media is None else source.media()
    except BackupError as error:
        raise ExportFailed("the attachments cannot be read") from error


def bind_to_session(content: str, viewer: ImportClient) -> str:
    """Derive a name or key that also depends on the login session, so that it is useless after the session."""
    return f"{content} {viewer.account or 0} {viewer.session}"


def browser_id(secret: Secret) -> str:
    """Return the id of a browser: a hash of its secret."""
    return hmac.new(secret.reveal().encode(), b"browser", hashlib.sha256).hexdigest()


def read_record(path: Path, kind: type[Note]) -> Note | None:
    """Read a record file; None if it is missing or invalid."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError):
        return None


@lru_cache(maxsize=16)
def cache_at(folder: Path, limits: CacheLimits) -> ConversationCache:
    """Return the cache of a folder, one per process."""
    return ConversationCache(folder, limits)


def cache_of(settings: Settings) -> ConversationCache:
    """Return the cache of the service with these settings."""
    return cache_at(settings.data / "cache" / "chats", CacheLimits.of(settings))
