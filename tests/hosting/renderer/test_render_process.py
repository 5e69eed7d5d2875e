"""The render process: its time limit, restarts, errors, queue and cache."""

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.renderer.markdown import NOWHERE
from holdfast.hosting.renderer.render_process import (
    ByteCache,
    RenderBusy,
    RenderFailed,
    RenderProcess,
    content_key,
)


@pytest.fixture
def process() -> Iterator[RenderProcess]:
    """Run a render process with a small time limit, and end it afterwards.

    The limit includes the import of a lexer: half a second with branch coverage on shared cores.
    """
    render_process = RenderProcess(cpu_seconds=1.5)
    yield render_process
    render_process.close()


def test_a_text_over_its_budget_ends_the_process_and_the_next_one_is_rendered(process: RenderProcess) -> None:
    """The kernel limits the CPU time of the process, so that no text can avoid the limit."""
    with pytest.raises(RenderFailed):
        process.run("markdown", "*a **b " * 100_000, NOWHERE)
    assert process.run("markdown", "*a*", NOWHERE) == "<p><em>a</em></p>\n"


def test_a_process_that_was_killed_is_started_again(process: RenderProcess) -> None:
    """A text is rendered after the process was ended with SIGKILL."""
    assert process.run("markdown", "a", NOWHERE) == "<p>a</p>\n"
    assert process._process is not None
    os.kill(process._process.pid, signal.SIGKILL)
    process._process.wait()
    assert process.run("markdown", "b", NOWHERE) == "<p>b</p>\n"


def test_a_rendering_error_is_reported(process: RenderProcess) -> None:
    """An error in the process fails only one request, and the next one is answered."""
    with pytest.raises(RenderFailed):
        process.run("markdown", 17, None)
    assert process.run("highlight", "a.py", "def f():\n    pass\n")[0][1].startswith("    <span")


def test_many_texts_at_once_get_their_own_answers(process: RenderProcess) -> None:
    """Six threads that share one process get the results of their own texts."""
    with ThreadPoolExecutor(6) as threads:
        created = list(threads.map(lambda number: process.run("markdown", f"{number}", NOWHERE), range(30)))
    assert created == [f"<p>{number}</p>\n" for number in range(30)]


def test_the_queue_is_bounded() -> None:
    """A request is refused when the queue is full, because a waiting thread cannot serve others."""
    process = RenderProcess(most_waiting=0)
    with pytest.raises(RenderBusy):
        process.run("markdown", "a", NOWHERE)
    process.close()


def test_a_cache_has_a_largest_size() -> None:
    """The least recently used entries are evicted first, and an entry above the size is not kept."""
    cache: ByteCache[str] = ByteCache(100)
    for name in "abc":
        cache.put(name, name, 40)
        assert cache.get("a") == "a"
    assert [cache.get(name) for name in "abc"] == ["a", None, "c"]
    cache.put("d", "d", 1000)
    assert [cache.get(name) for name in "acd"] == [None, None, None]
    cache.put("e", "e", 100)
    cache.put("e", "f", 100)
    assert cache.get("e") == "f"
    cache.clear()
    assert cache.get("e") is None


def test_a_key_tells_texts_and_places_apart() -> None:
    """Cache keys differ by kind, text and context, and a text with a lone surrogate has a key too."""
    keys = {content_key("a", "x", 1), content_key("a", "x", 2), content_key("a", "y", 1), content_key("b", "x", 1)}
    assert len({*keys, content_key("a", "\ud800", 1)}) == 5


def test_the_process_ends_with_its_parent() -> None:
    """The process exits with status 0 when its standard input is closed."""
    process = RenderProcess()
    process.run("markdown", "a", NOWHERE)
    child = process._process
    assert child is not None
    assert child.stdin is not None
    child.stdin.close()
    ended = threading.Thread(target=child.wait)
    ended.start()
    ended.join(20)
    assert child.returncode == 0
    process.close()
