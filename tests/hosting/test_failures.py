"""Responses while the database or the disk fails, and when a repository is deleted during a request."""

import errno
import hashlib
import io
import os
import random
import resource
import shutil
import socket
import sqlite3
import subprocess
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from holdfast import logs
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.http import application
from holdfast.hosting.storage.local_copies import LocalCopies
from holdfast.hosting.store import database as databases
from holdfast.hosting.store import repositories
from holdfast.hosting.store import repositories as rows
from tests.conftest import wait_for
from tests.hosting.api_clients import PASSWORD, ServiceClients

pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
LFS = {"Accept": "application/vnd.git-lfs+json", "Content-Type": "application/vnd.git-lfs+json"}
LIMIT = 2 * 2**20
LARGE = random.Random(1).randbytes(2 * LIMIT)
FINE = {200, 201, 204, 304, 400, 403, 404, 409, 412, 422, 423, 503, 507}


class Connections:
    """All connections to SQLite databases that are opened, and the pragmas that are set on them."""

    def __init__(self) -> None:
        self.opened: list[sqlite3.Connection] = []
        self.pragmas: list[str] = []
        self.chance = 0.0
        self.dice = random.Random(4)

    def add(self, connection: sqlite3.Connection) -> None:
        """Add a new connection, and set the current pragmas on it."""
        for pragma in self.pragmas:
            connection.execute(f"PRAGMA {pragma}")
        connection.set_progress_handler(lambda: self.dice.random() < self.chance, 20)
        self.opened.append(connection)

    @contextmanager
    def with_pragma(self, pragma: str, then: str) -> Iterator[None]:
        """Set a pragma on all connections, and another one afterwards."""
        self.pragmas.append(pragma)
        self.set_pragma(pragma)
        try:
            yield
        finally:
            self.pragmas.remove(pragma)
            self.set_pragma(then)

    def set_pragma(self, pragma: str) -> None:
        """Set a pragma on all open connections."""
        for connection in self.opened:
            with suppress(sqlite3.ProgrammingError):  # closed meanwhile
                connection.execute(f"PRAGMA {pragma}")


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> Connections:
    """Collect all connections that are opened from now on."""
    created_connections, prepare = Connections(), databases.prepare_sqlite

    def noted(connection: sqlite3.Connection, record: object) -> None:
        prepare(connection, record)
        created_connections.add(connection)

    monkeypatch.setattr(databases, "prepare_sqlite", noted)
    return created_connections


@pytest.fixture
def boats(connections: Connections, clients: ServiceClients) -> httpx.Client:
    """Make a repository with a commit and an issue, and return its owner's client."""
    del connections  # before the service starts
    ada = clients.user("ada")
    assert ada.post("/user/repos", json={"name": "boats", "auto_init": True}).status_code == 201
    assert ada.post("/repos/ada/boats/issues", json={"title": "one"}).status_code == 201
    return ada


@pytest.fixture
def logged(boats: httpx.Client) -> io.StringIO:
    """Return what the service logs from now on."""
    del boats
    stream = io.StringIO()
    logs.configure(level="info", stream=stream)
    return stream


def commit(client: httpx.Client, name: str, content: bytes = b"a line\n") -> httpx.Response:
    """Add a file."""
    body = {"content": b64encode(content).decode(), "message": "m"}
    return client.post(f"/repos/ada/boats/contents/{name}", json=body)


def assert_unavailable(response: httpx.Response, status: int) -> None:
    """Check that an answer has a status and a Retry-After header."""
    assert response.status_code == status, response.text
    assert response.headers["retry-after"].isdigit()
    assert "mistake" not in response.text


def test_a_locked_database_is_unavailable(
    connections: Connections, boats: httpx.Client, clients: ServiceClients, logged: io.StringIO
) -> None:
    """While another process locks the database, writing requests get 503 and reading ones are answered."""
    other = sqlite3.connect(clients.service.settings.data / "holdfast.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with connections.with_pragma("busy_timeout = 0", "busy_timeout = 10000"), clients.service.client() as browser:
        assert_unavailable(boats.post("/repos/ada/boats/issues", json={"title": "two"}), 503)
        assert_unavailable(commit(boats, "a.txt"), 503)
        form = {"name": "ada", "password": PASSWORD}
        assert_unavailable(browser.post("/login", data=form), 503)
        page = browser.post("/login", data=form, headers={"Accept": "text/html"})
        assert_unavailable(page, 503)
        assert "<h1>Not available</h1>" in page.text
        assert boats.get("/repos/ada/boats").status_code == 200
    other.close()
    assert commit(boats, "a.txt").status_code == 201
    assert "request failed" in logged.getvalue()
    assert " at=" not in logged.getvalue()


@pytest.mark.parametrize(
    ("pragma", "then", "status"),
    [
        ("query_only = ON", "query_only = OFF", 503),
        ("max_page_count = 1", "max_page_count = 1073741823", 507),
    ],
)
def test_a_database_that_cannot_be_written(
    connections: Connections, boats: httpx.Client, pragma: str, then: str, status: int
) -> None:
    """Writing gets 503 if the database is read-only and 507 if it is full, and reading still works."""
    issue = {"title": "two", "body": "x" * 60_000}
    with connections.with_pragma(pragma, then):
        assert_unavailable(boats.post("/repos/ada/boats/issues", json=issue), status)
        assert boats.get("/repos/ada/boats/issues/1").status_code == 200
    assert boats.post("/repos/ada/boats/issues", json=issue).status_code == 201


@contextmanager
def small_files() -> Iterator[None]:
    """Limit the size of files, so that writing fails half-way as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_has_a_status_of_its_own(boats: httpx.Client, clients: ServiceClients, tmp_path: Path) -> None:
    """Large commits and uploads get 507 on a full disk, a push fails, and they succeed once there is space."""
    oid = hashlib.sha256(LARGE).hexdigest()
    lfs = clients.open("/ada/boats.git/info/lfs", "ada", **LFS)
    git = tmp_path / "clone"
    url = clients.service.url.replace("://", f"://ada:{PASSWORD}@") + "/ada/boats.git"
    run(tmp_path, "clone", "-q", url, str(git))
    (git / "large.bin").write_bytes(LARGE)
    run(git, "add", "large.bin")
    run(git, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "large")
    with small_files():
        assert_unavailable(commit(boats, "large.txt", LARGE), 507)
        assert_unavailable(boats.put("/repos/ada/boats/raw/other.bin", content=LARGE), 507)
        assert_unavailable(lfs.put(f"/objects/{oid}/{len(LARGE)}", content=LARGE), 507)
        pushed = subprocess.run(["git", "push", "-q"], cwd=git, capture_output=True, text=True, check=False)
        assert pushed.returncode
        assert "500" not in pushed.stderr
        assert commit(boats, "small.txt").status_code == 201
    assert lfs.put(f"/objects/{oid}/{len(LARGE)}", content=LARGE).status_code == 200
    assert commit(boats, "large.txt", LARGE).status_code == 201


def run(folder: Path, *arguments: str) -> None:
    """Run git as a user does."""
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(("number", "status"), [(errno.EROFS, 503), (errno.EACCES, 503), (errno.EDQUOT, 507)])
def test_a_disk_that_refuses_to_be_written(
    boats: httpx.Client, monkeypatch: pytest.MonkeyPatch, number: int, status: int
) -> None:
    """Requests that must write to a failing disk get the status of the error, without any path of the server."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), "/srv/holdfast/secret")

    assert boats.get("/repos/ada/boats/contents").status_code == 200
    monkeypatch.setattr("holdfast.hosting.storage.local_copies.create_repository", fail)
    monkeypatch.setattr("holdfast.hosting.storage.local_copies.LocalCopies.mark", fail)
    monkeypatch.setattr("holdfast.hosting.storage.object_store.fsync_path", fail)
    assert boats.post("/user/repos", json={"name": "more", "auto_init": True}).status_code == 201
    assert commit(boats, "a.txt").status_code == 201
    responses = [
        boats.get("/repos/ada/more/contents"),
        boats.get("/repos/ada/boats/contents"),
        commit(boats, "b.txt", LARGE),
        boats.post("/repos/ada/boats/branches", json={"new_branch_name": "b"}),
    ]
    for response in responses:
        assert_unavailable(response, status)
        assert "/srv" not in response.text


def delete_now(clients: ServiceClients) -> None:
    """Delete the repository, as a concurrent request does."""
    repository = repositories.find_repository(clients.database, "ada", "boats")
    with clients.database.write() as connection:
        rows.remove_row(connection, repository)
    Folders(clients.service.settings.data / "repositories").delete(repository.id)


@pytest.mark.parametrize(
    "request_line",
    [
        ("POST", "/issues", {"title": "two"}),
        ("POST", "/issues/1/comments", {"body": "me too"}),
        ("POST", "/labels", {"name": "bug", "color": "#ff0000"}),
        ("POST", "/milestones", {"title": "1.0"}),
        ("POST", "/contents/a.txt", {"content": "", "message": "m"}),
        ("POST", "/branches", {"new_branch_name": "b"}),
        ("POST", "/tags", {"tag_name": "v1"}),
        ("PATCH", "", {"description": "d"}),
        ("PUT", "/topics", {"topics": ["sea"]}),
        ("GET", "/contents", None),
        ("GET", "/commits", None),
        ("GET", "/git/trees/main", None),
        ("GET", "/archive/main.tar.gz", None),
        ("GET", "/branches", None),
    ],
)
def test_a_repository_that_is_deleted_under_a_request(
    boats: httpx.Client,
    clients: ServiceClients,
    monkeypatch: pytest.MonkeyPatch,
    logged: io.StringIO,
    request_line: tuple[str, str, dict[str, object] | None],
) -> None:
    """A repository deleted between the permission check and the work gives 404 and no logged error."""
    handle = application.EndpointApp._handle

    def late(*arguments: object, **named: object) -> object:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(application.EndpointApp, "_handle", staticmethod(handle))
            delete_now(clients)
        return handle(*arguments, **named)  # type: ignore[arg-type]  # passes on what it was called with

    monkeypatch.setattr(application.EndpointApp, "_handle", staticmethod(late))
    method, path, body = request_line
    response = boats.request(method, f"/repos/ada/boats{path}", json=body)
    assert response.status_code == 404, response.text
    assert " at=" not in logged.getvalue()


@pytest.mark.parametrize("wanted", ["git-upload-pack", "git-receive-pack"])
def test_a_repository_that_is_deleted_under_a_clone_or_push(
    boats: httpx.Client, clients: ServiceClients, monkeypatch: pytest.MonkeyPatch, logged: io.StringIO, wanted: str
) -> None:
    """A repository deleted during a clone or push gives 404 and no logged error."""
    del boats
    path = LocalCopies.path

    def late(copies: LocalCopies, repository: rows.Repository) -> Path:
        found_path = path(copies, repository)
        delete_now(clients)
        return found_path

    monkeypatch.setattr(LocalCopies, "path", late)
    client = clients.open("/ada/boats.git", "ada")
    response = client.get("/info/refs", params={"service": wanted})
    assert response.status_code == 404, response.text
    assert " at=" not in logged.getvalue()


def test_a_missing_data_folder_is_unavailable(boats: httpx.Client, clients: ServiceClients) -> None:
    """A missing data folder gives 503, and not 404 for what is in it."""
    data = clients.service.settings.data
    aside = data.with_name("aside")
    data.rename(aside)
    git = clients.open("/ada/boats.git", "ada")
    try:
        assert_unavailable(boats.get("/repos/ada/boats/contents"), 503)
        assert_unavailable(git.get("/info/refs?service=git-upload-pack"), 503)
        assert_unavailable(commit(boats, "large.txt", LARGE), 503)
        assert not data.exists()
    finally:
        shutil.rmtree(data, ignore_errors=True)
        aside.rename(data)
    assert boats.get("/repos/ada/boats/contents").status_code == 200


def test_a_client_that_disconnects_during_an_upload_logs_no_error(
    boats: httpx.Client, clients: ServiceClients, logged: io.StringIO
) -> None:
    """The request is logged with status 400, and the temporary file is deleted."""
    del boats
    oid = hashlib.sha256(LARGE).hexdigest()
    lfs = clients.open("/ada/boats.git/info/lfs", "ada", **LFS)
    sent = lfs.build_request("PUT", f"/objects/{oid}/{len(LARGE)}", content=LARGE)
    url = urlsplit(clients.service.url)
    credentials = b64encode(f"ada:{PASSWORD}".encode()).decode()
    head = (
        f"PUT {sent.url.raw_path.decode()} HTTP/1.1\r\nHost: {url.netloc}\r\n"
        f"Authorization: Basic {credentials}\r\nContent-Length: {len(LARGE)}\r\n\r\n"
    )
    with socket.create_connection((url.hostname, url.port or 80)) as connection:
        connection.sendall(head.encode() + LARGE[:100_000])
        incoming = clients.service.settings.data / "incoming"
        wait_for(lambda: incoming.is_dir() and any(incoming.iterdir()))
    wait_for(lambda: oid in logged.getvalue())
    assert "status=400" in logged.getvalue()
    assert "[error" not in logged.getvalue()
    assert " at=" not in logged.getvalue()
    wait_for(lambda: not any(incoming.iterdir()))


def test_a_database_that_fails_anywhere_causes_no_internal_error(
    connections: Connections, boats: httpx.Client, logged: io.StringIO
) -> None:
    """Requests whose statements fail at random succeed, are refused or get 503."""
    dice = random.Random(15)
    commit(boats, "kept.txt")
    requests: list[tuple[str, str, dict[str, object] | None]] = [
        ("GET", "/repos/ada/boats", None),
        ("GET", "/repos/ada/boats/issues", None),
        ("GET", "/repos/ada/boats/contents/kept.txt", None),
        ("GET", "/repos/search", None),
        ("GET", "/user", None),
        ("POST", "/repos/ada/boats/issues", {"title": "mackerel"}),
        ("POST", "/repos/ada/boats/issues/1/comments", {"body": "mackerel"}),
        ("PATCH", "/repos/ada/boats/issues/1", {"title": "mackerel"}),
        ("POST", "/repos/ada/boats/labels", {"name": "mackerel", "color": "#00ff00"}),
        ("POST", "/repos/ada/boats/branches", {"new_branch_name": "mackerel"}),
        ("DELETE", "/repos/ada/boats/branches/mackerel", None),
        ("POST", "/repos/ada/boats/contents/mackerel", {"content": "", "message": "mackerel"}),
        ("POST", "/user/repos", {"name": "mackerel"}),
        ("DELETE", "/repos/ada/mackerel", None),
        ("POST", "/repos/ada/boats/hooks", {"type": "gitea", "config": {"url": "http://a.example"}}),
    ]
    seen = set()
    for _ in range(150):
        connections.chance = dice.choice((0.002, 0.01, 0.05, 0.3))
        method, path, body = dice.choice(requests)
        response = boats.request(method, path, json=body)
        connections.chance = 0.0
        assert response.status_code in FINE, (method, path, response.text)
        seen.add(response.status_code)
    assert {201, 503} <= seen
    assert " at=" not in logged.getvalue()
    assert "mackerel" not in "".join(line for line in logged.getvalue().splitlines() if " request " not in line)
    assert commit(boats, "after.txt").status_code == 201
    assert boats.get("/repos/ada/boats/contents/after.txt").status_code == 200
