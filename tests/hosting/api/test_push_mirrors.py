"""The push mirror endpoints."""

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from sqlalchemy import select, update

from holdfast.hosting.app import App
from holdfast.hosting.git.program import run
from holdfast.hosting.services import push_mirrors
from holdfast.hosting.storage import local_copies
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import push_mirrors as table
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.conftest import Service
from tests.hosting.api.migration_helpers import push_sample_history, remote_refs
from tests.hosting.api_clients import PASSWORD, ServiceClients, open_clients
from tests.hosting.git_client import address
from tests.shared_server import SharedServer

MIRRORS = "/repos/ada/ship/push_mirrors"


@pytest.fixture
def allow_local_addresses(settings: Settings) -> Settings:
    """Let the service push to itself."""
    return msgspec.structs.replace(settings, migration_allowed_hosts="loopback")


@pytest.fixture
def clients(
    allow_local_addresses: Settings, database: Database, shared_server: SharedServer
) -> Iterator[ServiceClients]:
    """Run a service that may push to itself."""
    with shared_server.serving(build(allow_local_addresses)) as url:
        yield from open_clients(Service(url, allow_local_addresses, database))


@pytest.fixture
def app(allow_local_addresses: Settings, database: Database) -> Iterator[App]:
    """Open the application as the scheduled task does."""
    del database
    opened = App.open(allow_local_addresses)
    yield opened
    opened.close()


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Give Ada a repository and an empty private one, and return her client."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "default_branch": "trunk"})
    client.post("/user/repos", json={"name": "copy", "private": True, "default_branch": "trunk"})
    return client


def mirrored(client: httpx.Client, clients: ServiceClients, **body: object) -> httpx.Response:
    """Create a push mirror to the empty repository."""
    given = {"remote_address": f"{clients.service.url}/ada/copy.git", "remote_username": "ada"}
    return client.post(MIRRORS, json={**given, "remote_password": PASSWORD, **body})


def test_a_push_mirror_gets_branches_tags_and_deletions(
    ada: httpx.Client, clients: ServiceClients, app: App, tmp_path: Path
) -> None:
    """A mirror is pushed to when it is created, on request, and with `sync_on_commit` after each change."""
    work = push_sample_history(clients, tmp_path)
    response = mirrored(ada, clients, sync_on_commit=True, interval="0")
    assert response.status_code == 200, response.text
    created = response.json()
    assert (created["repo_name"], created["interval"], created["sync_on_commit"]) == ("ship", "0s", True)
    assert (created["remote_address"], created["last_update"]) == (f"{clients.service.url}/ada/copy.git", None)
    assert push_mirrors.push_due(app) == 1
    assert remote_refs(work, clients, "ada/copy") == remote_refs(work, clients, "ada/ship")
    assert push_mirrors.push_due(app) == 0
    work("commit", "--quiet", "--amend", "--allow-empty", "-m", "Another")
    work("push", "--quiet", "--force", "origin", "trunk", ":café", ":refs/tags/light")
    assert push_mirrors.push_due(app) == 1
    assert remote_refs(work, clients, "ada/copy") == remote_refs(work, clients, "ada/ship")
    shown = ada.get(f"{MIRRORS}/{created['remote_name']}").json()
    assert (shown["last_error"], shown["last_update"] is None) == ("", False)
    assert push_mirrors.push_due(app) == 0
    assert ada.post("/repos/ada/ship/push_mirrors-sync").status_code == 200
    assert push_mirrors.push_due(app) == 1


def test_a_damaged_local_copy_deletes_no_branch_of_the_mirror(
    ada: httpx.Client, clients: ServiceClients, app: App, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ref that only the local copy has lost is not deleted in the remote repository."""
    monkeypatch.setattr(local_copies, "REFS_SECONDS", 0.0)
    monkeypatch.setattr(local_copies, "REFS_FACTOR", 0)
    work = push_sample_history(clients, tmp_path)
    mirrored(ada, clients)
    assert push_mirrors.push_due(app) == 1
    before = remote_refs(work, clients, "ada/copy")
    folder = app.folders.path(ada.get("/repos/ada/ship").json()["id"])
    run(folder, "update-ref", "-d", "refs/heads/café")
    assert ada.post("/repos/ada/ship/push_mirrors-sync").status_code == 200
    assert push_mirrors.push_due(app) == 1
    assert remote_refs(work, clients, "ada/copy") == before


def test_a_push_that_fails_is_tried_again_later(
    ada: httpx.Client, clients: ServiceClients, app: App, tmp_path: Path
) -> None:
    """A failed push is retried after its delay, not at the next commit, and the mirror shows the error."""
    work = push_sample_history(clients, tmp_path)
    name = mirrored(ada, clients, remote_password="wrong", sync_on_commit=True).json()["remote_name"]
    assert push_mirrors.push_due(app) == 1
    assert "credentials" in ada.get(f"{MIRRORS}/{name}").json()["last_error"]
    work("push", "--quiet", "origin", "trunk:other")
    assert push_mirrors.push_due(app) == 0
    with clients.database.write() as connection:
        row = connection.execute(select(table)).one()
        assert time.time() + 3600 < row.next_sync_at <= time.time() + 8 * 3600 + 1
        connection.execute(update(table).values(next_sync_at=int(time.time())))
    assert push_mirrors.push_due(app) == 1


def test_push_mirrors_are_listed_and_deleted(ada: httpx.Client, clients: ServiceClients, app: App) -> None:
    """The list is paginated; the password is neither shown nor stored as text."""
    for _ in range(3):
        assert mirrored(ada, clients).json()["interval"] == "8h0m0s"
    listed = ada.get(MIRRORS, params={"limit": 2})
    assert (len(listed.json()), listed.headers["x-total-count"]) == (2, "3")
    assert PASSWORD not in listed.text
    with clients.database.read() as connection:
        assert PASSWORD not in str(connection.execute(select(table)).all())
    name = listed.json()[0]["remote_name"]
    assert ada.delete(f"{MIRRORS}/{name}").status_code == 204
    assert ada.delete(f"{MIRRORS}/{name}").status_code == 404
    assert ada.get(f"{MIRRORS}/{name}").status_code == 404
    # There is nothing to push yet, which is no failure.
    assert push_mirrors.push_due(app) == 2
    assert [item["last_error"] for item in ada.get(MIRRORS).json()] == ["", ""]


def test_what_cannot_be_a_push_mirror_is_refused(ada: httpx.Client, clients: ServiceClients) -> None:
    """Invalid or local addresses, short intervals and too many mirrors are refused."""
    for wrong in (
        {"remote_address": ""},
        {"remote_address": "file:///tmp/a"},
        {"remote_address": "git@example.org:a/b"},
        {"remote_address": "http://10.0.0.1/a"},
        {"remote_address": "http://169.254.169.254/a"},
        {"interval": "1m"},
        {"interval": "often"},
        {"remote_username": "a" * 3000},
    ):
        assert mirrored(ada, clients, **wrong).status_code == 422, wrong
    for _ in range(push_mirrors.MOST):
        assert mirrored(ada, clients).status_code == 200
    assert mirrored(ada, clients).status_code == 422


def test_credentials_of_the_url_are_not_shown(ada: httpx.Client, clients: ServiceClients) -> None:
    """Credentials in the URL are stored, and removed from the address that is shown."""
    inside = address(clients.service.url, "ada", PASSWORD, "ada/copy")
    response = ada.post(MIRRORS, json={"remote_address": inside})
    assert response.json()["remote_address"] == f"{clients.service.url}/ada/copy.git"
    assert PASSWORD not in response.text + ada.get(MIRRORS).text
    with clients.database.read() as connection:
        row = connection.execute(select(table)).one()
    assert (row.username, bool(row.secret)) == ("ada", True)
