"""Files that are expensive to make, kept in the data folder: made once however many ask, and streamed while made.

The files can be deleted at any time. Those used least recently are, when all together are too large.
"""

import asyncio
import fcntl
import os
import shutil
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Final

from anyio import to_thread

__all__ = ["FileCache"]

CHUNK: Final = 256 * 1024
# How many files are made at a time: each takes a processor, as long as git compresses.
CONCURRENCY: Final = 4
# Between attempts to get the lock of a file that another process makes.
LOCK_SECONDS: Final = 0.05
MOST_FILES: Final = 10_000
# How exact the time of the last use is, and how long a file is kept that nobody uses.
USED_SECONDS: Final = 60.0
UNUSED_SECONDS: Final = 30 * 86_400.0
PART: Final = ".part"

MakeFile = Callable[[], AsyncGenerator[bytes, None]]
"""Makes the content of a file, piece by piece."""


class CachedFileWriter:
    """A file while it is made, which all who asked for it read."""

    def __init__(self) -> None:
        self.file: Path | None = None
        """What to read, once something was written."""
        self.written = 0
        self.finished = False
        self.error: Exception | None = None
        self.readers = 0
        self.abandoned = False
        """Whether all readers have left it before its end."""
        self.task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake all readers."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def read(self) -> AsyncGenerator[bytes, None]:
        """Yield the content; the last reader to leave ends the making."""
        self.readers += 1
        try:
            while self.file is None and not self.finished:
                await self._changed.wait()
            if self.file is not None:
                with self.file.open("rb", buffering=0) as file:
                    while True:
                        while piece := file.read(CHUNK):
                            yield piece
                        if self.finished and file.tell() >= self.written:
                            break
                        await self._changed.wait()
            if self.error is not None:
                raise self.error
        finally:
            self.readers -= 1
            if not self.readers and not self.finished and self.task is not None:
                self.abandoned = True
                self.task.cancel()


class FileCache:
    """A folder of files, up to a total size."""

    def __init__(self, folder: Path, most_bytes: int, *, concurrency: int = CONCURRENCY) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._writers: dict[str, CachedFileWriter] = {}
        self._making = asyncio.Semaphore(concurrency)

    @property
    def enabled(self) -> bool:
        """Whether files are kept."""
        return self.most_bytes > 0

    def free_bytes(self) -> int:
        """Return how much of the disk is free."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return shutil.disk_usage(self.folder).free

    def find(self, key: str) -> Path | None:
        """Return a file that is kept."""
        path = self.folder / key
        try:
            status = path.stat()
        except OSError:
            return None
        now = time.time()
        if status.st_atime < now - USED_SECONDS:
            with suppress(OSError):
                os.utime(path, (now, status.st_mtime))
        return path

    def stream(self, key: str, make: MakeFile) -> AsyncGenerator[bytes, None]:
        """Yield a file while it is made; it is made once, however many ask for it at the same time."""
        writer = self._writers.get(key)
        if writer is None or writer.abandoned:
            writer = self._writers[key] = CachedFileWriter()
            writer.task = asyncio.create_task(self._run(key, writer, make))
        return writer.read()

    async def _run(self, key: str, writer: CachedFileWriter, make: MakeFile) -> None:
        """Make a file, and tell its readers of the end or the error."""
        try:
            async with self._making:
                await self._make(self.folder / key, writer, make)
        except asyncio.CancelledError:
            writer.error = OSError("the file was not completed")
            raise
        except Exception as error:  # noqa: BLE001  # raised where the file is read
            writer.error = error
        finally:
            writer.finished = True
            if self._writers.get(key) is writer:
                del self._writers[key]
            writer.notify()
        if writer.error is None:
            await to_thread.run_sync(self.evict)

    async def _make(self, path: Path, writer: CachedFileWriter, make: MakeFile) -> None:
        """Write a file and name it once it is whole, unless another process has done so."""
        await to_thread.run_sync(lambda: self.folder.mkdir(mode=0o700, parents=True, exist_ok=True))
        part = path.with_name(path.name + PART)
        async with locked_file(part) as file:
            if path.exists():  # noqa: ASYNC240  # a look at one name
                writer.file, writer.written = path, path.stat().st_size  # noqa: ASYNC240  # as above
                return
            file.truncate()
            writer.file = part
            async with aclosing(make()) as pieces:
                async for piece in pieces:
                    await to_thread.run_sync(write_all, file, piece)
                    writer.written += len(piece)
                    writer.notify()
            part.rename(path)
            writer.file = path

    def discard(self, repository_id: int) -> None:
        """Delete the files of a repository; their keys begin with its id and a hyphen."""
        for path in self.folder.glob(f"{repository_id}-*"):
            path.unlink(missing_ok=True)

    def evict(self) -> int:
        """Delete files until the rest is small enough, those used least recently first; return how many."""
        cached_files = []
        with suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    status = entry.stat()
                    cached_files.append((status.st_atime, status.st_size, entry.path))
        cached_files.sort(reverse=True)
        oldest = time.time() - UNUSED_SECONDS
        size = deleted = 0
        for number, (used, bytes_used, path) in enumerate(cached_files):
            size += bytes_used
            if number >= MOST_FILES or used < oldest or (size > self.most_bytes and not path.endswith(PART)):
                Path(path).unlink(missing_ok=True)
                size -= bytes_used
                deleted += 1
        return deleted


@asynccontextmanager
async def locked_file(path: Path) -> AsyncIterator[FileIO]:
    """Open a file to be written, by one process at a time."""
    while (file := try_to_lock(path)) is None:  # noqa: ASYNC110  # of another process nothing tells
        await asyncio.sleep(LOCK_SECONDS)
    with file:
        yield file


def try_to_lock(path: Path) -> FileIO | None:
    """Open a file and lock it; None while another process has the lock."""
    file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The one who had the lock before may have renamed the file.
        if os.path.samestat(path.stat(), os.fstat(file.fileno())):
            return file
    except (BlockingIOError, FileNotFoundError):
        pass
    except BaseException:
        file.close()
        raise
    file.close()
    return None


def write_all(file: FileIO, piece: bytes) -> None:
    """Write all of a piece."""
    view = memoryview(piece)
    while view:
        view = view[file.write(view) :]
