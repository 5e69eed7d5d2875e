"""A lock that one process of a machine has at a time, and that goes with the process however it ends."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import Final, Self

__all__ = ["LOCK", "OnlyOne"]

LOCK: Final = ".deliver.lock"


class OnlyOne:
    """Whether this process is the one that sends from a data folder; always true where that is not `needed`."""

    def __init__(self, data: Path, *, needed: bool) -> None:
        self._path = data / LOCK
        self._needed = needed
        self._descriptor = -1

    def __enter__(self) -> Self:
        """Open the file whose lock it is."""
        if self._needed:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Let go of it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)

    def taken(self) -> bool:
        """Take the lock where it is free; tell whether it is ours."""
        if not self._needed:
            return True
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
