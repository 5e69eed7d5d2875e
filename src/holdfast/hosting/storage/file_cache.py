"""A file cache in the data folder: each file is generated once for all concurrent readers, and streamed meanwhile.

The files can be deleted at any time. Eviction is LRU, when the total size exceeds the limit.
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

from holdfast.hosting.git.folders import make_private_folder

__all__ = ["FileCache"]

CHUNK: Final = 256 * 1024
# How many files are generated at a time: each uses one CPU while git compresses.
CONCURRENCY: Final = 4
# Interval between attempts to lock a file that another process is writing.
LOCK_SECONDS: Final = 0.05
MOST_FILES: Final = 10_000
# The resolution of the time of last use, and how long an unused file is kept.
USED_SECONDS: Final = 60.0
UNUSED_SECONDS: Final = 30 * 86_400.0
PART: Final = ".part"

MakeFile = Callable[[], AsyncGenerator[bytes, None]]
"""Generates the content of a file in chunks."""


class CachedFileWriter:
    """A file while it is being written, with all its readers."""

    def __init__(self) -> None:
        self.file: Path | None = None
        """The file to read from, once something was written."""
        self.written = 0
        self.finished = False
        self.error: Exception | None = None
        self.readers = 0
        self.abandoned = False
        """Whether all readers have closed it before its end."""
        self.task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def notify(self) -> None:
        """Wake all readers."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def read(self) -> AsyncGenerator[bytes, None]:
        """Yield the content; closing the last reader cancels the generation."""
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
    """A folder of cached files, up to a total size."""

    def __init__(self, folder: Path, most_bytes: int, *, concurrency: int = CONCURRENCY) -> None:
        self.folder = folder
        self.most_bytes = most_bytes
        self._writers: dict[str, CachedFileWriter] = {}
        self._making = asyncio.Semaphore(concurrency)

    @property
    def enabled(self) -> bool:
        """Whether files are cached."""
        return self.most_bytes > 0

    def free_bytes(self) -> int:
        """Return the free space of the disk in bytes."""
        make_private_folder(self.folder)
        return shutil.disk_usage(self.folder).free

    def find(self, key: str) -> Path | None:
        """Return the cached file for a key; None if there is none."""
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
        """Yield the content of a file while it is written; concurrent requests for one key share one writer."""
        writer = self._writers.get(key)
        if writer is None or writer.abandoned:
            writer = self._writers[key] = CachedFileWriter()
            writer.task = asyncio.create_task(self._run(key, writer, make))
        return writer.read()

    async def _run(self, key: str, writer: CachedFileWriter, make: MakeFile) -> None:
        """Write a file, and notify its readers of the end or the error."""
        try:
            async with self._making:
                await self._make(self.folder / key, writer, make)
        except asyncio.CancelledError:
            writer.error = OSError("the file was not completed")
            raise
        except Exception as error:  # noqa: BLE001  # raised by the readers
            writer.error = error
        finally:
            writer.finished = True
            if self._writers.get(key) is writer:
                del self._writers[key]
            writer.notify()
        if writer.error is None:
            await to_thread.run_sync(self.evict)

    async def _make(self, path: Path, writer: CachedFileWriter, make: MakeFile) -> None:
        """Write a file and rename it when it is complete, unless another process has done so."""
        await to_thread.run_sync(make_private_folder, self.folder)
        part = path.with_name(path.name + PART)
        async with locked_file(part) as file:
            if path.exists():  # noqa: ASYNC240  # a single stat
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
        """Delete the least recently used files until the total size is below the limit; return how many."""
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
    """Open a file for writing, locked against other processes."""
    while (file := try_to_lock(path)) is None:  # noqa: ASYNC110  # another process cannot notify us
        await asyncio.sleep(LOCK_SECONDS)
    with file:
        yield file


def try_to_lock(path: Path) -> FileIO | None:
    """Open a file and lock it; return None while another process holds the lock."""
    file = FileIO(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "wb")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # The previous holder of the lock may have renamed the file.
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
    """Write all bytes of a chunk."""
    view = memoryview(piece)
    while view:
        view = view[file.write(view) :]
