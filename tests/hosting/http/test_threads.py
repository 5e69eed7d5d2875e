"""Work that runs in threads comes back whole: its result, its error, its context, and not before it is done."""

import asyncio
import contextvars
import threading

import anyio
import pytest

from holdfast.hosting.http.threads import ThreadLimiter

WORD: contextvars.ContextVar[str] = contextvars.ContextVar("WORD")


def test_the_result_is_returned_or_raised() -> None:
    """In a thread that is not the event loop's."""

    async def try_it() -> None:
        def fail(error: BaseException) -> None:
            raise error

        threads = ThreadLimiter(4)
        assert await threads.run(pow, 3, 2, mod=5) == 4
        with pytest.raises(KeyError, match="gone"):
            await threads.run(fail, KeyError("gone"))
        assert await threads.run(threading.current_thread) is not threading.main_thread()

    asyncio.run(try_it())


def test_the_thread_that_was_used_last_is_used_again() -> None:
    """It has a database connection and repositories open already, also after many were needed at once."""

    async def try_it() -> None:
        threads = ThreadLimiter(4)
        together = threading.Barrier(3)
        await asyncio.gather(*(threads.run(together.wait, 60) for _ in range(3)))
        last = await threads.run(threading.get_ident)
        assert {await threads.run(threading.get_ident) for _ in range(20)} == {last}

    asyncio.run(try_it())


def test_the_number_of_threads_is_limited() -> None:
    """More tasks than that are all done."""

    async def try_it() -> None:
        threads, guard = ThreadLimiter(2), threading.Lock()
        running, most = 0, 0

        def work(number: int) -> int:
            nonlocal running, most
            with guard:
                running += 1
                most = max(most, running)
            threading.Event().wait(0.001)
            with guard:
                running -= 1
            return number

        assert await asyncio.gather(*(threads.run(work, number) for number in range(50))) == list(range(50))
        assert most == 2

    asyncio.run(try_it())


def test_the_thread_sees_the_task_s_context() -> None:
    """Whatever is logged there belongs to the same request."""

    async def try_it() -> None:
        WORD.set("mine")
        assert await ThreadLimiter(1).run(WORD.get) == "mine"

    asyncio.run(try_it())


def test_a_cancelled_scope_waits_for_its_thread() -> None:
    """The thread is not left alone with what others take away."""

    async def try_it() -> None:
        threads, begun, may_end, ended = ThreadLimiter(2), threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            may_end.wait(60)
            ended.set()

        async with anyio.create_task_group() as group:
            group.start_soon(threads.run, work)
            await threads.run(begun.wait, 60)
            group.cancel_scope.cancel()
            asyncio.get_running_loop().call_later(0.05, may_end.set)
        assert ended.is_set()

    asyncio.run(try_it())


def test_shutdown_waits_for_threads_of_cancelled_tasks() -> None:
    """A server that stops cancels its tasks, and a write in progress goes on in its thread."""

    async def try_it() -> None:
        threads, begun, may_end = ThreadLimiter(2), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            may_end.wait(60)

        task = asyncio.create_task(threads.run(work))
        await threads.run(begun.wait, 60)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not threads.wait(0.01)
        may_end.set()
        assert threads.wait(60)

    asyncio.run(try_it())
