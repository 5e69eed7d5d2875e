"""While a backup is made, nothing that it may still need is removed.

Whoever makes one holds the lock of the data folder together with others who do; whoever removes large files for
good takes it alone, and goes without when it is held. What is added meanwhile harms no backup.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["LOCK", "keeping", "removing"]

LOCK: Final = ".keep.lock"


@contextmanager
def keeping(data: Path) -> Iterator[None]:
    """Keep what is there from being removed; waits for whoever is removing right now."""
    descriptor = opened(data)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def removing(data: Path) -> Iterator[bool]:
    """Say whether something may be removed: not while somebody keeps everything."""
    descriptor = opened(data)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)


def opened(data: Path) -> int:
    """Open the file whose lock it is."""
    return os.open(data / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
