"""The messages of blocks are checked by several threads, and their findings come in file order."""

import io
import threading
from collections.abc import Iterator

import pytest

from holdfast import backup
from holdfast.backup.rules import message_checks
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.message_checks import BlockFindings, MessageChecks, Task, check_messages
from holdfast.backup.rules.raw_findings import RawFinding
from holdfast.backup.rules.rule_context import ReferenceTables
from holdfast.backup.rules.validator import Validator
from holdfast.backup.wire import Block
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import put
from tests.backup.streams import stream_of

BLOCKS = 40


class Gate:
    """Checks messages as usual, but lets other threads than the caller's wait until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.open = threading.Event()
        self.started = threading.Semaphore(0)
        self.elsewhere: list[int] = []
        self.here: list[int] = []
        self._caller = threading.get_ident()
        monkeypatch.setattr(message_checks, "check_messages", self.check)

    def check(self, checker: Checker, references: ReferenceTables, block: Block) -> BlockFindings:
        """Check the messages of a block, and note which thread did."""
        if threading.get_ident() == self._caller:
            self.here.append(block.index)
        else:
            self.elsewhere.append(block.index)
            self.started.release()
            assert self.open.wait(30)
        return check_messages(checker, references, block)


def blocks() -> Iterator[tuple[Block, ReferenceTables]]:
    """Yield a message with a finding many times, each as a block of its own."""
    example = ExampleBackup()
    put("emoji.chatItem.chatId", 12_345)(example)
    stream = backup.FrameStream(io.BytesIO(stream_of(example.records())))
    validator = Validator(stream.header)
    for block in stream.blocks():
        validator.scan(block)
    raw = example.records()[example.number("emoji")]
    data = stream_of([raw])
    for number in range(BLOCKS):
        yield Block(1000 + number, 10 * number, data, 1), validator.state.reference_tables(shared=True)


def frames(results: Iterator[BlockFindings]) -> list[int]:
    """Return the frames of findings."""
    return [finding.frame for found, _newer in results for finding in found]


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_come_in_file_order(threads: int) -> None:
    """Every block has its findings once, in order, with those that were known before."""
    results: list[BlockFindings] = []
    with MessageChecks(threads) as checks:
        assert checks.shared == (threads > 1)
        for block, references in blocks():
            known = [RawFinding(block.index, block.offset, 1, 0, 0, "")]
            checks.add(Task(block, references, known, newer=block.index == 1003))
            results += checks.finished()
        results += checks.remaining()
    expected = [number for number in range(1000, 1000 + BLOCKS) for _ in range(2)]
    assert frames(iter(results)) == expected
    assert [newer for _found, newer in results] == [number == 3 for number in range(BLOCKS)]


def test_a_single_thread_finishes_each_block_at_once() -> None:
    """Without other threads, a block is checked when it is added."""
    with MessageChecks(1) as checks:
        for block, references in blocks():
            checks.add(Task(block, references, [], newer=False))
            assert frames(checks.finished()) == [block.index]
        assert frames(checks.remaining()) == []


def test_the_callers_thread_checks_when_enough_blocks_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the other thread is busy, at most three blocks wait for it, and nothing is yielded out of order."""
    gate = Gate(monkeypatch)
    with MessageChecks(2) as checks:
        for block, references in list(blocks())[:6]:
            checks.add(Task(block, references, [], newer=False))
            assert frames(checks.finished()) == []
        assert gate.here == [1003, 1004, 1005]
        gate.open.set()
        assert frames(checks.remaining()) == list(range(1000, 1006))


def test_the_callers_thread_takes_over_what_no_other_has_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the end, blocks that still wait are checked by the caller's thread, from the last."""
    gate = Gate(monkeypatch)
    with MessageChecks(2) as checks:
        for block, references in list(blocks())[:3]:
            checks.add(Task(block, references, [], newer=False))
        assert gate.started.acquire(timeout=30)
        results = checks.remaining()
        threading.Timer(0.2, gate.open.set).start()
        assert frames(results) == [1000, 1001, 1002]
    assert gate.elsewhere == [1000]
    assert gate.here == [1002, 1001]


def test_an_error_in_another_thread_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    """A defect of a check does not get lost in a thread."""

    def fail(checker: Checker, references: ReferenceTables, block: Block) -> BlockFindings:
        raise ZeroDivisionError(threading.current_thread().name)

    monkeypatch.setattr(message_checks, "check_messages", fail)
    with MessageChecks(2) as checks:
        block, references = next(blocks())
        checks.add(Task(block, references, [], newer=False))
        with pytest.raises(ZeroDivisionError, match="ThreadPoolExecutor"):
            list(checks.remaining())


def test_leaving_early_ends_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks that wait are not checked any more once the caller has left."""
    gate = Gate(monkeypatch)
    with MessageChecks(2) as checks:
        for block, references in list(blocks())[:3]:
            checks.add(Task(block, references, [], newer=False))
        assert gate.started.acquire(timeout=30)
        threading.Timer(0.2, gate.open.set).start()
    assert (gate.elsewhere, gate.here) == ([1000], [])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("ThreadPoolExecutor")]
