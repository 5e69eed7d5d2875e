"""Group commit: batches, errors and crashes of the queue."""

import threading

import pytest

from holdfast.hosting.storage.batch_queue import MAX_BATCH, BatchQueue, QueuedRequest
from tests.conftest import wait_for


def test_waiting_requests_are_processed_in_one_batch() -> None:
    """Requests that arrive while a batch is processed wait and are the next batch together."""
    queue, started, go = BatchQueue(), threading.Event(), threading.Event()
    batches: list[list[int]] = []
    results: list[int] = []

    def work(batch: list[QueuedRequest[int, int]]) -> None:
        batches.append([queued.request for queued in batch])
        started.set()
        go.wait(10)
        for queued in batch:
            queued.result = queued.request * 10

    threads = [threading.Thread(target=lambda n=n: results.append(queue.submit(1, n, work))) for n in range(1, 6)]
    threads[0].start()
    started.wait(10)
    for thread in threads[1:]:
        thread.start()
    wait_for(lambda: len(queue._waiting[1]) == 4)
    go.set()
    for thread in threads:
        thread.join()
    assert sorted(results) == [10, 20, 30, 40, 50]
    assert batches[0] == [1]
    assert sorted(batches[1]) == [2, 3, 4, 5]
    assert queue._waiting == {}


def test_more_requests_than_a_batch_holds_take_several() -> None:
    """Each request is processed once, in the order of submission, in batches of limited size."""
    queue, started, go = BatchQueue(), threading.Event(), threading.Event()
    batches: list[list[int]] = []
    results: list[int] = []

    def work(batch: list[QueuedRequest[int, int]]) -> None:
        batches.append([queued.request for queued in batch])
        started.set()
        go.wait(10)
        for queued in batch:
            queued.result = queued.request * 10

    count = 2 * MAX_BATCH + 5
    threads = [
        threading.Thread(target=lambda n=n: results.append(queue.submit(1, n, work)), daemon=True)
        for n in range(count + 1)
    ]
    threads[0].start()
    started.wait(10)
    for number, thread in enumerate(threads[1:], 1):
        thread.start()
        wait_for(lambda number=number: len(queue._waiting[1]) == number)  # type: ignore[misc]  # mypy does not infer a lambda with a default value
    go.set()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "somebody waits whom nobody serves"
    assert sorted(results) == [number * 10 for number in range(count + 1)]
    assert [len(batch) for batch in batches] == [1, MAX_BATCH, MAX_BATCH, 5]
    assert [number for batch in batches for number in batch] == list(range(count + 1))
    assert queue._waiting == {}


def test_an_error_of_an_entry_is_its_own_and_an_error_of_a_batch_is_shared() -> None:
    """In one batch each caller gets its own error or result, and the others get the error of the batch.

    A missing result is an error too.
    """
    queue, started, go = BatchQueue(), threading.Event(), threading.Event()
    outcomes: dict[int, object] = {}

    def work(batch: list[QueuedRequest[int, int]]) -> None:
        started.set()
        go.wait(10)
        for queued in batch:
            if queued.request == 2:
                queued.error = ValueError("no")
            elif queued.request < 2:
                queued.result = queued.request * 10
        if len(batch) > 1:
            raise OSError("all")

    def submit(number: int) -> None:
        try:
            outcomes[number] = queue.submit(1, number, work)
        except (OSError, ValueError) as error:
            outcomes[number] = repr(error)

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(5)]
    threads[0].start()
    started.wait(10)
    for thread in threads[1:]:
        thread.start()
    wait_for(lambda: len(queue._waiting[1]) == 4)
    go.set()
    for thread in threads:
        thread.join()
    failed = "OSError('all')"
    assert outcomes == {0: 0, 1: 10, 2: "ValueError('no')", 3: failed, 4: failed}
    with pytest.raises(RuntimeError, match="not processed"):
        queue.submit(1, 1, lambda batch: None)  # noqa: ARG005  # the signature of a batch function


def test_a_crash_ends_the_thread_that_processes_a_batch() -> None:
    """A KeyboardInterrupt is raised to the thread even if its own request has a result already."""
    queue = BatchQueue()

    def work(batch: list[QueuedRequest[int, int]]) -> None:
        batch[0].result = 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        queue.submit(1, 1, work)
    assert queue._waiting == {}


def test_an_error_does_not_take_back_a_result() -> None:
    """A request that has a result returns it even if its batch fails afterwards."""
    queue = BatchQueue()

    def work(batch: list[QueuedRequest[int, int]]) -> None:
        batch[0].result = 1
        raise ValueError

    assert queue.submit(1, 1, work) == 1


def test_a_processed_request_does_not_wait_for_the_next_batch() -> None:
    """All requests of a batch return while the next one is still being processed."""
    queue = BatchQueue()
    gates = [threading.Event() for _ in range(3)]
    batches: list[list[int]] = []
    results: list[int] = []

    def work(batch: list[QueuedRequest[int, int]]) -> None:
        batches.append([queued.request for queued in batch])
        gates[len(batches) - 1].wait(10)
        for queued in batch:
            queued.result = queued.request

    def start(numbers: range) -> list[threading.Thread]:
        threads = [
            threading.Thread(target=lambda n=n: results.append(queue.submit(1, n, work)), daemon=True)
            for n in numbers
        ]
        for thread in threads:
            thread.start()
        return threads

    threads = start(range(1))
    wait_for(lambda: len(batches) == 1)
    threads += start(range(1, 21))
    wait_for(lambda: len(queue._waiting[1]) == 20)
    gates[0].set()
    wait_for(lambda: len(batches) == 2)
    threads += start(range(21, 41))
    wait_for(lambda: len(queue._waiting[1]) == 20)
    gates[1].set()
    wait_for(lambda: len(batches) == 3)
    wait_for(lambda: len(results) == 21)
    assert sorted(results) == list(range(21))
    gates[2].set()
    for thread in threads:
        thread.join(10)
    assert sorted(results) == list(range(41))
