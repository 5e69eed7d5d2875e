"""The limit of concurrent password hashes."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.errors import HashingBusy
from holdfast.hosting.store.hash_limit import HashLimiter


def test_concurrency_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of twelve threads at most two hash at the same time when the limit is two."""
    limiter = HashLimiter(2, queue_length=20)
    running: list[int] = []
    most: list[int] = []
    both = threading.Barrier(2, timeout=10)

    def work(_: int) -> None:
        with limiter.slot():
            running.append(1)
            both.wait()
            most.append(len(running))
            both.wait()
            running.pop()

    with ThreadPoolExecutor(12) as threads:
        list(threads.map(work, range(12)))
    assert max(most) == 2


def test_a_full_queue_is_refused_at_once() -> None:
    """A request beyond the queue raises HashingBusy, and a thread in the queue gets the released slot."""
    limiter = HashLimiter(1, queue_length=0, timeout=10)
    entered, leave = threading.Event(), threading.Event()
    done: list[str] = []

    def hold() -> None:
        with limiter.slot():
            entered.set()
            leave.wait(10)

    def wait() -> None:
        with limiter.slot():
            done.append("waited")

    holder, waiter = threading.Thread(target=hold), threading.Thread(target=wait)
    holder.start()
    assert entered.wait(10)
    waiter.start()
    refused = False
    while not refused:  # until the waiter waits
        attempt = HashLimiter.slot(limiter)
        if limiter._waiting:
            with pytest.raises(HashingBusy), attempt:
                pass
            refused = True
    leave.set()
    holder.join(10)
    waiter.join(10)
    assert done == ["waited"]


def test_waiting_times_out() -> None:
    """Waiting for a slot raises HashingBusy after the timeout, and the slot can be used afterwards."""
    limiter = HashLimiter(1, timeout=0)
    with limiter.slot(), pytest.raises(HashingBusy), limiter.slot():
        pass
    with limiter.slot():
        pass
