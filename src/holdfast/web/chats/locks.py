"""File locks on cache entries, and files with owner-only permissions."""

import fcntl
import os
import time
from pathlib import Path
from typing import BinaryIO, Final

__all__ = ["LOCK", "is_locked", "open_private", "private_folder", "try_lock", "try_lock_entry"]

LOCK: Final = "lock"
ATTEMPTS: Final = 20
LOOK_S: Final = 0.01


def private_folder(path: Path) -> None:
    """Create a folder and its two parents with mode 0700; also set the mode of existing ones."""
    for folder in (path.parent.parent, path.parent, path):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)


def open_private(path: Path) -> BinaryIO:
    """Open a file to lock or to write, with mode 0600."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    os.fchmod(handle, 0o600)
    return os.fdopen(handle, "r+b")


def try_lock_entry(entry: Path, *, make: bool = True) -> BinaryIO | None:
    """Acquire the lock of a cache entry, creating its folder if `make`; None if the lock is held."""
    for _ in range(ATTEMPTS):
        try:
            if make:
                entry.mkdir(exist_ok=True, mode=0o700)
            elif not entry.is_dir():
                return None
            lock = open_private(entry / LOCK)
        except FileNotFoundError:
            continue
        if not try_lock(lock):
            lock.close()
            return None
        try:
            if os.path.samestat(os.fstat(lock.fileno()), (entry / LOCK).stat()):
                return lock
        except FileNotFoundError:
            pass
        # The folder was removed between opening the lock file and locking it.
        lock.close()
    return None


def try_lock(lock: BinaryIO, attempts: int = ATTEMPTS) -> bool:
    """Acquire a lock, with a few retries: `is_locked` of other processes also holds it for a moment."""
    for attempt in range(attempts):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if attempt + 1 < attempts:
                time.sleep(LOOK_S)
        else:
            return True
    return False


def is_locked(entry: Path) -> bool:
    """Return whether a backup is being imported by any process."""
    try:
        with (entry / LOCK).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
