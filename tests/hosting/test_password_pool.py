"""The thread pool for passwords."""

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
    """Have some checks wait at an address."""
    tasks = [asyncio.ensure_future(pool.run(address, free.wait, 10)) for _ in range(count)]
    await asyncio.sleep(0)
    return tasks


def test_beyond_the_queue_checks_are_refused_at_once() -> None:
    """One address fills half of it at most; what was accepted is done."""

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
    """Its error is told."""

    def fail() -> None:
        raise LookupError("as it must")

    async def play() -> None:
        pool = PasswordPool(1, queue_length=0)
        for _ in range(3):
            with pytest.raises(LookupError):
                await pool.run("192.0.2.1", fail)

    asyncio.run(play())


def test_a_check_that_waited_too_long_is_not_made() -> None:
    """On a busy machine old guesses are not worked off; whoever waits is told to come again."""

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
    """Hashing takes all processors it can get."""

    def niceness() -> int:
        return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())

    async def play() -> None:
        before = niceness()
        assert await PasswordPool().run("192.0.2.1", niceness) > before
        assert niceness() == before

    asyncio.run(play())
