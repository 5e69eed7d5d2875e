"""Asynchronous git subprocesses: pipes, timeouts, and cleanup of the process group.

A command inherits only the descriptors it is given and runs in its own process group. It is always terminated with
the commands it started, and waited for, so it leaves no zombie.
"""

import asyncio
import fcntl
import os
import resource
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from typing import Final, Literal

from holdfast.hosting import traces
from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.corruption import report_failure
from holdfast.hosting.git.folders import share
from holdfast.hosting.git.program import STDERR_KEPT, environment, find_git, stderr_tail
from holdfast.hosting.metrics import count_git_command

__all__ = ["IDLE_TIMEOUT", "GitProcess", "Watchdog", "make_pipe", "open_reader", "start", "stream"]

IDLE_TIMEOUT: Final = 300.0
CHUNK: Final = 256 * 1024
GRACE_SECONDS: Final = 5.0


class Watchdog:
    """Calls a function after a period of inactivity."""

    def __init__(self, seconds: float, action: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._action = action
        self._last = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._check_idle)
        self.expired = False

    def touch(self) -> None:
        """Reset the timer."""
        self._last = self._loop.time()

    def cancel(self) -> None:
        """Stop the timer."""
        self._timer.cancel()

    def _check_idle(self) -> None:
        left = self._last + self._seconds - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._check_idle)
        else:
            self.expired = True
            self._action()


class StderrReader(asyncio.Protocol):
    """Reads standard error and keeps the last bytes."""

    def __init__(self) -> None:
        self.kept = b""
        self.closed = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Append data, keeping the end."""
        self.kept = (self.kept + data)[-STDERR_KEPT:]

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002  # the signature of asyncio's protocols
        """Mark the end of the output."""
        if not self.closed.done():
            self.closed.set_result(None)


class GitProcess:
    """A running git process, which holds a shared lock on its repository."""

    def __init__(
        self,
        command: str,
        pid: int,
        *,
        folder: Path,
        lock: int | None,
        stdin: asyncio.StreamWriter | None,
        stdout: asyncio.StreamReader,
        complaint: StderrReader,
        transports: Sequence[asyncio.BaseTransport],
    ) -> None:
        self.command = command
        self.pid = pid
        self._folder = folder
        self._lock = lock
        self.stdin = stdin
        self.stdout = stdout
        self._complaint = complaint
        self._transports = transports
        self._span = traces.span(f"git {command}")
        self._loop = asyncio.get_running_loop()
        self._code: asyncio.Future[int] = self._loop.create_future()
        threading.Thread(target=self._wait, name=f"git {command}", daemon=True).start()

    @property
    def stderr(self) -> str:
        """The end of standard error."""
        return stderr_tail(self._complaint.kept)

    async def wait(self) -> int:
        """Wait for the exit code, negative for a signal."""
        code = await asyncio.shield(self._code)
        await asyncio.shield(self._complaint.closed)
        return code

    def signal(self, number: int) -> None:
        """Send a signal to the process group; does nothing after it has exited."""
        if not self._code.done():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def end(self) -> None:
        """Kill the process group and close its pipes; the exit code is collected in the background."""
        self.signal(signal.SIGKILL)
        for transport in self._transports:
            transport.close()

    def end_soon(self) -> None:
        """Close its input and give it time to clean up; kill it if it does not exit."""
        if not self._code.done():
            self._loop.call_later(GRACE_SECONDS, self.signal, signal.SIGTERM)
            self._loop.call_later(2 * GRACE_SECONDS, self.signal, signal.SIGKILL)

    def failure(self, code: int) -> GitFailed:
        """Return the error for an exit code."""
        report_failure(self._folder, self.command, self.stderr)
        how = f"was killed by signal {-code}" if code < 0 else f"failed with exit code {code}"
        return GitFailed(self.command, how, self.stderr, code)

    def _wait(self) -> None:
        # Until it is reaped its pid is not reused, so no signal can reach another process.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        try:
            self._loop.call_soon_threadsafe(self._collect)
        except RuntimeError:  # the loop is closed: the service has stopped
            self._end(reap(self.pid))

    def _collect(self) -> None:
        code = reap(self.pid)
        self._end(code)
        self._code.set_result(code)

    def _end(self, code: int) -> None:
        """Release the lock, and end the span."""
        if self._lock is not None:
            os.close(self._lock)
        self._span.set("process.exit.code", code)
        self._span.end()


def reap(pid: int) -> int:
    """Kill the rest of a process group and return the exit code of its leader."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def make_pipe(stack: ExitStack) -> tuple[int, int]:
    """Create a pipe that is closed with the stack; its descriptors are above those passed to a command."""
    ends = os.pipe()
    try:
        # A number that is both source and target of a duplication would lose one of the descriptors.
        reads, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 16) for end in ends)
    finally:
        for end in ends:
            os.close(end)
    stack.callback(os.close, reads)
    stack.callback(os.close, writes)
    return reads, writes


def duplicate_descriptor(descriptor: int, mode: Literal["rb", "wb"]) -> FileIO:
    """Duplicate a pipe's end for a transport, which closes it.

    uvloop's transports close the descriptor and then the file object. By then another thread may have got the same
    number, so the file object must not close it.
    """
    closes_itself = type(asyncio.get_running_loop()).__module__.startswith("uvloop")
    return FileIO(os.dup(descriptor), mode, closefd=not closes_itself)


async def open_reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """Return a reader on a duplicate of a pipe's end."""
    reader = asyncio.StreamReader(limit=CHUNK)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), duplicate_descriptor(descriptor, "rb")
    )
    return reader, transport


async def start(
    folder: Path,
    *arguments: str,
    stdin: int | None = None,
    feed: bool = False,
    descriptors: Sequence[int] = (),
    variables: Mapping[str, str] | None = None,
    configuration: Iterable[tuple[str, str]] = (),
    limits: Mapping[int, int] | None = None,
) -> GitProcess:
    """Start a git command with a descriptor or a pipe as standard input; `descriptors` become 3 and up.

    It uses `posix_spawn`, which is fast in a large process and safe among threads.
    """
    loop = asyncio.get_running_loop()
    count_git_command(arguments[0])
    variables_of_process = {**environment(variables, configuration), "GIT_DIR": str(folder)}
    executable = find_git()
    transports: list[asyncio.BaseTransport] = []
    lock = share(folder)
    with ExitStack() as ends:
        try:
            writer: asyncio.StreamWriter | None = None
            if feed:
                stdin, feeding = make_pipe(ends)
                into, protocol = await loop.connect_write_pipe(
                    lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()),
                    duplicate_descriptor(feeding, "wb"),
                )
                writer = asyncio.StreamWriter(into, protocol, None, loop)
                transports.append(into)
            elif stdin is None:
                stdin = os.open(os.devnull, os.O_RDONLY)
                ends.callback(os.close, stdin)
            output, stdout = make_pipe(ends)
            grow_pipe(output)
            reader, out_of = await open_reader(output)
            transports.append(out_of)
            grumbling, stderr = make_pipe(ends)
            heard, complaint = await loop.connect_read_pipe(StderrReader, duplicate_descriptor(grumbling, "rb"))
            transports.append(heard)
            targets = (stdin, stdout, stderr, *descriptors)
            pid = os.posix_spawn(  # noqa: ASYNC221  # it does not wait for the command
                executable,
                ["git", *arguments],
                variables_of_process,
                file_actions=spawn_actions(targets),
                setpgroup=0,
                setsigmask=[],
                setsigdef=[signal.SIGPIPE, signal.SIGINT, signal.SIGTERM],
            )
        except BaseException:
            for transport in transports:
                transport.close()
            if lock is not None:
                os.close(lock)
            raise
    for limit, most in (limits or {}).items():
        # It may have exited already.
        with suppress(ProcessLookupError):
            resource.prlimit(pid, limit, (most, most))
    return GitProcess(
        arguments[0],
        pid,
        folder=folder,
        lock=lock,
        stdin=writer,
        stdout=reader,
        complaint=complaint,
        transports=transports,
    )


def spawn_actions(targets: Sequence[int]) -> list[tuple[int, int, int] | tuple[int, int]]:
    """Return the file actions: the given descriptors are duplicated to their numbers, all others closed."""
    actions = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(targets)]
    stay = []
    for name in os.listdir("/dev/fd"):  # noqa: PTH208  # only numbers
        # Listening sockets are inheritable, for workers; closing one that is closed already is harmless.
        with suppress(OSError):
            if int(name) >= len(targets) and os.get_inheritable(int(name)):
                stay.append((os.POSIX_SPAWN_CLOSE, int(name)))
    return [*actions, *stay]


def grow_pipe(descriptor: int) -> None:
    """Enlarge the buffer of a pipe if possible, for fewer context switches."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # there is a limit per user; a small pipe works as well
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, CHUNK)


async def stream(
    folder: Path,
    *arguments: str,
    stdin: int | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
    variables: Mapping[str, str] | None = None,
    configuration: Iterable[tuple[str, str]] = (),
) -> AsyncGenerator[bytes, None]:
    """Run a git command and yield its output; terminate it when the consumer stops.

    It is also terminated after `idle_timeout` seconds without progress on either side.
    """
    process = await start(folder, *arguments, stdin=stdin, variables=variables, configuration=configuration)
    watchdog = Watchdog(idle_timeout, process.end)
    try:
        while chunk := await process.stdout.read(CHUNK):
            watchdog.touch()
            yield chunk
            watchdog.touch()
        code = await process.wait()
    finally:
        watchdog.cancel()
        process.end()
    if watchdog.expired:
        raise GitTimedOut(process.command, f"made no progress for {idle_timeout:g} seconds", process.stderr, code)
    if code:
        raise process.failure(code)
