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


def held_lock() -> threading.Lock:
    """Return a lock that is held, for a thread to wait on until another releases it."""
    lock = threading.Lock()
    lock.acquire()
    return lock


class QueuedRequest(msgspec.Struct, Generic[RequestT, ResultT], eq=False):
    """A queued request, with its result or error once it was processed."""

    request: RequestT
    result: ResultT | None = None
    error: BaseException | None = None
    wakeup: threading.Lock = msgspec.field(default_factory=held_lock)
    """Released once: when the request was processed, or when its thread is to process the next batch."""

    @property
    def is_done(self) -> bool:
        """Whether it has a result or an error."""
        return self.result is not None or self.error is not None


class BatchQueue:
    """Queues of requests by repository id; one thread at a time, the writer, processes a batch of each queue.

    The writer wakes the threads of its batch, and one of those that arrived meanwhile, which is the next writer.
    Each thread is woken once, when its request was processed or when it is the writer.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The requests that wait for the writer of their repository; no entry if there is no writer.
        self._waiting: dict[int, list[QueuedRequest[Any, Any]]] = {}

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
            waiting = self._waiting.get(repository_id)
            if waiting is None:
                self._waiting[repository_id] = []
            else:
                waiting.append(queued)
        if waiting is not None:
            queued.wakeup.acquire()
        if not queued.is_done:
            self._process_batch(repository_id, queued, process)
        if queued.error is not None:
            raise queued.error
        assert queued.result is not None  # noqa: S101  # a batch ends with a result or an error for each request
        return queued.result

    def _process_batch(
        self,
        repository_id: int,
        first: QueuedRequest[Any, Any],
        process: Callable[[list[QueuedRequest[Any, Any]]], None],
    ) -> None:
        """Process a request and those that wait; an error of `process` is that of every unfinished request."""
        with self._lock:
            waiting = self._waiting[repository_id]
            batch = [first, *waiting[: MAX_BATCH - 1]]
            del waiting[: MAX_BATCH - 1]
        error: BaseException = RuntimeError("a request of the batch was not processed")
        try:
            process(batch)
        except BaseException as raised:
            error = raised
            if not isinstance(raised, Exception):
                raise
        finally:
            for queued in batch:
                if not queued.is_done:
                    queued.error = error
                if queued is not first:
                    queued.wakeup.release()
            self._end_batch(repository_id)

    def _end_batch(self, repository_id: int) -> None:
        """Make the thread of the first waiting request the writer, or leave the repository without one."""
        with self._lock:
            waiting = self._waiting[repository_id]
            if waiting:
                waiting.pop(0).wakeup.release()
            else:
                del self._waiting[repository_id]
