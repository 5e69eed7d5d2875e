"""The thread pool for passwords."""

import asyncio
import threading

import pytest

from holdfast.hosting.api.password_pool import PasswordPool
from holdfast.hosting.errors import HashingBusy


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
