"""Whoever has the turn does the work of all who wait."""

import threading

import pytest

from holdfast.hosting.storage.batch_queue import MOST_AT_ONCE, Job, Turns
from tests.conftest import wait_for


def test_those_who_wait_are_served_together() -> None:
    """While one works, others queue; the next does all of theirs at once."""
    turns, started, go = Turns(), threading.Event(), threading.Event()
    batches: list[list[int]] = []
    results: list[int] = []

    def work(jobs: list[Job[int, int]]) -> None:
        batches.append([job.wanted for job in jobs])
        started.set()
        go.wait(10)
        for job in jobs:
            job.result = job.wanted * 10

    threads = [threading.Thread(target=lambda n=n: results.append(turns.take(1, n, work))) for n in range(1, 6)]
    threads[0].start()
    started.wait(10)
    for thread in threads[1:]:
        thread.start()
    wait_for(lambda: len(turns._lines[1].waiting) == 4)
    go.set()
    for thread in threads:
        thread.join()
    assert sorted(results) == [10, 20, 30, 40, 50]
    assert batches[0] == [1]
    assert sorted(batches[1]) == [2, 3, 4, 5]
    assert turns._lines == {}


def test_more_than_one_turn_can_do_are_served_in_several() -> None:
    """Each once and nobody is forgotten, in the order in which they came."""
    turns, started, go = Turns(), threading.Event(), threading.Event()
    batches: list[list[int]] = []
    results: list[int] = []

    def work(jobs: list[Job[int, int]]) -> None:
        batches.append([job.wanted for job in jobs])
        started.set()
        go.wait(10)
        for job in jobs:
            job.result = job.wanted * 10

    count = 2 * MOST_AT_ONCE + 5
    threads = [
        threading.Thread(target=lambda n=n: results.append(turns.take(1, n, work)), daemon=True)
        for n in range(count + 1)
    ]
    threads[0].start()
    started.wait(10)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        wait_for(lambda number=number: len(turns._lines[1].waiting) == number)  # type: ignore[misc]
    go.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "somebody waits whom nobody serves"
    assert sorted(results) == [number * 10 for number in range(count + 1)]
    assert [len(batch) for batch in batches] == [1, MOST_AT_ONCE, MOST_AT_ONCE, 5]
    assert [number for batch in batches for number in batch] == list(range(count + 1))
    assert turns._lines == {}


def test_an_error_of_one_is_its_own_and_one_of_all_is_everybodys() -> None:
    """What goes wrong is raised where the result was waited for."""
    turns = Turns()

    def refuse(jobs: list[Job[int, int]]) -> None:
        jobs[0].error = ValueError("no")

    def fail(jobs: list[Job[int, int]]) -> None:
        raise OSError(len(jobs))

    with pytest.raises(ValueError, match="no"):
        turns.take(1, 1, refuse)
    with pytest.raises(OSError, match="1"):
        turns.take(1, 1, fail)
    with pytest.raises(RuntimeError, match="undone"):
        turns.take(1, 1, lambda jobs: None)  # noqa: ARG005
