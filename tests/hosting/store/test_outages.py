"""Restarts, outages and connection limits of a PostgreSQL server."""

import io
import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import psycopg
import pytest
from sqlalchemy import select, text

from holdfast import logs
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.errors import DatabaseUnavailable
from holdfast.hosting.store import accounts, tokens
from holdfast.hosting.store import database as databases
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.faults import translate
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import users
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD, Service, run_service, wait_for
from tests.hosting.store.postgres import Server, own_server

pytestmark = pytest.mark.postgres

NAMES = Statement(select(users.c.name).order_by(users.c.id))
CONNECTIONS = 20
WRITERS = 120


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Run a server for the tests of this module."""
    with own_server(tmp_path_factory.mktemp("runtime"), connections=CONNECTIONS) as started:
        yield started


@dataclass
class Installation:
    """A database on the server, with its data folder and an administrator's token."""

    settings: Settings
    token: str

    @contextmanager
    def service(self, *, delivers: bool = False) -> Iterator[Service]:
        """Run a service on it, as one process of several."""
        with open_database(self.settings) as database:
            yield from run_service(self.settings, database, delivers=delivers)

    def client(self, url: str) -> httpx.Client:
        """Open a client of the administrator's."""
        return httpx.Client(
            base_url=f"{url}/api/v1", headers={"Authorization": f"token {self.token}"}, timeout=60, trust_env=False
        )


@pytest.fixture
def installation(server: Server, tmp_path: Path) -> Iterator[Installation]:
    """Prepare a database."""
    name = f"outage_{threading.get_ident()}_{tmp_path.name[-1]}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    head, _, tail = server.url.partition("?")
    settings = Settings(
        data=tmp_path / "data",
        database_url=Secret(f"{head.rpartition('/')[0]}/{name}?{tail}"),
        database_connections=4,
        admin_password=Secret(ADMIN_PASSWORD),
        webhook_allowed_hosts="loopback",
    )
    with open_database(settings) as database:
        prepare(database, settings)
        _, value = tokens.create_token(database, accounts.find_user(database, "admin"), "t", ("all",))
    yield Installation(settings, value.reveal())
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture
def database(installation: Installation) -> Iterator[Database]:
    """Open it."""
    with open_database(installation.settings) as opened:
        yield opened


def use(database: Database) -> None:
    """Run a query, a lock, a write and a snapshot."""
    assert database.rows(NAMES) == [("admin",)]
    with database.advisory_lock(1), database.read() as connection:
        assert connection.execute(select(users.c.name)).scalar_one() == "admin"
    with database.quick_write() as link:
        NAMES.run(link)
    with database.snapshot() as connection:
        connection.execute(text("SELECT 1"))


def test_a_restart_is_not_noticed(server: Server, database: Database) -> None:
    """The first query after a restart of the server works on every kind of connection."""
    use(database)
    server.restart()
    assert database.rows(NAMES) == [("admin",)]
    server.restart()
    with database.advisory_lock(7):
        pass
    server.restart()
    with database.read() as connection:
        connection.execute(text("SELECT 1"))
    server.restart()
    with database.quick_write() as link:
        NAMES.run(link)
    use(database)


def test_a_server_that_is_down_is_unavailable(server: Server, database: Database) -> None:
    """Queries, transactions and locks raise DatabaseUnavailable during an outage, and work again afterwards."""
    use(database)
    server.stop()
    try:
        for attempt in (
            lambda: database.rows(NAMES),
            lambda: database.advisory_lock(1).__enter__(),
            lambda: database.read().__enter__(),
            lambda: database.quick_write().__enter__(),
        ):
            with pytest.raises(DatabaseUnavailable):
                attempt()
    finally:
        server.start()
    use(database)


def test_a_lock_of_a_lost_connection_is_released(server: Server, database: Database) -> None:
    """The code under a lock continues when its connection is lost, and the lock can be taken again."""
    done = False
    with database.advisory_lock(5):
        assert server.kill_connections()
        done = True
    assert done
    with database.advisory_lock(5):
        use(database)


def test_waiting_for_a_lock_times_out(
    installation: Installation, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for a lock that another process holds too long ends with DatabaseUnavailable."""
    monkeypatch.setattr(databases, "LOCK_TIMEOUT_MS", 50)
    with (
        open_database(installation.settings) as other,
        database.advisory_lock(3),
        pytest.raises(Exception, match="lock timeout") as excinfo,
        other.advisory_lock(3),
    ):
        pass
    assert isinstance(translate(excinfo.value), DatabaseUnavailable)


def test_connections_have_a_budget(installation: Installation, database: Database) -> None:
    """Queries and locks share a limit, waiting too long raises an error, and locks take half of it at most."""
    url = installation.settings.database_url
    assert url is not None
    small = Database.at(url, connections=4, wait=0.05)
    with ExitStack() as stack:
        stack.callback(small.close)
        stack.enter_context(small.advisory_lock(1))
        stack.enter_context(small.advisory_lock(2))
        with pytest.raises(DatabaseUnavailable):
            stack.enter_context(small.advisory_lock(3))
        stack.enter_context(small.read())
        stack.enter_context(small.read())
        with pytest.raises(DatabaseUnavailable):
            stack.enter_context(small.read())
        with database.read() as connection:
            statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            assert connection.execute(text(statement)).scalar_one() == 5


def test_many_writers_and_few_connections(server: Server, installation: Installation) -> None:
    """Four services with four connections each answer all writers with 201 or 503, and no internal error."""
    stream = io.StringIO()
    with ExitStack() as stack:
        urls = [stack.enter_context(installation.service()).url for _ in range(4)]
        logs.configure(level="warning", stream=stream)
        with installation.client(urls[0]) as client:
            for number in range(6):
                body = {"name": f"r{number}", "auto_init": True}
                assert client.post("/user/repos", json=body).status_code == 201

        def write(number: int) -> int:
            with installation.client(urls[number % 4]) as client:
                path = f"/repos/admin/r{number % 6}"
                if number % 2:
                    return client.post(f"{path}/issues", json={"title": f"{number}"}).status_code
                body = {"content": "", "message": "m"}
                return client.post(f"{path}/contents/f{number}", json=body).status_code

        with ThreadPoolExecutor(WRITERS) as pool:
            counted = Counter(pool.map(write, range(WRITERS)))
        assert counted.keys() <= {201, 503}, counted
        assert counted[201] > WRITERS // 2, counted
        with psycopg.connect(server.url) as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname LIKE 'outage%'"
            ).fetchone()
        assert row is not None
        # Four services, and each with a database of the test's.
        assert row[0] <= 4 * 4 + 4
    assert " at=" not in stream.getvalue()


class TitleReceiver(BaseHTTPRequestHandler):
    """A webhook receiver that stores the titles of issues."""

    titles: list[str]

    def do_POST(self) -> None:
        """Store the title of the issue."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.titles.append(json.loads(body)["issue"]["title"])
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def receiver() -> Iterator[tuple[str, list[str]]]:
    """Run a receiver of webhooks; return its address and the titles of the issues it receives."""
    titles: list[str] = []
    http = HTTPServer(("127.0.0.1", 0), type("Receiver", (TitleReceiver,), {"titles": titles}))
    thread = threading.Thread(target=http.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}", titles
    http.shutdown()
    thread.join()
    http.server_close()


def test_a_service_goes_on_after_its_server_was_away(
    server: Server, installation: Installation, receiver: tuple[str, list[str]]
) -> None:
    """Requests get 503 during an outage and work again at once afterwards, and webhooks are delivered."""
    url, titles = receiver
    stream = io.StringIO()
    with installation.service(delivers=True) as service, installation.client(service.url) as client:
        logs.configure(level="warning", stream=stream)
        assert client.post("/user/repos", json={"name": "r", "auto_init": True}).status_code == 201
        hook = {
            "type": "gitea",
            "active": True,
            "events": ["issues"],
            "config": {"url": url, "content_type": "json"},
        }
        assert client.post("/repos/admin/r/hooks", json=hook).status_code == 201
        assert client.post("/repos/admin/r/issues", json={"title": "before"}).status_code == 201
        wait_for(lambda: titles == ["before"])
        server.stop()
        try:
            for response in (
                client.get("/repos/admin/r"),
                client.post("/repos/admin/r/issues", json={"title": "lost"}),
                client.post("/repos/admin/r/contents/f", json={"content": "", "message": "m"}),
                httpx.get(f"{service.url}/admin/r", headers={"Accept": "text/html"}),
                httpx.get(f"{service.url}/admin/r.git/info/refs?service=git-upload-pack"),
                httpx.get(f"{service.url}/login"),
            ):
                if response.url.path == "/login":
                    assert response.status_code == 200
                    continue
                assert (response.status_code, response.headers.get("retry-after")) == (503, "5"), response.text
            assert httpx.get(f"{service.url}/readyz").status_code == 503
            wait_for(lambda: "webhook deliveries suspended: database unavailable" in stream.getvalue())
        finally:
            server.start()
        assert client.post("/repos/admin/r/issues", json={"title": "after"}).status_code == 201
        assert client.post("/repos/admin/r/contents/f", json={"content": "", "message": "m"}).status_code == 201
        server.restart()
        assert client.get("/repos/admin/r").status_code == 200
        server.kill_connections()
        assert client.get("/repos/admin/r/issues").status_code == 200
        wait_for(lambda: titles == ["before", "after"], 30)
    assert " at=" not in stream.getvalue()
