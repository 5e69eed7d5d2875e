"""Renders Markdown and source code in a separate process, with a budget of CPU time and memory.

A thread cannot be killed, and rendering a crafted text can take exponential time. The kernel kills the process
when a text has used up its CPU time; the text is then shown plain, and the next text gets a new process. The
process has a lower priority than those that serve requests, and none of their environment. Results are cached by
the hash of the text and everything else they depend on, in a cache limited in bytes.
"""

import atexit
import hashlib
import json
import os
import select
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Hashable
from contextlib import suppress
from typing import Any, Final, Generic, TypeVar

import msgspec
import structlog

__all__ = [
    "CACHE",
    "PARSER_PROCESS",
    "RENDERER",
    "ByteCache",
    "RenderBusy",
    "RenderFailed",
    "RenderProcess",
    "content_key",
]

V = TypeVar("V")
CPU_SECONDS: Final = 3.0
# The CPUs may be busy; the limit of CPU time is what ends a text that takes too long.
WALL_SECONDS: Final = 20.0
START_SECONDS: Final = 30.0
MEMORY_BYTES: Final = 1 << 30
# A waiting caller occupies a request thread; there are many more of those than this.
MOST_WAITING: Final = 8
WAIT_SECONDS: Final = 10.0
CACHE_BYTES: Final = 32 << 20
START: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from holdfast.hosting.renderer.render_worker import main; main()"
)
log = structlog.get_logger(__name__)


class RenderFailed(Exception):
    """Raised when a text could not be rendered within its budget."""


class RenderBusy(Exception):
    """Raised when too many texts wait to be rendered."""


def content_key(kind: str, text: str, *context: Hashable) -> tuple[Hashable, ...]:
    """Return the cache key of a rendered text: the hash of the text, and everything else it depends on."""
    return kind, hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest(), *context


class ByteCache(Generic[V]):
    """An LRU cache limited by the total size of its values in bytes."""

    def __init__(self, most: int = CACHE_BYTES) -> None:
        self._most = most
        self._bytes = 0
        self._entries: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self._guard = threading.Lock()

    def get(self, key: Hashable) -> V | None:
        """Return the cached value of a key; None if there is none."""
        with self._guard:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        """Cache a value of `size` bytes."""
        with self._guard:
            before = self._entries.pop(key, None)
            self._bytes += size - (0 if before is None else before[1])
            self._entries[key] = value, size
            while self._bytes > self._most:
                _, (_, evicted) = self._entries.popitem(last=False)
                self._bytes -= evicted

    def clear(self) -> None:
        """Remove all entries."""
        with self._guard:
            self._entries.clear()
            self._bytes = 0


class RenderProcess:
    """A process that renders one text at a time; it is started on first use."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS, *, most_waiting: int = MOST_WAITING) -> None:
        self._cpu_seconds = cpu_seconds
        self._most_waiting = most_waiting
        self._turn = threading.Lock()
        self._guard = threading.Lock()
        self._waiting = 0
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, kind: str, *arguments: object) -> Any:
        """Render a text in the process; raise `RenderFailed` beyond its budget, `RenderBusy` if too many wait."""
        with self._guard:
            if self._waiting >= self._most_waiting:
                raise RenderBusy
            self._waiting += 1
        try:
            if not self._turn.acquire(timeout=WAIT_SECONDS):
                raise RenderBusy
        finally:
            with self._guard:
                self._waiting -= 1
        try:
            return self._ask(msgspec.msgpack.encode((kind, arguments)))
        finally:
            self._turn.release()

    def close(self) -> None:
        """Stop the process."""
        with self._turn:
            self._end()

    def _ask(self, request: bytes) -> Any:
        process = self._started()
        try:
            self._send(process, request)
            answer = self._receive(process, WALL_SECONDS)
        except (OSError, EOFError, TimeoutError):
            self._end()
            log.warning("text not rendered: limit exceeded", bytes=len(request))
            raise RenderFailed from None
        except BaseException:
            # Otherwise its late response would be read as the response to the next text.
            self._end()
            raise
        is_result, result = msgspec.msgpack.decode(answer)
        if not is_result:
            raise RenderFailed
        return result

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._end()
        command = [sys.executable, "-c", START, json.dumps(sys.path), str(self._cpu_seconds), str(MEMORY_BYTES)]
        # Without the environment, which may contain the service's secrets.
        self._process = subprocess.Popen(  # noqa: S603  # a fixed command
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={}
        )
        try:
            self._receive(self._process, START_SECONDS)
        except (OSError, EOFError, TimeoutError):
            self._end()
            log.warning("render process not started")
            raise RenderBusy from None
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()
            process.wait()

    @staticmethod
    def _send(process: "subprocess.Popen[bytes]", request: bytes) -> None:
        if process.stdin is None:
            raise EOFError
        process.stdin.write(len(request).to_bytes(4, "big") + request)
        process.stdin.flush()

    @staticmethod
    def _receive(process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
        """Read one response, prefixed with its length."""
        if process.stdout is None:
            raise EOFError
        pipe, deadline = process.stdout.fileno(), time.monotonic() + seconds
        poll = select.poll()
        poll.register(pipe, select.POLLIN)
        received = b""
        wanted = 4
        while len(received) < wanted:
            if not poll.poll(max(deadline - time.monotonic(), 0) * 1000):
                raise TimeoutError
            piece = os.read(pipe, 1 << 20)
            if not piece:
                raise EOFError
            received += piece
            if len(received) >= 4:
                wanted = 4 + int.from_bytes(received[:4], "big")
        return received[4:]


RENDERER: Final = RenderProcess()
# For texts that are being stored, so that they do not wait for the pages of readers. More of them may wait: most
# take a few milliseconds, but the first ones wait for the process to start.
PARSER_PROCESS: Final = RenderProcess(most_waiting=24)
CACHE: Final[ByteCache[Any]] = ByteCache()
atexit.register(RENDERER.close)
atexit.register(PARSER_PROCESS.close)
