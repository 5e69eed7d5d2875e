"""An exclusive file lock (`flock`), held by one process of a machine and released when it ends."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

__all__ = ["LOCK", "DeliveryLock"]

LOCK: Final = ".deliver.lock"


class DeliveryLock:
    """The lock of the process that sends from a data folder; always held unless `needed`."""

    def __init__(self, data: Path, *, needed: bool) -> None:
        self._path = data / LOCK
        self._needed = needed
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Open the lock file."""
        if self._needed:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            os.close(self._descriptor)

    def acquire(self) -> bool:
        """Try to acquire the lock; return whether it is held."""
        if self._descriptor is None:
            return True
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
