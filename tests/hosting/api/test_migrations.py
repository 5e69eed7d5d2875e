"""Migration of repositories from another service."""

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
from tests.hosting.api.migration_helpers import migrate, push_sample_history, remote_refs
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


@pytest.fixture
def ada(clients: ServiceClients, tmp_path: Path) -> httpx.Client:
    """Give Ada a repository with a history."""
    client = clients.user("ada")
    client.post("/user/repos", json={"name": "ship", "default_branch": "trunk"})
    push_sample_history(clients, tmp_path)
    return client


def test_a_migrated_repository_has_every_branch_tag_and_note(
    ada: httpx.Client, clients: ServiceClients, tmp_path: Path
) -> None:
    """The copy has the refs and the default branch of the source, names its URL, and accepts pushes."""
    response = migrate(ada, clients, description="Sails", private=True)
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


def test_the_name_of_a_hidden_owner_is_not_revealed(clients: ServiceClients) -> None:
    """The id of a private user or organization is refused like one that nobody has."""
    eve, bob = clients.user("eve"), clients.account("bob")
    hidden = clients.account("stowaway", visibility="private")
    secret = make_organization(clients.database, "smugglers", bob, visibility="private")
    refusals = [migrate(eve, clients, uid=number) for number in (hidden.id, secret.id, 999_999)]
    texts = {
        refusal.json()["message"].replace(str(number), "N")
        for refusal, number in zip(refusals, (hidden.id, secret.id, 999_999), strict=True)
    }
    assert ({refusal.status_code for refusal in refusals}, len(texts)) == ({422}, 1), texts
    assert not any("stowaway" in refusal.text or "smugglers" in refusal.text for refusal in refusals)


def test_a_private_repository_is_migrated_with_credentials(ada: httpx.Client, clients: ServiceClients) -> None:
    """Credentials are a password, a token or a part of the URL; `original_url` does not show them."""
    ada.patch("/repos/ada/ship", json={"private": True})
    response = migrate(ada, clients)
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
        response = migrate(ada, clients, repo_name=name, **body)
        assert response.status_code == 201, response.text
        assert response.json()["original_url"] == f"{clients.service.url}/ada/ship.git"
    assert migrate(ada, clients, auth_username="ada", auth_password="wrong").status_code == 422


def test_an_empty_repository_is_migrated(ada: httpx.Client, clients: ServiceClients) -> None:
    """The migration of an empty repository succeeds."""
    ada.post("/user/repos", json={"name": "void"})
    response = migrate(ada, clients, clone_addr=f"{clients.service.url}/ada/void")
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
    """The response says what is wrong, and no repository is created."""
    for wrong in WRONG:
        response = migrate(ada, clients, **wrong)
        assert response.status_code == 422, (wrong, response.text)
        assert response.json()["message"]
    assert [repo["name"] for repo in ada.get("/user/repos").json()] == ["ship"]


def test_the_setting_decides_which_hosts_are_reached(
    settings: Settings, database: Database, shared_server: SharedServer
) -> None:
    """A migration from a local address is refused by default, and the error names the setting."""
    with shared_server.serving(build(settings)) as url:
        for clients in open_clients(Service(url, settings, database)):
            response = migrate(clients.user("ada"), clients, clone_addr=f"{url}/ada/ship.git")
            assert response.status_code == 422
            assert "migration_allowed_hosts" in response.text


def test_names_and_permissions_are_checked_as_for_a_new_repository(
    ada: httpx.Client, clients: ServiceClients
) -> None:
    """A taken name gives 409, an organization requires permission, and anonymous clients get 401."""
    assert migrate(ada, clients, repo_name="ship").status_code == 409
    account = clients.account("bob")
    make_organization(clients.database, "guild", account)
    assert migrate(ada, clients, repo_owner="guild").status_code == 403
    assert migrate(ada, clients, repo_owner="bob").status_code == 422
    response = migrate(clients.with_token(account), clients, repo_owner="guild")
    assert (response.status_code, response.json()["full_name"]) == (201, "guild/copy")
    assert migrate(clients.anonymous, clients).status_code == 401


def test_concurrent_migrations_are_limited(clients: ServiceClients) -> None:
    """Concurrent migrations are limited for each user and for all; a finished one frees its slot."""
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
    """A repository larger than `migration_max_mb` is refused and is not found afterwards."""
    inwards = msgspec.structs.replace(settings, migration_allowed_hosts="loopback", migration_max_mb=1)
    with shared_server.serving(build(inwards)) as url:
        for clients in open_clients(Service(url, inwards, database)):
            ada = clients.user("ada")
            ada.post("/user/repos", json={"name": "ship", "default_branch": "trunk"})
            work = push_sample_history(clients, tmp_path)
            (work.folder / "cargo").write_bytes(random.Random(1).randbytes(1_500_000))
            work("add", ".")
            work("commit", "--quiet", "-m", "Cargo")
            work("push", "--quiet", "origin", "trunk")
            response = migrate(ada, clients)
            assert (response.status_code, "migration_max_mb" in response.text) == (422, True)
            assert ada.get("/repos/ada/copy").status_code == 404


def test_what_an_interrupted_migration_left_is_deleted(ada: httpx.Client, clients: ServiceClients) -> None:
    """An unfinished migration is deleted once it can no longer be running; finished ones stay."""
    for name in ("copy", "left"):
        assert migrate(ada, clients, repo_name=name).status_code == 201
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
