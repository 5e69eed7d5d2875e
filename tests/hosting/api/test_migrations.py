"""Migration of repositories from elsewhere, here from the service itself."""

import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.errors import TooManyAtOnce
from holdfast.hosting.services import migrations
from holdfast.hosting.store import mirrors, repositories
from holdfast.hosting.store.database import Database
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.conftest import Service
from tests.hosting.api_clients import PASSWORD, ServiceClients, open_clients
from tests.hosting.git_client import Git, address
from tests.hosting.repository_helpers import make_organization
from tests.shared_server import SharedServer


@pytest.fixture
def clients(settings: Settings, database: Database, shared_server: SharedServer) -> Iterator[ServiceClients]:
    """Run a service that may migrate from itself."""
    inwards = msgspec.structs.replace(settings, migration_allowed_hosts="loopback", migration_max_mb=8)
    with shared_server.serving(build(inwards)) as url:
        yield from open_clients(Service(url, inwards, database))


def fill(clients: ServiceClients, tmp_path: Path, name: str = "ship") -> Git:
    """Push a history with branches, tags and notes to a repository of Ada's."""
    work = Git(tmp_path / "work")
    work("init", "--quiet", "--initial-branch=trunk")
    (work.folder / "hull.txt").write_text("wood\n")
    work("add", ".")
    work("commit", "--quiet", "-m", "Hull")
    work("branch", "café")
    work("tag", "light")
    work("tag", "-a", "v1", "-m", "One")
    work("notes", "add", "-m", "noted")
    work("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, f"ada/{name}"))
    work("push", "--quiet", "origin", "refs/heads/*", "refs/tags/*", "refs/notes/*")
    return work


def remote_refs(work: Git, clients: ServiceClients, repository: str, name: str = "ada") -> str:
    """List the refs of a repository as git sees them."""
    return work("ls-remote", address(clients.service.url, name, PASSWORD, repository))


def migrated(client: httpx.Client, clients: ServiceClients, **body: Any) -> httpx.Response:
    """Migrate Ada's ship."""
    given = {"clone_addr": f"{clients.service.url}/ada/ship.git", "repo_name": "copy", **body}
    return client.post("/repos/migrate", json=given)


@pytest.fixture
def ada(clients: ServiceClients, tmp_path: Path) -> httpx.Client:
    """Give Ada a repository with a history."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "default_branch": "trunk"})
    fill(clients, tmp_path)
    return client


def test_a_migrated_repository_has_every_branch_tag_and_note(
    ada: httpx.Client, clients: ServiceClients, tmp_path: Path
) -> None:
    """And the default branch, the address it came from, and it can be written to."""
    response = migrated(ada, clients, description="Sails", private=True)
    assert response.status_code == 201, response.text
    created = response.json()
    assert (created["full_name"], created["default_branch"], created["empty"]) == ("ada/copy", "trunk", False)
    assert (created["private"], created["mirror"], created["branch_count"]) == (True, False, 2)
    assert created["original_url"] == f"{clients.service.url}/ada/ship.git"
    assert created["description"] == "Sails"
    git = Git(tmp_path / "listing")
    assert remote_refs(git, clients, "ada/copy") == remote_refs(git, clients, "ada/ship")
    git("clone", "--quiet", address(clients.service.url, "ada", PASSWORD, "ada/copy"), ".")
    (git.folder / "sail.txt").write_text("cloth\n")
    git("add", ".")
    git("commit", "--quiet", "-m", "Sail")
    git("push", "--quiet")
    assert ada.get("/repos/ada/copy/contents/sail.txt").status_code == 200
    assert ada.get("/repos/ada/ship/contents/sail.txt").status_code == 404
    progress = ada.get("/repos/ada/copy/migration").json()
    assert (progress["status"], progress["phase"]) == ("done", "")
    assert ada.get("/repos/ada/ship/migration").status_code == 404
    assert clients.user("eve").get("/repos/ada/copy/migration").status_code == 404


def test_a_private_repository_is_migrated_with_credentials(ada: httpx.Client, clients: ServiceClients) -> None:
    """In the body as a password or a token, or in the address, which is not shown."""
    ada.patch("/repos/ada/ship", json={"private": True})
    response = migrated(ada, clients)
    assert (response.status_code, "credentials" in response.text) == (422, True)
    assert ada.get("/repos/ada/copy").status_code == 404
    token = clients.open("/api/v1", "ada").post(
        "/users/ada/tokens", json={"name": "reads", "scopes": ["read:repository"]}
    )
    inside = clients.service.url.replace("://", f"://ada:{PASSWORD}@") + "/ada/ship.git"
    for name, body in (
        ("one", {"auth_username": "ada", "auth_password": PASSWORD}),
        ("two", {"auth_token": token.json()["sha1"]}),
        ("three", {"clone_addr": inside}),
    ):
        response = migrated(ada, clients, repo_name=name, **body)
        assert response.status_code == 201, response.text
        assert response.json()["original_url"] == f"{clients.service.url}/ada/ship.git"
    assert migrated(ada, clients, auth_username="ada", auth_password="wrong").status_code == 422


def test_an_empty_repository_is_migrated(ada: httpx.Client, clients: ServiceClients) -> None:
    """There is nothing to fetch, which is no failure."""
    ada.post("/user/repos", json={"name": "void"})
    response = migrated(ada, clients, clone_addr=f"{clients.service.url}/ada/void")
    assert (response.status_code, response.json()["empty"], response.json()["mirror"]) == (201, True, False)


WRONG: tuple[dict[str, Any], ...] = (
    {"clone_addr": "file:///etc"},
    {"clone_addr": "/etc"},
    {"clone_addr": "ssh://git@example.org/a/b"},
    {"clone_addr": "git@example.org:a/b"},
    {"clone_addr": "ext::sh -c id"},
    {"clone_addr": "http://"},
    {"clone_addr": "http://example.org/a?b=c"},
    {"clone_addr": "http://example.org/" + "a" * 3000},
    {"clone_addr": ""},
    {"clone_addr": "http://10.0.0.1/a/b"},
    {"clone_addr": "http://169.254.169.254/latest"},
    {"clone_addr": "http://[::ffff:10.0.0.1]/a"},
    {"clone_addr": "http://0x0a000001/a"},
    {"clone_addr": "http://does-not-exist.invalid/a"},
    {"repo_name": ""},
    {"repo_name": "a b"},
    {"repo_name": "a" * 101},
    {"repo_owner": "nobody"},
    {"uid": 999_999},
    {"service": "sourceforge"},
    {"mirror": True, "mirror_interval": "soon"},
    {"mirror": True, "mirror_interval": "5m"},
    {"auth_username": "a" * 3000},
    {"lfs": True, "lfs_endpoint": "file:///srv"},
    {"lfs": True, "lfs_endpoint": "ssh://localhost/ada/ship"},
    {"wiki": True},
    {"service": "gitlab", "issues": True},
)


def test_an_invalid_source_is_refused(ada: httpx.Client, clients: ServiceClients) -> None:
    """With words, and without a repository."""
    for wrong in WRONG:
        response = migrated(ada, clients, **wrong)
        assert response.status_code == 422, (wrong, response.text)
        assert response.json()["message"]
    assert [repo["name"] for repo in ada.get("/user/repos").json()] == ["ship"]


def test_the_setting_decides_which_hosts_are_reached(
    settings: Settings, database: Database, shared_server: SharedServer
) -> None:
    """By default only those of the public internet."""
    with shared_server.serving(build(settings)) as url:
        for clients in open_clients(Service(url, settings, database)):
            response = migrated(clients.user("ada"), clients, clone_addr=f"{url}/ada/ship.git")
            assert response.status_code == 422
            assert "migration_allowed_hosts" in response.text


def test_names_and_permissions_are_checked_as_for_a_new_repository(
    ada: httpx.Client, clients: ServiceClients
) -> None:
    """A taken name is a conflict; an organization asks its own rules; nobody migrates without an account."""
    assert migrated(ada, clients, repo_name="ship").status_code == 409
    account = clients.account("bob")
    make_organization(clients.database, "guild", account)
    assert migrated(ada, clients, repo_owner="guild").status_code == 403
    assert migrated(ada, clients, repo_owner="bob").status_code == 422
    response = migrated(clients.with_token(account), clients, repo_owner="guild")
    assert (response.status_code, response.json()["full_name"]) == (201, "guild/copy")
    assert migrated(clients.anonymous, clients).status_code == 401


def test_concurrent_migrations_are_limited(clients: ServiceClients) -> None:
    """For one user and for all; one that has ended makes room."""
    ada, bob, eve = (clients.account(name) for name in ("ada", "bob", "eve"))
    slots = migrations.MigrationSlots()
    with slots.slot(ada), slots.slot(ada), slots.slot(bob):
        with pytest.raises(TooManyAtOnce), slots.slot(ada):
            pass
        with slots.slot(bob), pytest.raises(TooManyAtOnce), slots.slot(eve):
            pass
        with slots.slot(eve):
            pass


def test_a_repository_that_is_too_large_is_not_kept(
    settings: Settings, database: Database, shared_server: SharedServer, tmp_path: Path
) -> None:
    """The limit is a setting, and the name is free again."""
    inwards = msgspec.structs.replace(settings, migration_allowed_hosts="loopback", migration_max_mb=1)
    with shared_server.serving(build(inwards)) as url:
        for clients in open_clients(Service(url, inwards, database)):
            ada = clients.user("ada")
            ada.post("/user/repos", json={"name": "ship", "default_branch": "trunk"})
            work = fill(clients, tmp_path)
            (work.folder / "cargo").write_bytes(random.Random(1).randbytes(1_500_000))
            work("add", ".")
            work("commit", "--quiet", "-m", "Cargo")
            work("push", "--quiet", "origin", "trunk")
            response = migrated(ada, clients)
            assert (response.status_code, "migration_max_mb" in response.text) == (422, True)
            assert ada.get("/repos/ada/copy").status_code == 404


def test_what_an_interrupted_migration_left_is_deleted(ada: httpx.Client, clients: ServiceClients) -> None:
    """Once it can no longer be running; what has ended stays."""
    for name in ("copy", "left"):
        assert migrated(ada, clients, repo_name=name).status_code == 201
    left = repositories.find_repository(clients.database, "ada", "left")
    with clients.database.write() as connection:
        mirrors.set_progress(connection, left.id, phase="git")
    app = App.open(clients.service.settings)
    later = time.time() + 5 * 3600
    assert migrations.remove_abandoned(app) == 0
    assert migrations.remove_abandoned(app, now=later + 60) == 1
    assert migrations.remove_abandoned(app, now=later + 60) == 0
    app.close()
    assert sorted(repo["name"] for repo in ada.get("/user/repos").json()) == ["copy", "ship"]
