"""The pool of worker threads: results, limits, context, cancellation and shutdown."""

import asyncio
import contextvars
import threading

import anyio
import pytest

from holdfast.hosting.http.threads import ThreadLimiter

WORD: contextvars.ContextVar[str] = contextvars.ContextVar("WORD")


def test_the_result_is_returned_or_raised() -> None:
    """A function runs in another thread than the event loop, and its result or exception is passed on."""

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
    """The last thread is reused, because its connection and repositories are open."""

    async def try_it() -> None:
        threads = ThreadLimiter(4)
        together = threading.Barrier(3)
        await asyncio.gather(*(threads.run(together.wait, 60) for _ in range(3)))
        last = await threads.run(threading.get_ident)
        assert {await threads.run(threading.get_ident) for _ in range(20)} == {last}

    asyncio.run(try_it())


def test_the_number_of_threads_is_limited() -> None:
    """All of 50 tasks are completed by two threads."""

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
    """A thread has the context variables of its task, so that log messages name the same request."""

    async def try_it() -> None:
        WORD.set("mine")
        assert await ThreadLimiter(1).run(WORD.get) == "mine"

    asyncio.run(try_it())


def test_a_cancelled_scope_waits_for_its_thread() -> None:
    """A cancelled task group ends only after its thread, so that nothing the thread uses is closed."""

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
    """A cancelled task ends at once, and `wait` returns after the thread of its write has ended."""

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
