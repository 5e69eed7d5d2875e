"""A connection pool over one archive, with query timeouts and a result cache."""

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar, cast

from holdfast.backup import archives
from holdfast.backup.archives import Archive, integrity
from holdfast.backup.archives.passphrases import ArchiveKey
from holdfast.backup.errors import ArchiveError
from holdfast.web.chats.encrypted_media import EncryptedMedia

__all__ = ["QUERY_TIMEOUT_S", "ConnectionPoolBusy", "OpenArchive", "open_archive_file"]

Result = TypeVar("Result")

# The query timeout. An archive is untrusted: a query that takes longer is interrupted.
QUERY_TIMEOUT_S: Final = 20.0
STEPS: Final = 10_000
# The interval at which a query past its deadline is interrupted again.
AGAIN_S: Final = 0.2
CONNECTIONS: Final = 3
# The time limit of the check of an untrusted archive before it is shown.
CHECK_S: Final = 8.0
MAX_CACHED: Final = 256


class ConnectionPoolBusy(ArchiveError):
    """All connections to an archive stayed in use until the timeout."""


class OpenArchive:
    """A connection pool over one archive, and a cache of expensive results.

    `stamp` returns the state of the archive: when it changes, connections and cached results are dropped. `place`
    is its path, which is not shown. `media` has attachments that are decrypted while they are sent. `idle` is a
    connection that is open already.
    """

    def __init__(
        self,
        name: str,
        opens: Callable[[], Archive],
        *,
        stamp: Callable[[], object],
        most: int = CONNECTIONS,
        place: str = "",
        media: EncryptedMedia | None = None,
        idle: Archive | None = None,
    ) -> None:
        self.name = name
        self.place = place
        self.media = media
        self.used = time.monotonic()
        self._opens = opens
        self._stamp = stamp
        self._seats = threading.BoundedSemaphore(most)
        self._lock = threading.Lock()
        self._idle = [] if idle is None else [idle]
        self._cache: dict[object, object] = {}
        self._state = stamp()
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[Archive]:
        """Borrow a connection; its queries are interrupted at the timeout."""
        self.used = time.monotonic()
        end = self.used + QUERY_TIMEOUT_S
        if not self._seats.acquire(timeout=QUERY_TIMEOUT_S):
            raise ConnectionPoolBusy("too many are reading this archive at the moment; try again soon")
        try:
            opened, state = self._acquire()
            try:
                with query_timeout(opened.connection, end):
                    yield opened
            finally:
                self._release(opened, state)
        finally:
            self._seats.release()

    def _acquire(self) -> tuple[Archive, object]:
        """Return an idle connection or a new one, and the state of the archive it reads."""
        state = self._stamp()
        with self._lock:
            stale: list[Archive] = []
            if state != self._state:
                # The file may have been replaced.
                stale, self._idle = self._idle, []
                self._state = state
                self._cache.clear()
            opened = self._idle.pop() if self._idle else None
        for archive in stale:
            archive.close()
        return opened or self._opens(), state

    def _release(self, opened: Archive, state: object) -> None:
        """Keep a connection for the next request, unless the archive has changed or was closed."""
        with self._lock:
            again = not self._closed and state == self._state
            if again:
                self._idle.append(opened)
        if not again:
            opened.close()

    def cached(self, key: object, compute: Callable[[], Result]) -> Result:
        """Return a cached result, computed once for each state of the archive."""
        with self._lock:
            if key in self._cache:
                return cast("Result", self._cache[key])
            state = self._state
        result = compute()
        with self._lock:
            if state == self._state:
                if len(self._cache) >= MAX_CACHED:
                    self._cache.clear()
                self._cache[key] = result
        return result

    def close(self) -> None:
        """Close idle connections; those in use are closed when they are released."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for archive in idle:
            archive.close()


@contextmanager
def query_timeout(connection: sqlite3.Connection, end: float) -> Iterator[None]:
    """Interrupt the queries of a connection at a deadline, also inside a full-text search.

    SQLite does not call the progress handler inside a long step of the full-text index, so another thread
    interrupts.
    """
    turn, finished = threading.Lock(), threading.Event()

    def watch() -> None:
        wait = max(0.0, end - time.monotonic())
        while not finished.wait(wait):
            # Under the lock: once released, the connection may belong to another request.
            with turn:
                if not finished.is_set():
                    connection.interrupt()
            wait = AGAIN_S

    watcher = threading.Thread(target=watch, daemon=True)
    connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
    watcher.start()
    try:
        yield
    finally:
        with turn:
            finished.set()
        connection.set_progress_handler(None, 0)


def open_archive_file(
    path: Path, name: str, *, is_ours: bool = False, key: ArchiveKey | None = None
) -> OpenArchive:
    """Return the connection pool of an archive file, which other processes may write to.

    An archive that is not `is_ours` is untrusted: the types of its values are checked once for each state of the
    file. An encrypted archive needs its key.
    """
    checked: dict[object, str] = {}

    def stamp() -> object:
        try:
            status = path.stat()
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns

    def opens() -> Archive:
        opened = archives.open(path, key=key)
        if is_ours:
            return opened
        state = stamp()
        column = checked.get(state)
        if column is None:
            column = find_wrong_value(opened.connection)
            checked.clear()
            checked[state] = column
        if column:
            opened.close()
            raise ArchiveError(f"the archive is damaged: {column} holds a value of a wrong type")
        return opened

    return OpenArchive(name, opens, stamp=stamp, place=str(path))


def find_wrong_value(connection: sqlite3.Connection) -> str:
    """Return the column with a value of a wrong type; the check has a time limit."""
    end = time.monotonic() + CHECK_S
    connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
    try:
        return integrity.wrong_value(connection)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT:
            return ""
        raise
    finally:
        connection.set_progress_handler(None, 0)
