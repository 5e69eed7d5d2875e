"""The backup lock: while a backup is made, nothing that it may still need is deleted.

A backup holds the lock file of the data folder shared; garbage collection of LFS objects takes it exclusively, and
is skipped while a backup holds it. What is added meanwhile harms no backup.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["LOCK", "exclusive_backup_lock", "shared_backup_lock"]

LOCK: Final = ".keep.lock"


@contextmanager
def shared_backup_lock(data: Path) -> Iterator[None]:
    """Hold the lock shared, so that nothing is deleted; waits while another process holds it exclusively."""
    descriptor = open_lock_file(data)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def exclusive_backup_lock(data: Path) -> Iterator[bool]:
    """Try to take the lock exclusively without waiting; yield whether it was taken."""
    descriptor = open_lock_file(data)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def open_lock_file(data: Path) -> int:
    """Open the lock file, and create it if needed."""
    return os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
