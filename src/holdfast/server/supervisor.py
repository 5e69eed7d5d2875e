"""The supervisor of a pre-fork server: it starts, replaces, restarts and stops worker processes.

The parent opens the socket, forks the workers and then only waits: for signals, for workers that report that they
are ready, and for workers that exit. It forks rather than spawns, because settings contain secrets, and a secret
cannot be pickled. It has no connections and no threads, so that none are shared by accident. Why this is neither
granian's supervisor nor uvicorn's: `docs/decisions/0026-server.md`.
"""

import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

import structlog

from holdfast.errors import HoldfastError

__all__ = ["GRACE_SECONDS", "HARD_STOP_SECONDS", "STOP_SIGNALS", "Role", "Supervisor", "Target", "worker_count"]

# How long requests in flight may take when the service is stopped.
GRACE_SECONDS: Final = 30
# After this time a worker exits, even if a thread still runs.
HARD_STOP_SECONDS: Final = GRACE_SECONDS + 5
STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
HANDLED_SIGNALS: Final = (*STOP_SIGNALS, signal.SIGHUP, signal.SIGCHLD)
# A worker that exits sooner than this after its start is restarted with exponential backoff.
MIN_UPTIME_SECONDS: Final = 10.0
FIRST_BACKOFF: Final = 0.5
MAX_BACKOFF: Final = 30.0
MAX_FAILED_STARTS: Final = 3

log = structlog.get_logger(__name__)

# The function a worker runs; called with a function to call when it is ready, and a pipe that closes when its
# parent exits.
Target = Callable[[Callable[[], None], int], None]


def worker_count(configured: int) -> int:
    """Return how many workers to run; 0 means one for each processor this process may use."""
    if configured:
        return configured
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@dataclass(slots=True, eq=False)
class Role:
    """A kind of worker: their number, their function, and how often they failed to start."""

    count: int
    target: Target
    is_required: bool = True
    """Whether the service stops if none of them can start."""
    failures: int = 0
    backoff: float = 0.0
    not_before: float = 0.0


@dataclass(slots=True)
class ChildProcess:
    """A worker process, from the view of its parent."""

    pid: int
    pipe: int
    role: Role
    started: float = field(default_factory=time.monotonic)
    ready: bool = False
    stopping: bool = False


class Supervisor:
    """Keeps the workers of some roles running until a stop signal; then `on_end` closes shared resources."""

    def __init__(self, roles: Sequence[Role], on_end: Callable[[], None] = lambda: None) -> None:
        self._roles = roles
        self._on_end = on_end
        self._children: dict[int, ChildProcess] = {}
        self._to_replace: list[int] = []
        self._replacement: int | None = None
        self._signals: list[int] = []
        self._parent_gone, self._parent_lives = os.pipe()
        self._selector = selectors.DefaultSelector()

    def run(self) -> int:
        """Run the workers; return the signal that stopped them."""
        with self._handling_signals():
            try:
                return self._supervise()
            finally:
                self._kill()
                self._selector.close()
                os.close(self._parent_gone)
                os.close(self._parent_lives)

    def _supervise(self) -> int:
        while True:
            self._start_missing()
            starts = [role.not_before for role in self._roles if self._missing(role)]
            self._wait(max(min(starts) - time.monotonic(), 0.0) if starts else None)
            for number in self._take_signals():
                if number in STOP_SIGNALS:
                    self._stop()
                    return number
                if number == signal.SIGHUP:
                    self._to_replace = [child.pid for child in self._children.values() if not child.stopping]
            self._continue_restart()

    def _missing(self, role: Role) -> int:
        staying = sum(not child.stopping for child in self._children.values() if child.role is role)
        replacement = None if self._replacement is None else self._children.get(self._replacement)
        return role.count + (replacement is not None and replacement.role is role) - staying

    def _start_missing(self) -> None:
        """Start the workers that are missing, unless their backoff has not passed."""
        for role in self._roles:
            while self._missing(role) > 0 and time.monotonic() >= role.not_before:
                self._fork(role)

    def _fork(self, role: Role) -> int:
        ours, theirs = os.pipe()
        # Buffered output would be written by each process.
        sys.stdout.flush()
        sys.stderr.flush()
        # A SIGTERM before the child installs its handler must not be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            self._run_child(role, theirs)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.close(theirs)
        self._children[pid] = ChildProcess(pid, ours, role)
        self._selector.register(ours, selectors.EVENT_READ, pid)
        return pid

    def _run_child(self, role: Role, pipe: int) -> None:
        """Run a worker in the process that was just forked, and exit."""
        code = 1
        try:
            # The parent stops its workers; signals a terminal sends to the process group are handled there.
            signal.set_wakeup_fd(-1)
            for number in HANDLED_SIGNALS:
                signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else signal.SIG_IGN)
            # Until the server handles it, SIGTERM ends the process at once.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            self._selector.close()
            os.close(self._parent_lives)
            for child in self._children.values():
                os.close(child.pipe)
            role.target(lambda: notify_ready(pipe), self._parent_gone)
            code = 0
        except HoldfastError as error:
            log.error("worker start failed", reason=str(error))  # noqa: TRY400  # the message suffices
        except BaseException:
            log.exception("worker crashed")
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            # Exit without running the parent's cleanup in this process.
            os._exit(code)

    def _wait(self, seconds: float | None) -> None:
        """Wait for a signal, or for a worker to be ready or to exit."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                with suppress(BlockingIOError):
                    os.read(key.fd, 4096)
            elif os.read(key.fd, 1):
                self._on_ready(self._children[key.data])
            else:
                self._on_exit(self._children[key.data])

    def _on_ready(self, child: ChildProcess) -> None:
        child.ready = True
        child.role.failures = 0

    def _on_exit(self, child: ChildProcess) -> None:
        """Reap a worker, and decide when the next one starts."""
        self._selector.unregister(child.pipe)
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        del self._children[child.pid]
        if child.stopping:
            return
        code = os.waitstatus_to_exitcode(status)
        log.warning("worker exited unexpectedly", worker=child.pid, status=code)
        if child.pid == self._replacement:
            self._replacement = None
            self._to_replace.clear()
        if child.pid in self._to_replace:
            self._to_replace.remove(child.pid)
            if self._replacement is not None and self._children[self._replacement].role is child.role:
                # The pending replacement of another worker now replaces this one.
                self._replacement = None
        role, lived = child.role, time.monotonic() - child.started
        role.backoff = (
            min(max(role.backoff * 2, FIRST_BACKOFF), MAX_BACKOFF) if lived < MIN_UPTIME_SECONDS else 0.0
        )
        role.not_before = time.monotonic() + (role.backoff if role.backoff > FIRST_BACKOFF else 0.0)
        if not child.ready:
            role.failures += 1
            alike = (other for other in self._children.values() if other.role is role)
            if role.is_required and role.failures >= MAX_FAILED_STARTS and not any(other.ready for other in alike):
                raise HoldfastError("no worker can start; the log says why")

    def _continue_restart(self) -> None:
        """Continue a rolling restart: each worker is stopped when its replacement is ready."""
        if self._replacement is None and self._to_replace:
            self._replacement = self._fork(self._children[self._to_replace[0]].role)
        elif self._replacement is not None and self._children[self._replacement].ready:
            self._replacement = None
            old = self._to_replace.pop(0) if self._to_replace else None
            if old in self._children:
                self._signal(self._children[old], signal.SIGTERM)
            self._continue_restart()

    def _signal(self, child: ChildProcess, number: signal.Signals) -> None:
        child.stopping = True
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)

    def _stop(self) -> None:
        """Stop gracefully: workers finish the requests in flight; a second signal, or a timeout, kills them."""
        self._on_end()
        for child in self._children.values():
            self._signal(child, signal.SIGTERM)
        deadline = time.monotonic() + HARD_STOP_SECONDS + 1
        while self._children and time.monotonic() < deadline:
            self._wait(max(deadline - time.monotonic(), 0.0))
            if any(number in STOP_SIGNALS for number in self._take_signals()):
                return

    def _kill(self) -> None:
        """Kill the workers that still run."""
        for child in self._children.values():
            self._signal(child, signal.SIGKILL)
        for child in self._children.values():
            os.waitpid(child.pid, 0)
            os.close(child.pipe)
        self._children.clear()

    def _take_signals(self) -> list[int]:
        taken, self._signals = self._signals, []
        return taken

    @contextmanager
    def _handling_signals(self) -> Iterator[None]:
        """Collect signals, each of which wakes the selector (`signal.set_wakeup_fd`)."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)

        def note(number: int, _frame: FrameType | None) -> None:
            self._signals.append(number)

        before = {number: signal.signal(number, note) for number in HANDLED_SIGNALS}
        waking = signal.set_wakeup_fd(theirs.fileno())
        self._selector.register(ours, selectors.EVENT_READ, None)
        try:
            yield
        finally:
            signal.set_wakeup_fd(waking)
            for number, handler in before.items():
                signal.signal(number, handler)
            ours.close()
            theirs.close()


def notify_ready(pipe: int) -> None:
    """Notify the parent that a worker is ready."""
    os.write(pipe, b"+")
