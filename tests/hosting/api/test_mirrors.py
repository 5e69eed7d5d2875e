"""Pull mirrors."""

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from sqlalchemy import select, update

from holdfast.hosting.app import App
from holdfast.hosting.services import mirrors
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import mirrors as table
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.conftest import Service
from tests.hosting.api.migration_helpers import migrate, push_sample_history, remote_refs
from tests.hosting.api_clients import PASSWORD, ServiceClients, open_clients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import READ, WRITE, let_in, recorded_events
from tests.shared_server import SharedServer


@pytest.fixture
def allow_local_addresses(settings: Settings) -> Settings:
    """Let the service mirror from itself."""
    return msgspec.structs.replace(settings, migration_allowed_hosts="loopback")


@pytest.fixture
def clients(
    allow_local_addresses: Settings, database: Database, shared_server: SharedServer
) -> Iterator[ServiceClients]:
    """Run a service that may mirror from itself."""
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
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Give Ada a private repository with a history, and a mirror of it."""
    ada = clients.user("ada")
    ada.post("/user/repos", json={"name": "ship", "default_branch": "trunk", "private": True})
    git = push_sample_history(clients, tmp_path)
    given = {"auth_username": "ada", "auth_password": PASSWORD, "mirror": True, "mirror_interval": "1h"}
    response = migrate(ada, clients, **given)
    assert response.status_code == 201, response.text
    shown = response.json()
    assert (shown["mirror"], shown["mirror_interval"]) == (True, "1h0m0s")
    assert shown["mirror_updated"] > "2020"
    return git


def owner(clients: ServiceClients) -> httpx.Client:
    """Return another client of Ada's."""
    return clients.with_token(accounts.find_user(clients.database, "ada"))


def test_a_mirror_follows_branches_tags_and_deletions(work: Git, clients: ServiceClients, app: App) -> None:
    """A requested update copies the refs of the source, with events; without a request nothing is due."""
    assert mirrors.sync_due(app) == 0
    (work.folder / "sail.txt").write_text("cloth\n")
    work("add", ".")
    work("commit", "--quiet", "--amend", "-m", "Hull and sail")
    work("tag", "v2")
    work("push", "--quiet", "--force", "origin", "trunk", "v2", ":café", ":refs/tags/light")
    ada = owner(clients)
    before = len(recorded_events(clients.database))
    response = ada.post("/repos/ada/copy/mirror-sync")
    assert (response.status_code, response.content) == (200, b"")
    assert mirrors.sync_due(app) == 1
    assert remote_refs(work, clients, "ada/copy") == remote_refs(work, clients, "ada/ship")
    # A tag that is created or deleted is a push too; a deleted branch is not.
    kinds = Counter(kind for kind, _ in recorded_events(clients.database)[before:])
    assert kinds == {"push": 3, "create": 1, "delete": 2}
    assert ada.get("/repos/ada/copy/contents/sail.txt").status_code == 200
    assert ada.get("/repos/ada/copy").json()["branch_count"] == 1
    copy = repositories.find_repository(clients.database, "ada", "copy")
    assert mirrors.sync_due(app) == 0
    # A new copy is made of what the log has.
    app.copies.discard(copy.id)
    app.copies.open(copy)


def test_closing_keywords_of_mirrored_commits_mean_other_issues(
    work: Git, clients: ServiceClients, app: App
) -> None:
    """A mirrored commit with `Fixes #1` does not close that issue of the mirror."""
    ada = owner(clients)
    assert ada.post("/repos/ada/copy/issues", json={"title": "Leak"}).status_code == 201
    work("commit", "--quiet", "--allow-empty", "-m", "Fixes #1")
    work("push", "--quiet", "origin", "trunk")
    ada.post("/repos/ada/copy/mirror-sync")
    assert mirrors.sync_due(app) == 1
    assert remote_refs(work, clients, "ada/copy") == remote_refs(work, clients, "ada/ship")
    assert ada.get("/repos/ada/copy/issues/1").json()["state"] == "open"


def test_a_mirror_is_read_only_for_people(work: Git, clients: ServiceClients) -> None:
    """The owner of a mirror can neither push to it nor commit files to it."""
    there = address(clients.service.url, "ada", PASSWORD, "ada/copy")
    before = remote_refs(work, clients, "ada/copy")
    work("commit", "--quiet", "--allow-empty", "-m", "More")
    assert work.try_to("push", there, "trunk").returncode != 0
    response = owner(clients).post("/repos/ada/copy/contents/a", json={"content": ""})
    assert response.status_code == 423
    assert remote_refs(work, clients, "ada/copy") == before


def test_the_default_branch_follows_a_rename_in_the_source(work: Git, clients: ServiceClients, app: App) -> None:
    """The HEAD of the source becomes the default branch once the old default branch is deleted."""
    ada = owner(clients)
    ada.patch("/repos/ada/ship", json={"default_branch": "café"})
    work("push", "--quiet", "origin", ":trunk")
    ada.post("/repos/ada/copy/mirror-sync")
    assert mirrors.sync_due(app) == 1
    assert ada.get("/repos/ada/copy").json()["default_branch"] == "café"
    assert remote_refs(work, clients, "ada/copy") == remote_refs(work, clients, "ada/ship")


def test_a_mirror_that_cannot_be_updated_stays_as_it_is(work: Git, clients: ServiceClients, app: App) -> None:
    """The mirror stores the error, keeps its refs, and is updated again at a later time."""
    before = remote_refs(work, clients, "ada/copy")
    ada = owner(clients)
    ada.delete("/repos/ada/ship")
    ada.post("/repos/ada/copy/mirror-sync")
    assert mirrors.sync_due(app) == 1
    with clients.database.read() as connection:
        row = connection.execute(select(table)).one()
    assert row.last_error == "there is no repository at this address"
    assert time.time() < row.next_sync_at <= time.time() + 3601
    assert remote_refs(work, clients, "ada/copy") == before
    ada.post("/user/repos", json={"name": "ship", "private": True})
    ada.post("/repos/ada/copy/mirror-sync")
    assert mirrors.sync_due(app) == 1
    assert remote_refs(work, clients, "ada/copy") == before


def test_a_mirror_is_updated_at_its_interval(work: Git, clients: ServiceClients, app: App) -> None:
    """The interval can be changed; with an interval of 0 a mirror is updated on request only."""
    del work
    ada = owner(clients)

    def due(later: int) -> int:
        with clients.database.write() as connection:
            connection.execute(update(table).values(next_sync_at=table.c.next_sync_at - later))
        return mirrors.sync_due(app)

    assert due(3500) == 0
    assert due(101) == 1
    assert due(3500) == 0
    assert ada.patch("/repos/ada/copy", json={"mirror_interval": "10m0s"}).json()["mirror_interval"] == "10m0s"
    assert due(601) == 1
    assert ada.patch("/repos/ada/copy", json={"mirror_interval": "9m"}).status_code == 422
    assert ada.patch("/repos/ada/copy", json={"mirror_interval": "x"}).status_code == 422
    assert ada.patch("/repos/ada/copy", json={"mirror_interval": "0s"}).status_code == 200
    assert due(100_000) == 0


def test_requesting_an_update_requires_write_access(work: Git, clients: ServiceClients) -> None:
    """Readers, anonymous clients and requests for repositories that are no mirrors get an error."""
    del work
    ada = owner(clients)
    copy = repositories.find_repository(clients.database, "ada", "copy")
    bob, eve = clients.account("bob"), clients.account("eve")
    let_in(clients.database, copy, bob, WRITE)
    let_in(clients.database, copy, eve, READ)
    where = "/repos/ada/copy/mirror-sync"
    assert clients.with_token(bob).post(where).status_code == 200
    assert clients.with_token(eve).post(where).status_code == 403
    assert clients.anonymous.post(where).status_code == 401
    ada.patch("/repos/ada/copy", json={"private": True})
    assert clients.anonymous.post(where).status_code == 404
    assert ada.post("/repos/ada/ship/mirror-sync").status_code == 400
    ada.patch("/repos/ada/copy", json={"archived": True})
    assert ada.post(where).status_code == 423


def test_the_secret_is_encrypted(work: Git, clients: ServiceClients, allow_local_addresses: Settings) -> None:
    """The database has the password of a mirror in encrypted form only."""
    del work
    with clients.database.read() as connection:
        row = connection.execute(select(table)).one()
    assert row.username == "ada"
    assert PASSWORD not in str(row)
    assert PASSWORD not in row.secret
    assert App.open(allow_local_addresses).cipher.decrypt(row.secret) == PASSWORD
