"""The thread pool for password checks: its queue, timeouts and priority."""

import asyncio
import os
import sys
import threading

import pytest

from holdfast.hosting.errors import HashingBusy
from holdfast.hosting.password_pool import PasswordPool


async def filled(
    pool: PasswordPool, address: str, count: int, free: threading.Event
) -> list["asyncio.Task[bool]"]:
    """Queue some checks of an address."""
    tasks = [asyncio.ensure_future(pool.run(address, free.wait, 10)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_beyond_the_queue_checks_are_refused_at_once() -> None:
    """One address can fill half of the queue, a full queue refuses, and all accepted checks are run."""

    async def play() -> None:
        pool, free = PasswordPool(2, queue_length=8), threading.Event()
        tasks = await filled(pool, "192.0.2.1", 6, free)
        with pytest.raises(HashingBusy):
            await pool.run("192.0.2.1", free.is_set)
        tasks += await filled(pool, "192.0.2.2", 4, free)
        with pytest.raises(HashingBusy):
            await pool.run("192.0.2.3", free.is_set)
        free.set()
        assert await asyncio.gather(*tasks) == [True] * 10
        assert await pool.run("192.0.2.1", free.is_set) is True

    asyncio.run(play())


def test_a_check_that_fails_frees_its_place() -> None:
    """The error of a failed check is raised, and its place in the queue is free again."""

    def fail() -> None:
        raise LookupError("as it must")

    async def play() -> None:
        pool = PasswordPool(1, queue_length=0)
        for _ in range(3):
            with pytest.raises(LookupError):
                await pool.run("192.0.2.1", fail)

    asyncio.run(play())


def test_a_check_that_waited_too_long_is_not_made() -> None:
    """A check that waited too long raises HashingBusy and is not run."""

    async def play() -> None:
        pool, free = PasswordPool(1, wait_seconds=0.0), threading.Event()
        created: list[str] = []
        first = await filled(pool, "192.0.2.1", 1, free)
        second = asyncio.ensure_future(pool.run("192.0.2.1", created.append, "late"))
        await asyncio.sleep(0)
        free.set()
        results = await asyncio.gather(*first, second, return_exceptions=True)
        assert isinstance(results[-1], HashingBusy)
        assert created == []

    asyncio.run(play())


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own elsewhere")
def test_checks_have_a_lower_priority_than_event_loops() -> None:
    """Checks run in threads with a higher niceness, as hashing uses all processors."""

    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def play() -> None:
        before = niceness()
        assert await PasswordPool().run("192.0.2.1", niceness) > before
        assert niceness() == before

    asyncio.run(play())
