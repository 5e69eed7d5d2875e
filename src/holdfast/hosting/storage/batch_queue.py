"""Group commit: one writer commits the requests of all threads that wait for the same repository.

The fsync is most of the cost of a commit, and one fsync for sixteen commits takes no longer than for one.
"""

import threading
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import msgspec

__all__ = ["BatchQueue", "QueuedRequest"]

RequestT = TypeVar("RequestT")
ResultT = TypeVar("ResultT")
MAX_BATCH: Final = 64


class QueuedRequest(msgspec.Struct, Generic[RequestT, ResultT], eq=False):
    """A queued request, with its result or error once it was processed."""

    request: RequestT
    result: ResultT | None = None
    error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether it has a result or an error."""
        return self.result is not None or self.error is not None


class Waiters(msgspec.Struct):
    """The requests waiting for one repository, and the lock of the writer that processes them."""

    writer: threading.Lock = msgspec.field(default_factory=threading.Lock)
    queue: list[QueuedRequest[Any, Any]] = msgspec.field(default_factory=list)
    threads: int = 0


class BatchQueue:
    """Queues of requests by repository id; the thread that gets the writer's lock processes the whole queue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[int, Waiters] = {}

    def submit(
        self,
        repository_id: int,
        request: RequestT,
        process: Callable[[list[QueuedRequest[RequestT, ResultT]]], None],
    ) -> ResultT:
        """Queue a request, wait until it was processed, and return its result or raise its error.

        `process` is called with a batch of at most `MAX_BATCH` requests, which may include those of other threads,
        and must set a result or an error on each.
        """
        queued: QueuedRequest[RequestT, ResultT] = QueuedRequest(request)
        with self._lock:
            waiters = self._waiters.setdefault(repository_id, Waiters())
            waiters.threads += 1
            waiters.queue.append(queued)
        try:
            while not queued.is_done:
                with waiters.writer:
                    if not queued.is_done:
                        self._process_batch(waiters, process)
        finally:
            with self._lock:
                waiters.threads -= 1
                if not waiters.threads:
                    self._waiters.pop(repository_id, None)
        if queued.error is not None:
            raise queued.error
        assert queued.result is not None  # noqa: S101  # the loop above ends with a result or an error
        return queued.result

    def _process_batch(self, waiters: Waiters, process: Callable[[list[QueuedRequest[Any, Any]]], None]) -> None:
        """Process the next batch; an error raised by `process` becomes the error of every unfinished request."""
        with self._lock:
            batch, waiters.queue = waiters.queue[:MAX_BATCH], waiters.queue[MAX_BATCH:]
        try:
            process(batch)
        except BaseException as error:
            for queued in batch:
                if not queued.is_done:
                    queued.error = error
            if not isinstance(error, Exception):
                raise
        for queued in batch:
            if not queued.is_done:
                queued.error = RuntimeError("a request of the batch was not processed")
