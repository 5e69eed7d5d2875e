"""The thread pool in which passwords are checked: hashing one is slow, and nothing else may wait behind it."""

from collections import Counter
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from holdfast.hosting.api.off_loop import Crew
from holdfast.hosting.errors import HashingBusy

__all__ = ["PasswordPool"]

P = ParamSpec("P")
T = TypeVar("T")
CONCURRENCY: Final = 2
# A whole queue takes a second or two.
QUEUE_LENGTH: Final = 64


class PasswordPool:
    """A few threads with a bounded queue, of which one address may fill half; beyond it `HashingBusy` is raised.

    Whoever waits for their turn holds no thread. It is used from one event loop.
    """

    def __init__(self, concurrency: int = CONCURRENCY, *, queue_length: int = QUEUE_LENGTH) -> None:
        self._crew = Crew(concurrency)
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
            return await self._crew.run(check, *args, **kwargs)
        finally:
            pending[address] -= 1
            if not pending[address]:
                del pending[address]
