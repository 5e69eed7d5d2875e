"""The thread pool for blocking work of requests: anyio's threads, at most 40 at once."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

__all__ = ["ThreadLimiter", "requests", "run_in_thread"]

P = ParamSpec("P")
T = TypeVar("T")
MAX_THREADS: Final = 40


class ThreadLimiter:
    """Runs one kind of work in anyio's threads, with a concurrency limit."""

    def __init__(self, total: int) -> None:
        self._limiter = CapacityLimiter(total)
        self._running = 0
        self._changed = threading.Condition()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in a thread; cancellation waits for its end, so that its resources stay open."""
        return await to_thread.run_sync(partial(self._run, work, *args, **kwargs), limiter=self._limiter)

    def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with self._changed:
            self._running += 1
        try:
            return work(*args, **kwargs)
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Block until nothing runs or the timeout expires, for shutdown; return whether nothing runs."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)


requests: Final = ThreadLimiter(MAX_THREADS)
run_in_thread = requests.run
