"""Taking turns at a thing: whoever gets it does the work of all who wait for it, and they only fetch the result.

Waiting for the disk is most of what a commit costs, and to wait once for sixteen takes no longer than for one.
"""

import threading
from collections.abc import Callable
from typing import Any, Final, Generic, TypeVar

import msgspec

__all__ = ["Job", "Turns"]

W = TypeVar("W")
R = TypeVar("R")
MOST_AT_ONCE: Final = 64


class Job(msgspec.Struct, Generic[W, R], eq=False):
    """Something somebody waits for: what they want, and then what came of it."""

    wanted: W
    result: R | None = None
    error: BaseException | None = None

    @property
    def is_done(self) -> bool:
        """Whether it has an end, good or bad."""
        return self.result is not None or self.error is not None


class Line(msgspec.Struct):
    """The jobs that wait for one thing."""

    turn: threading.Lock = msgspec.field(default_factory=threading.Lock)
    waiting: list[Job[Any, Any]] = msgspec.field(default_factory=list)
    people: int = 0


class Turns:
    """All the lines of this process, by the number of the thing they are for."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._lines: dict[int, Line] = {}

    def take(self, number: int, wanted: W, work: Callable[[list[Job[W, R]]], None]) -> R:
        """Wait for a turn, and return the result; `work` gives each job its end, its own and those of others."""
        job: Job[W, R] = Job(wanted)
        with self._guard:
            line = self._lines.setdefault(number, Line())
            line.people += 1
            line.waiting.append(job)
        try:
            while not job.is_done:
                with line.turn:
                    if not job.is_done:
                        self._work(line, work)
        finally:
            with self._guard:
                line.people -= 1
                if not line.people:
                    self._lines.pop(number, None)
        if job.error is not None:
            raise job.error
        assert job.result is not None  # noqa: S101  # the loop above ends with one of the two
        return job.result

    def _work(self, line: Line, work: Callable[[list[Job[Any, Any]]], None]) -> None:
        """Do the work of those who wait; what goes wrong for all of them is told to each."""
        with self._guard:
            jobs, line.waiting = line.waiting[:MOST_AT_ONCE], line.waiting[MOST_AT_ONCE:]
        try:
            work(jobs)
        except BaseException as error:
            for job in jobs:
                if not job.is_done:
                    job.error = error
            if not isinstance(error, Exception):
                raise
        for job in jobs:
            if not job.is_done:
                job.error = RuntimeError("a job was left undone")
