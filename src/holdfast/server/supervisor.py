"""Several processes that answer requests on one socket, one that sends webhooks, and one that looks after them.

The parent opens the socket, forks the workers and then only waits: for signals, for workers that say they can
answer, and for workers that end. It forks rather than starts anew, because settings hold secrets, and a secret
cannot be sent to another process. It holds no connection and no thread, so that nothing is shared by accident.
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
from holdfast.server.worker import LAST_SECONDS

__all__ = ["ENDING", "Role", "Supervisor", "Target", "how_many"]

ENDING: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT)
MINDED: Final = (*ENDING, signal.SIGHUP, signal.SIGCHLD)
# A worker that ends sooner than this after its start has something wrong with it.
SOON_SECONDS: Final = 10.0
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 30.0
FAILURES: Final = 3

log = structlog.get_logger(__name__)

# What a worker does; it is given what to call when it can answer, and a pipe that closes with its parent.
Target = Callable[[Callable[[], None], int], None]


def how_many(wanted: int) -> int:
    """Return how many workers to run; 0 means one for each processor this process may use."""
    if wanted:
        return wanted
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@dataclass(slots=True, eq=False)
class Role:
    """Something a number of workers do, and how it goes with them."""

    count: int
    target: Target
    is_vital: bool = True
    """Whether the service is of no use without them."""
    failures: int = 0
    pause: float = 0.0
    not_before: float = 0.0


@dataclass(slots=True)
class Child:
    """A worker as its parent sees it."""

    pid: int
    pipe: int
    role: Role
    started: float = field(default_factory=time.monotonic)
    ready: bool = False
    leaving: bool = False


class Supervisor:
    """Keeps workers of some roles running until it is told to end; then `on_end` lets go of what they share."""

    def __init__(self, roles: Sequence[Role], on_end: Callable[[], None] = lambda: None) -> None:
        self._roles = roles
        self._on_end = on_end
        self._children: dict[int, Child] = {}
        self._to_replace: list[int] = []
        self._replacement: int | None = None
        self._signals: list[int] = []
        self._parent_gone, self._parent_lives = os.pipe()
        self._selector = selectors.DefaultSelector()

    def run(self) -> int:
        """Run the workers; return the signal that ended them."""
        with self._minding_signals():
            try:
                return self._look_after()
            finally:
                self._kill()
                self._selector.close()
                os.close(self._parent_gone)
                os.close(self._parent_lives)

    def _look_after(self) -> int:
        while True:
            self._fill()
            starts = [role.not_before for role in self._roles if self._missing(role)]
            self._wait(max(min(starts) - time.monotonic(), 0.0) if starts else None)
            for number in self._take_signals():
                if number in ENDING:
                    self._end()
                    return number
                if number == signal.SIGHUP:
                    self._to_replace = [child.pid for child in self._children.values() if not child.leaving]
            self._replace()

    def _missing(self, role: Role) -> int:
        staying = sum(not child.leaving for child in self._children.values() if child.role is role)
        replacement = None if self._replacement is None else self._children.get(self._replacement)
        return role.count + (replacement is not None and replacement.role is role) - staying

    def _fill(self) -> None:
        """Start the workers that are missing, unless the last ones ended too soon."""
        for role in self._roles:
            while self._missing(role) > 0 and time.monotonic() >= role.not_before:
                self._fork(role)

    def _fork(self, role: Role) -> int:
        ours, theirs = os.pipe()
        # What is still buffered would be written once by each process.
        sys.stdout.flush()
        sys.stderr.flush()
        # A word to end that comes before the child can mind it must not be lost.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        pid = os.fork()
        if pid == 0:
            os.close(ours)
            self._be_child(role, theirs)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        os.close(theirs)
        self._children[pid] = Child(pid, ours, role)
        self._selector.register(ours, selectors.EVENT_READ, pid)
        return pid

    def _be_child(self, role: Role, pipe: int) -> None:
        """Do a worker's work in the process that was just forked, and end it."""
        code = 1
        try:
            # The parent says when to end; what a terminal sends to all processes is the parent's to mind.
            signal.set_wakeup_fd(-1)
            for number in MINDED:
                signal.signal(number, signal.SIG_DFL if number == signal.SIGCHLD else signal.SIG_IGN)
            # Until the server minds it, the first word to end is obeyed at once.
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
            self._selector.close()
            os.close(self._parent_lives)
            for child in self._children.values():
                os.close(child.pipe)
            role.target(lambda: announce(pipe), self._parent_gone)
            code = 0
        except HoldfastError as error:
            log.error("a worker cannot start", reason=str(error))  # noqa: TRY400  # its text says it all
        except BaseException:
            log.exception("a worker failed")
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
                sys.stderr.flush()
            # Nothing of the parent's may run on its way out of this process.
            os._exit(code)

    def _wait(self, seconds: float | None) -> None:
        """Wait for a signal, or for a worker to say something or end."""
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                with suppress(BlockingIOError):
                    os.read(key.fd, 4096)
            elif os.read(key.fd, 1):
                self._now_ready(self._children[key.data])
            else:
                self._now_gone(self._children[key.data])

    def _now_ready(self, child: Child) -> None:
        child.ready = True
        child.role.failures = 0

    def _now_gone(self, child: Child) -> None:
        """Bury a worker, and decide when the next one starts."""
        self._selector.unregister(child.pipe)
        os.close(child.pipe)
        _, status = os.waitpid(child.pid, 0)
        del self._children[child.pid]
        if child.leaving:
            return
        code = os.waitstatus_to_exitcode(status)
        log.warning("a worker ended by itself", worker=child.pid, status=code)
        if child.pid == self._replacement:
            self._replacement = None
            self._to_replace.clear()
        if child.pid in self._to_replace:
            self._to_replace.remove(child.pid)
            if self._replacement is not None and self._children[self._replacement].role is child.role:
                # The one that was to replace another replaces this one.
                self._replacement = None
        role, lived = child.role, time.monotonic() - child.started
        role.pause = min(max(role.pause * 2, FIRST_PAUSE), LONGEST_PAUSE) if lived < SOON_SECONDS else 0.0
        role.not_before = time.monotonic() + (role.pause if role.pause > FIRST_PAUSE else 0.0)
        if not child.ready:
            role.failures += 1
            alike = (other for other in self._children.values() if other.role is role)
            if role.is_vital and role.failures >= FAILURES and not any(other.ready for other in alike):
                raise HoldfastError("no worker can start; the log says why")

    def _replace(self) -> None:
        """Go on with replacing workers one after the other: each leaves when the next one can answer."""
        if self._replacement is None and self._to_replace:
            self._replacement = self._fork(self._children[self._to_replace[0]].role)
        elif self._replacement is not None and self._children[self._replacement].ready:
            self._replacement = None
            old = self._to_replace.pop(0) if self._to_replace else None
            if old in self._children:
                self._tell(self._children[old], signal.SIGTERM)
            self._replace()

    def _tell(self, child: Child, number: signal.Signals) -> None:
        child.leaving = True
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)

    def _end(self) -> None:
        """Let every worker answer what it has begun; a second signal, or too much time, ends them at once."""
        self._on_end()
        for child in self._children.values():
            self._tell(child, signal.SIGTERM)
        deadline = time.monotonic() + LAST_SECONDS + 1
        while self._children and time.monotonic() < deadline:
            self._wait(max(deadline - time.monotonic(), 0.0))
            if any(number in ENDING for number in self._take_signals()):
                return

    def _kill(self) -> None:
        """End what still runs."""
        for child in self._children.values():
            self._tell(child, signal.SIGKILL)
        for child in self._children.values():
            os.waitpid(child.pid, 0)
            os.close(child.pipe)
        self._children.clear()

    def _take_signals(self) -> list[int]:
        taken, self._signals = self._signals, []
        return taken

    @contextmanager
    def _minding_signals(self) -> Iterator[None]:
        """Note each signal, and let it end the waiting."""
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)

        def note(number: int, _frame: FrameType | None) -> None:
            self._signals.append(number)

        before = {number: signal.signal(number, note) for number in MINDED}
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


def announce(pipe: int) -> None:
    """Tell the parent that a worker can answer."""
    os.write(pipe, b"+")
