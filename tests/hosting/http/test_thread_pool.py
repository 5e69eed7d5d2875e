"""Work handed to threads comes back whole: its result, its error, its context, and not before it is done."""

import asyncio
import contextvars
import threading

import pytest

from holdfast.hosting.http.thread_pool import Crew

WORD: contextvars.ContextVar[str] = contextvars.ContextVar("WORD")


def test_what_comes_of_it_is_returned_or_raised() -> None:
    """Also an error that a task could not be given as its own."""

    async def try_it() -> None:
        def fail(error: BaseException) -> None:
            raise error

        crew = Crew()
        assert await crew.run(pow, 3, 2, mod=5) == 4
        with pytest.raises(KeyError, match="gone"):
            await crew.run(fail, KeyError("gone"))
        with pytest.raises(RuntimeError, match="StopIteration"):
            await crew.run(fail, StopIteration())
        assert await crew.run(threading.current_thread) is not threading.main_thread()

    asyncio.run(try_it())


def test_the_thread_that_was_used_last_is_used_again() -> None:
    """It has everything open already, also after many were needed at once."""

    async def try_it() -> None:
        crew = Crew()
        first = await crew.run(threading.get_ident)
        assert await crew.run(threading.get_ident) == first
        together = threading.Barrier(3)
        await asyncio.gather(*(crew.run(together.wait, 60) for _ in range(3)))
        last = await crew.run(threading.get_ident)
        assert {await crew.run(threading.get_ident) for _ in range(20)} == {last}

    asyncio.run(try_it())


def test_there_are_only_so_many_threads() -> None:
    """More errands than threads are all done."""

    async def try_it() -> None:
        crew = Crew(2)
        seen: list[tuple[int, int]] = []

        def work(number: int) -> int:
            seen.append((number, threading.get_ident()))
            return number

        assert await asyncio.gather(*(crew.run(work, number) for number in range(200))) == list(range(200))
        assert len({ident for _, ident in seen}) <= 2
        assert sorted(number for number, _ in seen) == list(range(200))

    asyncio.run(try_it())


def test_the_thread_sees_the_task_s_context() -> None:
    """Whatever is logged there belongs to the same request."""

    async def try_it() -> None:
        WORD.set("mine")
        assert await Crew().run(WORD.get) == "mine"
        with pytest.raises(LookupError):
            await Crew().run(lambda: contextvars.Context().run(WORD.get))

    asyncio.run(try_it())


def test_a_cancelled_task_ends_when_the_thread_has() -> None:
    """However often it is cancelled; the thread is not left alone with what others take away."""

    async def try_it() -> None:
        crew, begun, may_end, ended = Crew(), threading.Event(), threading.Event(), threading.Event()

        def work() -> None:
            begun.set()
            may_end.wait(60)
            ended.set()

        task = asyncio.create_task(crew.run(work))
        await crew.run(begun.wait, 60)
        for _ in range(3):
            task.cancel()
            await asyncio.sleep(0)
        assert not task.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()
        assert await crew.run(lambda: "still there") == "still there"

    asyncio.run(try_it())


def test_a_loop_that_ended_leaves_the_threads_to_others() -> None:
    """A thread that has nobody to tell is free again."""
    crew, may_end = Crew(1), threading.Event()

    async def leave() -> None:
        task = asyncio.create_task(crew.run(may_end.wait, 60))
        await asyncio.sleep(0)
        del task

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave())
    for task in asyncio.all_tasks(loop):
        # As when a process ends without asking anybody.
        task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    may_end.set()
    assert asyncio.run(crew.run(lambda: 5)) == 5
