"""Reads bytes of an archive's file, by a file descriptor that all of the process share.

The locks of SQLite are POSIX locks on Unix. They belong to a process, which loses all of them on a file when it
closes any file descriptor of it: another process could then write what a connection is reading. So a descriptor is
kept open as long as this process has a connection to the file.
"""

import errno
import os
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Final, TypeAlias

from holdfast.redacted_repr import redacted

__all__ = ["SharedFile", "hold", "read_head"]

FileId: TypeAlias = tuple[int, int]


@redacted
@dataclass(slots=True)
class SharedFile:
    """An open file, and the number of those who use it."""

    # More than one if the path was replaced between looking and opening.
    descriptors: list[FileIO] = field(default_factory=list)
    users: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def size(self) -> int:
        """The size of the file."""
        return os.fstat(self.descriptors[0].fileno()).st_size

    def read(self, count: int, offset: int = 0) -> bytes:
        """Read bytes at an offset, fewer at the end of the file."""
        with self.lock:
            self.descriptors[0].seek(offset)
            return self.descriptors[0].read(count)


FILES: Final[dict[FileId, SharedFile]] = {}
LOCK: Final = threading.Lock()


@contextmanager
def hold(path: Path) -> Iterator[SharedFile]:
    """Open a file, or share its open descriptor, which stays open until the last holder has left."""
    file_id, shared = acquire(path)
    try:
        yield shared
    finally:
        release(file_id)


def acquire(path: Path) -> tuple[FileId, SharedFile]:
    """Return a file, opened unless this process has it open; raise OSError for a pipe or a device."""
    with LOCK:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
            # Opening it might wait forever.
            raise OSError(errno.EINVAL, "it is a pipe or a device, not a file")
        file_id = id_of(status)
        if file_id not in FILES:
            descriptor = FileIO(path)
            file_id = id_of(os.fstat(descriptor.fileno()))
            FILES.setdefault(file_id, SharedFile()).descriptors.append(descriptor)
        shared = FILES[file_id]
        shared.users += 1
        return file_id, shared


def release(file_id: FileId) -> None:
    """Close a file after its last use."""
    with LOCK:
        shared = FILES[file_id]
        shared.users -= 1
        if not shared.users:
            del FILES[file_id]
            for descriptor in shared.descriptors:
                descriptor.close()


def id_of(status: os.stat_result) -> FileId:
    """Return what identifies a file while it is open."""
    return status.st_dev, status.st_ino


def read_head(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, which may be an archive that this process has open."""
    with hold(path) as shared:
        return shared.read(size)
