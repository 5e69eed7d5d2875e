"""Runs blocking work in threads while the event loop goes on, with a limit for each kind of work.

Requests run in anyio's threads, at most 40 at a time, whatever git processes and files need beside them. Passwords
are hashed in a few threads of their own, with a lower priority: nothing else may wait behind them.
"""

import asyncio
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread

from holdfast.hosting.errors import HashingBusy

__all__ = ["PasswordPool", "ThreadLimiter", "requests", "run_in_thread"]

P = ParamSpec("P")
T = TypeVar("T")
MAX_THREADS: Final = 40
CONCURRENCY: Final = 2
# A whole queue takes a second or two.
QUEUE_LENGTH: Final = 64
# A check that has waited for longer is refused: a machine that is busy must not work off old guesses.
WAIT_SECONDS: Final = 5.0
# Hashing takes several processors; event loops go first.
NICENESS: Final = 5


class ThreadLimiter:
    """Runs one kind of work in anyio's threads, a limited number at a time."""

    def __init__(self, total: int) -> None:
        self._limiter = CapacityLimiter(total)
        self._running = 0
        self._changed = threading.Condition()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in a thread. A cancelled scope waits for its end: what it uses must stay."""
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
        """Block until nothing runs, for shutdown; return whether that was so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._running, seconds)


requests: Final = ThreadLimiter(MAX_THREADS)
run_in_thread = requests.run


class PasswordPool:
    """A few threads with a bounded queue, of which one address may fill half; beyond it `HashingBusy` is raised.

    It is an executor of the standard library: anyio shares its threads, and a lowered priority cannot be raised.
    It is used from one event loop.
    """

    def __init__(
        self,
        concurrency: int = CONCURRENCY,
        *,
        queue_length: int = QUEUE_LENGTH,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._executor = ThreadPoolExecutor(concurrency, "holdfast-password", initializer=lower_priority)
        self._wait_seconds = wait_seconds
        self._max = concurrency + queue_length
        self._max_of_one = concurrency + queue_length // 2
        self._by_address: Counter[str] = Counter()

    async def run(self, address: str, check: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a check for a client address in one of the threads."""
        pending = self._by_address
        if pending.total() >= self._max or pending[address] >= self._max_of_one:
            raise HashingBusy
        pending[address] += 1
        work = partial(copy_context().run, self._run, time.monotonic(), partial(check, *args, **kwargs))
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        finally:
            pending[address] -= 1
            if not pending[address]:
                del pending[address]

    def _run(self, queued_at: float, check: Callable[[], T]) -> T:
        """Run a check, unless it has been queued for too long."""
        if time.monotonic() - queued_at > self._wait_seconds:
            raise HashingBusy
        return check()


def lower_priority() -> None:
    """Give this thread, and those it starts, less of the processors than others; only Linux can do that."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
