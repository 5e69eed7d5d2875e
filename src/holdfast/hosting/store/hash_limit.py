"""Limits the concurrency of password hashing: each hash takes 64 MiB of memory and a core."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from holdfast.hosting.errors import HashingBusy

__all__ = ["HashLimiter"]

CONCURRENCY: Final = 2
# Waiting requests occupy a thread of the pool, which must be much larger than this.
QUEUE_LENGTH: Final = 8
TIMEOUT_SECONDS: Final = 10.0


class HashLimiter:
    """A semaphore with a bounded queue; raises `HashingBusy` if the queue is full or after the timeout."""

    def __init__(
        self, concurrency: int = CONCURRENCY, *, queue_length: int = QUEUE_LENGTH, timeout: float = TIMEOUT_SECONDS
    ) -> None:
        self.concurrency = concurrency
        self._queue_length = queue_length
        self._timeout = timeout
        self._free = threading.Condition()
        self._running = 0
        self._waiting = 0

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold one of the slots."""
        self._acquire()
        try:
            yield
        finally:
            with self._free:
                self._running -= 1
                self._free.notify()

    def _acquire(self) -> None:
        deadline = time.monotonic() + self._timeout
        with self._free:
            if self._running >= self.concurrency:
                if self._waiting >= self._queue_length + self.concurrency:
                    raise HashingBusy
                self._waiting += 1
                try:
                    if not self._free.wait_for(
                        lambda: self._running < self.concurrency, deadline - time.monotonic()
                    ):
                        raise HashingBusy
                finally:
                    self._waiting -= 1
            self._running += 1
