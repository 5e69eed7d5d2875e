"""Asynchronous git subprocesses: pipes, timeouts, and cleanup of the process group.

A command is started with exactly the descriptors it is given and in a process group of its own. Whatever ends it,
it ends whole: commands it started go with it, and it is always waited for, so it leaves no zombie.
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

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.program import STDERR_KEPT, environment, find_git, stderr_tail
from holdfast.hosting.metrics import count_git_command

__all__ = ["PATIENCE", "GitProcess", "Watchdog", "make_pipe", "open_reader", "start", "stream"]

PATIENCE: Final = 300.0
CHUNK: Final = 256 * 1024
MERCY: Final = 5.0


class Watchdog:
    """Calls a function after a period of inactivity."""

    def __init__(self, seconds: float, action: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds = seconds
        self._action = action
        self._last = self._loop.time()
        self._timer = self._loop.call_later(seconds, self._look)
        self.barked = False

    def touch(self) -> None:
        """Note that something has happened."""
        self._last = self._loop.time()

    def cancel(self) -> None:
        """Stop watching."""
        self._timer.cancel()

    def _look(self) -> None:
        left = self._last + self._seconds - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._look)
        else:
            self.barked = True
            self._action()


class StderrReader(asyncio.Protocol):
    """Reads standard error, and keeps the last bytes."""

    def __init__(self) -> None:
        self.kept = b""
        self.closed = asyncio.get_running_loop().create_future()

    def data_received(self, data: bytes) -> None:
        """Keep the end."""
        self.kept = (self.kept + data)[-STDERR_KEPT:]

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002
        """Note that there will be no more."""
        if not self.closed.done():
            self.closed.set_result(None)


class GitProcess:
    """A running git process."""

    def __init__(
        self,
        command: str,
        pid: int,
        *,
        stdin: asyncio.StreamWriter | None,
        stdout: asyncio.StreamReader,
        complaint: StderrReader,
        transports: Sequence[asyncio.BaseTransport],
    ) -> None:
        self.command = command
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self._complaint = complaint
        self._transports = transports
        self._loop = asyncio.get_running_loop()
        self._code: asyncio.Future[int] = self._loop.create_future()
        threading.Thread(target=self._wait, name=f"git {command}", daemon=True).start()

    @property
    def stderr(self) -> str:
        """The end of what it complained of."""
        return stderr_tail(self._complaint.kept)

    async def wait(self) -> int:
        """Wait until it is over and return its exit code, negative for a signal."""
        code = await asyncio.shield(self._code)
        await asyncio.shield(self._complaint.closed)
        return code

    def signal(self, number: int) -> None:
        """Send a signal to it and all it started; nothing happens when it is over."""
        if not self._code.done():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def end(self) -> None:
        """End it at once and close its pipes; it needs no waiting for."""
        self.signal(signal.SIGKILL)
        for transport in self._transports:
            transport.close()

    def end_soon(self) -> None:
        """Let it notice that nobody feeds it any more and clear up; when it does not, end it."""
        if not self._code.done():
            self._loop.call_later(MERCY, self.signal, signal.SIGTERM)
            self._loop.call_later(2 * MERCY, self.signal, signal.SIGKILL)

    def failure(self, code: int) -> GitFailed:
        """Say how it failed."""
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return GitFailed(self.command, how, self.stderr, code)

    def _wait(self) -> None:
        # Not yet collected, it keeps its number: no signal of ours can meet a stranger that was given it next.
        os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        try:
            self._loop.call_soon_threadsafe(self._collect)
        except RuntimeError:  # the loop is closed: the service has stopped
            reap(self.pid)

    def _collect(self) -> None:
        self._code.set_result(reap(self.pid))


def reap(pid: int) -> int:
    """End what a finished command left running and return its exit code."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def make_pipe(stack: ExitStack) -> tuple[int, int]:
    """Make a pipe whose ends are closed with the stack; their numbers are above those a command is given."""
    ends = os.pipe()
    try:
        # A number that is both where a descriptor comes from and where another one goes would lose one of them.
        reads, writes = (fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 16) for end in ends)
    finally:
        for end in ends:
            os.close(end)
    stack.callback(os.close, reads)
    stack.callback(os.close, writes)
    return reads, writes


def duplicate_descriptor(descriptor: int, mode: Literal["rb", "wb"]) -> FileIO:
    """Copy a pipe's end for a transport, which closes it.

    The transports of uvloop close the descriptor and then the file as well. By then another thread may have been
    given its number, and would find its file or socket closed; so the file must not close it there.
    """
    closes_itself = type(asyncio.get_running_loop()).__module__.startswith("uvloop")
    return FileIO(os.dup(descriptor), mode, closefd=not closes_itself)


async def open_reader(descriptor: int) -> tuple[asyncio.StreamReader, asyncio.ReadTransport]:
    """Read from a copy of a pipe's end."""
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
    """Start a git command that reads from a descriptor, or is fed; it finds `descriptors` at 3 and up.

    Starting by `posix_spawn` is quick in a large service, safe among threads, and passes on nothing else.
    """
    loop = asyncio.get_running_loop()
    count_git_command(arguments[0])
    given = {**environment(variables, configuration), "GIT_DIR": str(folder)}
    executable = find_git()
    transports: list[asyncio.BaseTransport] = []
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
            pid = os.posix_spawn(  # noqa: ASYNC221  # it starts the command and does not wait for it
                executable,
                ["git", *arguments],
                given,
                file_actions=spawn_actions(targets),
                setpgroup=0,
                setsigmask=[],
                setsigdef=[signal.SIGPIPE, signal.SIGINT, signal.SIGTERM],
            )
        except BaseException:
            for transport in transports:
                transport.close()
            raise
    for what, most in (limits or {}).items():
        # It may be over already, whatever it was.
        with suppress(ProcessLookupError):
            resource.prlimit(pid, what, (most, most))
    return GitProcess(arguments[0], pid, stdin=writer, stdout=reader, complaint=complaint, transports=transports)


def spawn_actions(targets: Sequence[int]) -> list[tuple[int, int, int] | tuple[int, int]]:
    """Say what becomes of the descriptors: those given take their places, and all others stay behind."""
    given = [(os.POSIX_SPAWN_DUP2, source, target) for target, source in enumerate(targets)]
    stay = []
    for name in os.listdir("/dev/fd"):  # noqa: PTH208  # only numbers
        # A server's sockets are inheritable, for its workers; one that was closed meanwhile does no harm.
        with suppress(OSError):
            if int(name) >= len(targets) and os.get_inheritable(int(name)):
                stay.append((os.POSIX_SPAWN_CLOSE, int(name)))
    return [*given, *stay]


def grow_pipe(descriptor: int) -> None:
    """Let a pipe hold more, where the system can: fewer turns between the two ends."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with suppress(OSError):  # there is a limit per user, and a small pipe works as well
            fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, CHUNK)


async def stream(
    folder: Path,
    *arguments: str,
    stdin: int | None = None,
    patience: float = PATIENCE,
    variables: Mapping[str, str] | None = None,
    configuration: Iterable[tuple[str, str]] = (),
) -> AsyncGenerator[bytes, None]:
    """Run a git command and yield what it prints as it prints it; end it when nobody wants to hear more.

    It is also ended when for `patience` seconds it prints nothing, or nobody takes what it has printed.
    """
    process = await start(folder, *arguments, stdin=stdin, variables=variables, configuration=configuration)
    dog = Watchdog(patience, process.end)
    try:
        while chunk := await process.stdout.read(CHUNK):
            dog.touch()
            yield chunk
            dog.touch()
        code = await process.wait()
    finally:
        dog.cancel()
        process.end()
    if dog.barked:
        raise GitTimedOut(process.command, f"stood still for {patience:g} seconds", process.stderr, code)
    if code:
        raise process.failure(code)
