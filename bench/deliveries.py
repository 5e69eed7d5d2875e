"""How fast webhooks are sent, and what that takes from the API: 1,000 events to 50 hooks, on this machine.

One processor belongs to the API; the sender, the receiver and the client that asks the API share the others.
"""

import asyncio
import multiprocessing
import os
import signal
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

import uvloop

from bench.harness import Figure
from bench.load import rate
from bench.service import Whole, serve
from holdfast import logs
from holdfast.hosting.app import App
from holdfast.hosting.data_folder import prepare
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, issues, outbox, tokens
from holdfast.hosting.store.hooks import HookOwner, add_hook
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.webhooks.delivery_thread import deliver
from holdfast.secret import Secret
from holdfast.server.delivery_process import NICENESS
from holdfast.settings import Settings

__all__ = ["figures"]

EVENTS = 1000
HOOKS = 50
ROUNDS = 8
LONGEST = 200.0
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Counter(asyncio.Protocol):
    """A receiver that counts whole requests and says yes."""

    received = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Note how to answer."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._buffer = b""

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[:end].lower()
            start = head.index(b"content-length:") + len(b"content-length:")
            whole = end + 4 + int(head[start:].split(b"\r\n", 1)[0])
            if len(self._buffer) < whole:
                return
            self._buffer = self._buffer[whole:]
            Counter.received += 1
            self._transport.write(ANSWER)


def receive(listening: "multiprocessing.Queue[int]", processors: set[int]) -> None:
    """Be the receiver, until the process is ended; it stands for other machines, so it yields to everything."""
    os.sched_setaffinity(0, processors)
    os.nice(NICENESS)

    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(Counter, "127.0.0.1", 0)
        listening.put(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    uvloop.run(run())


def send(settings: Settings, processors: set[int]) -> None:
    """Be the process that sends, as the service starts it, until it is ended."""
    os.sched_setaffinity(0, processors)
    os.nice(NICENESS)
    logs.configure(level="warning")
    deliver(App.open(settings), lambda _deliverer: None)


def fill(settings: Settings, port: int) -> str:
    """Make the hooks, and let things happen; return a token for the API."""
    host = App.open(settings)
    admin = accounts.find_user(host.database, "admin")
    made = repositories.create(host, admin, admin, NewRepository(name="busy"))
    for number in range(HOOKS):
        add_hook(
            host.database,
            HookOwner("repository", made.id),
            {
                "type": "gitea",
                "url": f"http://127.0.0.1:{port}/{number}",
                "content_type": "json",
                "secret": host.cipher.encrypt("a-secret"),
                "events": "issues",
                "is_active": True,
            },
        )
    for number in range(EVENTS):
        issues.open_issue(host.database, made, admin, NewIssue(title=f"Something happened, {number}"))
    _, token = tokens.create_token(host.database, admin, "bench", ("all",))
    host.close()
    return token.reveal()


@contextmanager
def running(target: Callable[..., object], *arguments: object) -> Iterator[int]:
    """Run something in a process of its own meanwhile, and give its number."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments, daemon=True)
    process.start()
    try:
        yield process.pid or 0
    finally:
        process.terminate()
        process.join()


def figures() -> list[Figure]:
    """Measure how fast is sent, and the API meanwhile and alone, in turns."""
    before = os.sched_getaffinity(0)
    others = before - {0} or before
    os.sched_setaffinity(0, others)
    try:
        return measured(others)
    finally:
        os.sched_setaffinity(0, before)


def measured(others: set[int]) -> list[Figure]:
    """Let the sender stop and go on in turns, so that both halves of a pair see the same machine."""
    whole = EVENTS * HOOKS
    listening = multiprocessing.get_context("spawn").Queue()
    with tempfile.TemporaryDirectory() as folder, running(receive, listening, others):
        port = listening.get(timeout=60)
        settings = Settings(data=Path(folder), webhook_allowed_hosts="loopback")
        host = App.open(settings)
        with_admin = Settings(data=Path(folder), admin_password=Secret("a-password-for-a-benchmark"))
        prepare(host.database, with_admin)
        asked = {"Authorization": f"token {fill(settings, port)}"}

        def left() -> int:
            return outbox.queue_size(host.database).length

        with running(serve, Whole(settings), listening, f"{folder}/log", {0}):
            api = listening.get(timeout=60)
            rate(api, "/api/v1/user", asked)
            with running(send, settings, others) as sender:
                while left() == whole:
                    time.sleep(0.01)
                rows: list[tuple[float, float, float]] = []
                while left() > 0 and len(rows) < ROUNDS:
                    before, began = left(), time.perf_counter()
                    busy = rate(api, "/api/v1/user", asked)
                    sent = (before - left()) / (time.perf_counter() - began)
                    os.kill(sender, signal.SIGSTOP)
                    rows.append((sent, busy, rate(api, "/api/v1/user", asked)))
                    os.kill(sender, signal.SIGCONT)
                deadline = time.monotonic() + LONGEST
                while left() > 0 and time.monotonic() < deadline:
                    time.sleep(0.05)
                lost = left()
        host.close()
    # In the last round there may have been less to send than it had time for.
    sent_each, busy_each, alone_each = zip(*(rows[:-1] if len(rows) < ROUNDS else rows), strict=True)
    kept = statistics.median(busy / alone for _, busy, alone in rows)
    return [
        Figure(f"{EVENTS:,} events to {HOOKS} hooks", statistics.median(sent_each), "deliv./s", least=800),
        Figure("GET /user with a token, nothing sent meanwhile", statistics.median(alone_each), "req/s"),
        Figure("GET /user with a token, while all that is sent", statistics.median(busy_each), "req/s"),
        Figure("the API while sending, against alone", kept * 100, "%", least=80),
        Figure("deliveries that did not arrive", lost, "deliveries", most=0.5),
    ]
