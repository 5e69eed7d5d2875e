"""The thread pool in which passwords are checked: hashing one is slow, and nothing else may wait behind it."""

import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Final, ParamSpec, TypeVar

from holdfast.hosting.errors import HashingBusy
from holdfast.hosting.http.thread_pool import Crew

__all__ = ["PasswordPool"]

P = ParamSpec("P")
T = TypeVar("T")
CONCURRENCY: Final = 2
# A whole queue takes a second or two.
QUEUE_LENGTH: Final = 64
# Whoever has waited for longer is told to come again: a machine that is busy must not work off old guesses.
WAIT_SECONDS: Final = 5.0
# Hashing takes several processors; event loops go first.
NICENESS: Final = 5


class PasswordPool:
    """A few threads with a bounded queue, of which one address may fill half; beyond it `HashingBusy` is raised.

    Whoever waits for their turn holds no thread. It is used from one event loop.
    """

    def __init__(
        self,
        concurrency: int = CONCURRENCY,
        *,
        queue_length: int = QUEUE_LENGTH,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._crew = Crew(concurrency)
        self._wait_seconds = wait_seconds
        self._most = concurrency + queue_length
        self._most_of_one = concurrency + queue_length // 2
        self._by_address: Counter[str] = Counter()

    async def run(self, address: str, check: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a check for whoever is at an address in one of the threads."""
        pending = self._by_address
        if pending.total() >= self._most or pending[address] >= self._most_of_one:
            raise HashingBusy
        pending[address] += 1
        try:
            return await self._crew.run(self._begin, time.monotonic(), partial(check, *args, **kwargs))
        finally:
            pending[address] -= 1
            if not pending[address]:
                del pending[address]

    def _begin(self, queued_at: float, check: Callable[[], T]) -> T:
        """Make a check whose turn has come, unless it has waited for too long."""
        if time.monotonic() - queued_at > self._wait_seconds:
            raise HashingBusy
        lower_priority()
        return check()


def lower_priority() -> None:
    """Give this thread, and those it starts, less of the processors than others; only Linux can do that."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
