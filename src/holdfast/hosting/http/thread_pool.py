"""Hands work to a thread and waits for it on the event loop.

By hand, because this is a part of every commit: anyio goes round the loop twice and makes over a hundred calls
before its thread begins, a tenth of the whole; the standard pool takes its threads in turn, and each has a
connection to the database and open repositories of its own, which grow cold. Here the thread that was used last is
used first.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, ParamSpec, TypeVar

__all__ = ["Crew", "run_off_loop"]

P = ParamSpec("P")
T = TypeVar("T")
MOST_THREADS: Final = 40


class Errand:
    """Something a thread does for a task; the loop is told when it is over."""

    __slots__ = ("_crew", "_error", "_loop", "_result", "_work", "is_over", "waiting")

    def __init__(self, crew: "Crew", loop: asyncio.AbstractEventLoop, work: Callable[[], Any]) -> None:
        self._crew = crew
        self._loop = loop
        self._work = work
        self._result: Any = None
        self._error: BaseException | None = None
        self.is_over = False
        self.waiting: asyncio.Future[None] = loop.create_future()

    def do(self, hand: "Hand") -> None:
        """Do it, in a thread."""
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001  # whoever waits is told
            self._error = error
        try:
            self._loop.call_soon_threadsafe(self._tell, hand)
        except RuntimeError:
            # The loop is closed, and nobody waits any more.
            self._crew.take_back(hand)

    def _tell(self, hand: "Hand") -> None:
        self._crew.take_back(hand)
        self.is_over = True
        if not self.waiting.done():
            self.waiting.set_result(None)

    def outcome(self) -> Any:
        """Return what came of it, or raise what went wrong."""
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                # The error leads to this frame, and so must not be led to by it.
                del error
        return self._result


class Hand(threading.Thread):
    """A thread that does one errand after the other."""

    def __init__(self, number: int) -> None:
        super().__init__(name=f"holdfast-{number}", daemon=True)
        self.errands: SimpleQueue[Errand] = SimpleQueue()

    def run(self) -> None:
        """Wait for errands and do them; nothing of the last one is held meanwhile."""
        while True:
            self.errands.get().do(self)


class Crew:
    """Threads that are there once they were needed; when there are as many as may be, errands wait."""

    def __init__(self, most: int = MOST_THREADS) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._count = 0
        self._idle: list[Hand] = []
        self._waiting: deque[Errand] = deque()

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run something in a thread. A task that is cancelled waits for its end: what it uses must stay."""
        loop = asyncio.get_running_loop()
        errand = Errand(self, loop, partial(copy_context().run, work, *args, **kwargs))
        self._give(errand)
        cancelled: asyncio.CancelledError | None = None
        while not errand.is_over:
            try:
                await errand.waiting
            except asyncio.CancelledError as error:
                cancelled = error
                errand.waiting = loop.create_future()
        if cancelled is not None:
            raise cancelled
        found: T = errand.outcome()
        return found

    def _give(self, errand: Errand) -> None:
        with self._guard:
            if self._idle:
                hand = self._idle.pop()
            elif self._count < self._most:
                hand = Hand(self._count)
                hand.start()
                self._count += 1
            else:
                self._waiting.append(errand)
                return
        hand.errands.put(errand)

    def take_back(self, hand: Hand) -> None:
        """Give a thread that has nothing to do the errand that has waited longest, or let it rest."""
        with self._guard:
            if not self._waiting:
                self._idle.append(hand)
                return
            errand = self._waiting.popleft()
        hand.errands.put(errand)


run_off_loop = Crew().run
