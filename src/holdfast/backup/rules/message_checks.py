"""Checks the messages of a backup block by block, in several threads."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue
from types import TracebackType
from typing import Final, Self, TypeAlias

from google.protobuf.message import DecodeError

from holdfast.backup.rules.checker import TANGLED, Checker
from holdfast.backup.rules.raw_findings import READABLE, RawFinding, read_findings
from holdfast.backup.rules.rule_context import ReferenceTables
from holdfast.backup.schema import Frame
from holdfast.backup.wire import Block, tables
from holdfast.backup.wire.duplicate_fields import keep_last_fields
from holdfast.backup.wire.stream import NO_CAP

__all__ = ["BlockFindings", "MessageChecks", "Task", "check_messages", "merge"]

# The findings of a block, and whether it has a field or value of the current edition.
BlockFindings: TypeAlias = tuple[list[RawFinding], bool]
# The blocks that wait for each thread of the pool: enough to keep it busy while the caller's thread checks one.
WAITING: Final = 3


@dataclass(frozen=True, slots=True)
class Task:
    """A block, with what is known about it before its messages are checked."""

    block: Block
    references: ReferenceTables
    found: list[RawFinding]
    newer: bool


class MessageChecks:
    """Checks the messages of blocks in the caller's thread and in `threads` - 1 others.

    The caller's thread, which reads the blocks, checks one itself when enough of them wait for the other threads.
    Results are in file order.
    """

    def __init__(self, threads: int) -> None:
        self.shared = threads > 1
        self._limit = WAITING * (threads - 1)
        self._pool = ThreadPoolExecutor(threads - 1) if self.shared else None
        self._tasks: deque[tuple[Task, Future[BlockFindings]]] = deque()
        self._checkers: SimpleQueue[Checker] = SimpleQueue()
        for _ in range(threads):
            self._checkers.put(Checker())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def add(self, task: Task) -> None:
        """Check a block in another thread, or in this one if the others have enough to do."""
        unfinished = sum(not future.done() for _task, future in self._tasks)
        if self._pool is not None and unfinished < self._limit:
            self._tasks.append((task, self._pool.submit(self._check, task)))
        else:
            self._tasks.append((task, self._check_here(task)))

    def finished(self) -> Iterator[BlockFindings]:
        """Yield the results of the first blocks, up to one that is not finished."""
        while self._tasks and self._tasks[0][1].done():
            yield self._result()

    def remaining(self) -> Iterator[BlockFindings]:
        """Yield the results of all blocks; this thread checks those that no other has started, from the last."""
        for place in reversed(range(len(self._tasks))):
            task, future = self._tasks[place]
            if future.cancel():
                self._tasks[place] = task, self._check_here(task)
        while self._tasks:
            yield self._result()

    def _check_here(self, task: Task) -> Future[BlockFindings]:
        """Check a block in this thread."""
        future: Future[BlockFindings] = Future()
        future.set_result(self._check(task))
        return future

    def _check(self, task: Task) -> BlockFindings:
        checker = self._checkers.get()
        try:
            return check_messages(checker, task.references, task.block)
        finally:
            self._checkers.put(checker)

    def _result(self) -> BlockFindings:
        """Remove the first block, and return all findings about it."""
        task, future = self._tasks.popleft()
        found, newer = future.result()
        return merge(task.found, found), task.newer or newer


def check_messages(checker: Checker, references: ReferenceTables, block: Block) -> BlockFindings:
    """Check the messages of a block; return the findings, and whether there was a field of the current edition."""
    found: list[RawFinding] = []
    odd: list[tuple[int, int, int, int, int]] = []
    checker.bind(references)
    checker.reset(block.data, block.offset, block.index)
    going = True
    while going:
        going = checker.run(NO_CAP, odd)
        page = checker.take_findings()
        if page:
            found += read_findings(page, block.data)
    newer = checker.met_additions()
    for index, begin, start, end, fault in odd:
        offset = block.offset + begin
        raw = block.data[start:end]
        if fault == TANGLED:
            try:
                Frame.FromString(raw)
                raw = Frame.FromString(keep_last_fields(raw)).SerializeToString()
            except DecodeError:
                fault = 0  # noqa: PLW2901  # it is not only tangled
        if fault == TANGLED:
            checker.record(raw, tables.FRAME, offset, index)
            newer = newer or checker.met_additions()
            found += read_findings(checker.take_findings(), raw)
        else:
            found.append(RawFinding(index, offset, READABLE, 0, 0, ""))
    if odd:
        found.sort(key=lambda raw: raw.frame)
    return found, newer


def merge(one: list[RawFinding], other: list[RawFinding]) -> list[RawFinding]:
    """Merge two lists that are each in file order."""
    if not one or not other:
        return one or other
    return sorted(one + other, key=lambda raw: raw.frame)
