"""The process that delivers webhooks, started by `holdfast serve`: restarts, signals and kills."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest
from sqlalchemy import insert, select

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, deliveries, issues, outbox
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hooks import HookOwner, add_hook
from holdfast.hosting.store.issues import NewIssue
from holdfast.hosting.store.tables import deliveries as delivery_rows
from holdfast.hosting.store.tables import events
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, wait_for
from tests.hosting.webhooks.receivers import OK, Receiver, Seen, receiving
from tests.tls import PLAIN

# Processes that start, die and end take their time; `make test-long` runs these.
pytestmark = pytest.mark.long


class Service:
    """A whole service that can be started, killed and restarted."""

    def __init__(self, settings: Settings, log: Path) -> None:
        self._log = log
        self._environment = {**os.environ, "HOLDFAST_WEBHOOK_ALLOWED_HOSTS": "loopback", "HOLDFAST_WORKERS": "1"}
        self._environment["HOLDFAST_LOG_LEVEL"] = "warning"
        if settings.database_url is not None:
            self._environment["HOLDFAST_DATABASE_URL"] = settings.database_url.reveal()
        self._command = [sys.executable, "-m", "holdfast", "serve", "--data", str(settings.data), "--port", "0"]
        self.process: subprocess.Popen[bytes] | None = None
        self.url = ""

    def start(self) -> None:
        """Start the service, and wait until it prints its URL."""
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=self._environment, start_new_session=True
            )
        wait_for(lambda: "log in" in self._log.read_text(), 30)
        hits = re.search(r"http://\S+", self._log.read_text())
        assert hits is not None
        self.url = hits[0]

    def kill(self) -> None:
        """Kill all its processes at once with SIGKILL."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        """Terminate the service, and wait until it has ended."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(40)


@contextmanager
def running(settings: Settings, log: Path) -> Iterator[Service]:
    """Yield a service that is ended with the test."""
    service = Service(settings, log)
    try:
        yield service
    finally:
        service.end()


class RecordingReceiver:
    """A receiver that counts deliveries by id, and records their order by path."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self.order: dict[str, list[str]] = defaultdict(list)
        self._lock = threading.Lock()

    def __call__(self, seen: Seen, end: socket.socket) -> bool:
        """Record a delivery, and answer with success."""
        uuid = seen.headers["x-gitea-delivery"]
        with self._lock:
            if not self.times[uuid]:
                self.order[seen.path].append(uuid)
            self.times[uuid] += 1
        return OK(seen, end)


def prepare(settings: Settings, receiver: Receiver, *, hooks: int, happened: int) -> tuple[App, int]:
    """Make a repository with webhooks and a number of events; return the application and the repository's id."""
    host = App.open(settings)
    admin = accounts.find_user(host.database, "admin")
    made = repositories.create(host, admin, admin, NewRepository(name="busy"))
    numbers = [
        add_hook(
            host.database,
            HookOwner("repository", made.id),
            {
                "type": "gitea",
                "url": receiver.url(f"/{number}"),
                "content_type": "json",
                "secret": host.cipher.encrypt("a-secret"),
                "events": "issues",
                "is_active": True,
            },
        ).id
        for number in range(hooks)
    ]
    issues.open_issue(host.database, made, admin, NewIssue(title="The first of many"))
    now = int(time.time())
    with host.database.write() as connection:
        first = connection.execute(select(events).order_by(events.c.id.desc()).limit(1)).one()
        row = {name: value for name, value in first._mapping.items() if name not in {"id", "payload"}}
        for _ in range(happened - 1):
            event = connection.execute(insert(events).returning(events.c.id), row).scalar_one()
            deliveries.queue_for_hooks(connection, numbers, event, "issues", now=now)
    return host, made.id


def waiting(database: Database) -> int:
    """Return the number of deliveries in the queue."""
    return outbox.queue_size(database).length


def uuids(database: Database) -> dict[int, list[str]]:
    """Return the deliveries of each hook, in their order."""
    result: dict[int, list[str]] = defaultdict(list)
    with database.read() as connection:
        rows = connection.execute(
            select(delivery_rows.c.hook_id, delivery_rows.c.uuid).order_by(delivery_rows.c.id)
        )
        for hook, uuid in rows:
            result[hook].append(uuid)
    return result


def open_issues(url: Callable[[], str], stop: threading.Event, opened: list[int]) -> None:
    """Open issues through the API until stopped, despite failed requests; record those that were created."""
    with httpx.Client(auth=("admin", ADMIN_PASSWORD), timeout=30, verify=PLAIN) as client:
        while not stop.is_set():
            try:
                response = client.post(f"{url()}/api/v1/repos/admin/busy/issues", json={"title": "t"})
            except httpx.HTTPError:
                time.sleep(0.02)  # it was killed a moment ago
                continue
            if response.status_code == 201:
                opened.append(response.json()["number"])


def survive(settings: Settings, tmp_path: Path, *, services: int, hooks: int, happened: int, kills: int) -> None:
    """Kill services at random during deliveries, and check that all events are delivered in order."""
    recorder = RecordingReceiver()
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving(recorder))
        host, _ = prepare(settings, receiver, hooks=hooks, happened=happened)
        stack.callback(host.close)
        started = [stack.enter_context(running(settings, tmp_path / f"log{each}")) for each in range(services)]
        for service in started:
            service.start()
        stop, opened = threading.Event(), list[int]()
        client = threading.Thread(target=open_issues, args=(lambda: started[0].url, stop, opened))
        client.start()
        try:
            for _ in range(kills):
                # Both halves of the service are at work: one delivers what waited, the other takes in more.
                before = sum(recorder.times.values()), len(opened)
                wait_for(lambda before=before: sum(recorder.times.values()) > before[0], 60)  # type: ignore[misc]  # a default binds the loop variable
                wait_for(lambda before=before: len(opened) > before[1], 60)  # type: ignore[misc]  # as above
                time.sleep(random.uniform(0.05, 0.6))  # a moment nobody can foresee
                service = random.choice(started)
                service.kill()
                service.start()
        finally:
            stop.set()
            client.join(60)
        # Counted rarely: the receiver lives in this process too.
        deadline = time.monotonic() + 400
        while waiting(host.database) and time.monotonic() < deadline:
            time.sleep(0.2)
        expected = uuids(host.database)
    assert len(opened) >= kills
    assert all(len(ids) >= happened + len(opened) for ids in expected.values())
    assert {uuid for ids in expected.values() for uuid in ids} == set(recorder.times)
    assert sorted(recorder.order.values()) == sorted(expected.values())


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_a_kill_of_everything_loses_no_delivery(settings: Settings, database: Database, tmp_path: Path) -> None:
    """What was acknowledged or waits when the whole service is killed arrives after its next start."""
    survive(settings, tmp_path, services=1, hooks=3, happened=300, kills=1)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_many_kills_lose_none_of_ten_thousand_events(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    """All events are delivered despite the kills, by one service on SQLite and by two on PostgreSQL."""
    services = 1 if settings.database_url is None else 2
    survive(settings, tmp_path, services=services, hooks=2, happened=10_000, kills=8)


def test_two_services_send_nothing_twice(settings: Settings, database: Database, tmp_path: Path) -> None:
    """Two services make each of 2,000 deliveries once, in order for each webhook."""
    recorder = RecordingReceiver()
    with ExitStack() as stack:
        receiver = stack.enter_context(receiving(recorder))
        host, _ = prepare(settings, receiver, hooks=10, happened=200)
        stack.callback(host.close)
        for each in range(2):
            stack.enter_context(running(settings, tmp_path / f"log{each}")).start()
        wait_for(lambda: waiting(host.database) == 0, 60)
        expected = uuids(host.database)
    assert len(recorder.times) == 2000
    assert set(recorder.times.values()) == {1}
    assert sorted(recorder.order.values()) == sorted(expected.values())


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_the_end_waits_for_a_delivery_that_is_under_way(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    """A delivery in progress is completed and recorded before the service exits with 0."""

    def slowly(seen: Seen, end: socket.socket) -> bool:
        arrived.set()
        time.sleep(1)
        return OK(seen, end)

    arrived = threading.Event()
    with receiving(slowly) as receiver, running(settings, tmp_path / "log") as service:
        host, _ = prepare(settings, receiver, hooks=1, happened=3)
        service.start()
        assert arrived.wait(30)
        service.end()
        assert service.process is not None
        assert service.process.returncode == 0
        assert waiting(host.database) == 2
        host.close()
    assert len(receiver.seen) == 1
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_without_webhooks_there_is_no_delivery_process(
    settings: Settings, database: Database, tmp_path: Path
) -> None:
    """The parent process has a worker as its only child if webhooks are disabled."""
    with running(settings, tmp_path / "log") as service:
        service._environment["HOLDFAST_WEBHOOKS"] = "false"
        service.start()
        assert service.process is not None
        pid = service.process.pid
        wait_for(lambda: httpx.get(f"{service.url}/healthz").status_code == 200)
        assert len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()) == 1
