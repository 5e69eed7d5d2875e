"""The thread pool for password hashing, separate from other requests and with a lower priority."""

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

from holdfast.hosting.errors import HashingBusy

__all__ = ["PasswordPool"]

P = ParamSpec("P")
T = TypeVar("T")
CONCURRENCY: Final = 2
# A full queue takes a second or two.
QUEUE_LENGTH: Final = 64
# Checks queued for longer are rejected: a busy machine must not process outdated guesses.
WAIT_SECONDS: Final = 5.0
# A lower priority than event loops; hashing runs in parallel.
NICENESS: Final = 5


class PasswordPool:
    """A thread pool with a bounded queue, of which one IP address may fill half; raises `HashingBusy` beyond.

    Uses a standard library executor, because anyio shares its threads, and a lowered priority cannot be raised
    again. Bound to one event loop.
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
    """Lower the priority of this thread and those it starts (Linux only)."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
