"""Migration of release assets and LFS objects."""

import hashlib
import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import select

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import open_database, prepare
from holdfast.hosting.errors import RemoteFailed
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.services import migration_imports, migration_sources, remotes, repositories
from holdfast.hosting.services.migration_client import MigrationClient
from holdfast.hosting.services.migration_files import fetch_lfs_objects
from holdfast.hosting.services.migration_imports import ImportParts
from holdfast.hosting.services.repositories import NewRepository
from holdfast.hosting.store import accounts, tables
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from holdfast.secret import Secret
from holdfast.server.app import build
from holdfast.settings import Settings
from tests.conftest import Service, run_service
from tests.hosting.api_clients import PASSWORD, ServiceClients, open_clients
from tests.hosting.git_client import Git, address
from tests.hosting.services.http_stub import HttpStub, http_stub
from tests.shared_server import SharedServer

LFS_TYPE = "application/vnd.git-lfs+json"
# What is not the same on both sides: ids, addresses, and who it belongs to.
OWN = {
    "id",
    "uuid",
    "url",
    "html_url",
    "author",
    "upload_url",
    "tarball_url",
    "zipball_url",
    "browser_download_url",
}
FILES = {"boat.tar.gz": secrets.token_bytes(3_000_000), "café notes.txt": b"sails\n", "empty": b""}
LARGE = secrets.token_bytes(200_000)
OID = hashlib.sha256(LARGE).hexdigest()
POINTER = LfsPointer(OID, len(LARGE))


@pytest.fixture
def clients(settings: Settings, database: Database, shared_server: SharedServer) -> Iterator[ServiceClients]:
    """Run a service that may migrate from this machine, up to eight mebibytes."""
    inwards = msgspec.structs.replace(settings, migration_allowed_hosts="loopback", migration_max_mb=8)
    with shared_server.serving(build(inwards)) as url:
        for service_clients in open_clients(Service(url, inwards, database)):
            service_clients.account("eve")
            yield service_clients


@contextmanager
def second_service(folder: Path) -> Iterator[ServiceClients]:
    """Run another service with a data folder of its own."""
    settings = Settings(data=folder, admin_password=Secret(PASSWORD))
    with open_database(settings) as database:
        prepare(database, settings)
        for service in run_service(settings, database):
            yield from open_clients(service)


def fill(source: ServiceClients, folder: Path) -> httpx.Client:
    """Make a private repository with LFS objects and a release with files, of which one was downloaded."""
    ada = source.user("ada")
    assert ada.post("/user/repos", json={"name": "ship", "private": True}).status_code == 201
    upload(source, "ada/ship", LARGE)
    git = Git(folder)
    git("init", "-q", "-b", "main")
    (folder / "film.bin").write_bytes(POINTER.format())
    git("add", ".")
    git("commit", "-q", "-m", "Film")
    git("tag", "v1")
    git("push", "-q", address(source.service.url, "ada", PASSWORD, "ada/ship"), "main", "v1")
    release = {"tag_name": "v1", "name": "One", "body": "New"}
    number = ada.post("/repos/ada/ship/releases", json=release).json()["id"]
    for name, content in FILES.items():
        response = ada.post(f"/repos/ada/ship/releases/{number}/assets", params={"name": name}, content=content)
        assert response.status_code == 201, response.text
    return ada


def upload(source: ServiceClients, repository: str, content: bytes) -> None:
    """Upload an LFS object."""
    oid = hashlib.sha256(content).hexdigest()
    lfs = source.open(f"/{repository}.git/info/lfs", "ada")
    body = {"operation": "upload", "objects": [{"oid": oid, "size": len(content)}]}
    headers = {"Accept": LFS_TYPE, "Content-Type": LFS_TYPE}
    (one,) = lfs.post("/objects/batch", content=json.dumps(body), headers=headers).json()["objects"]
    action = one["actions"]["upload"]
    assert lfs.put(action["href"], content=content, headers=action.get("header")).status_code == 200


def same(value: Any) -> Any:
    """Return what must be the same on both sides."""
    if isinstance(value, dict):
        return {key: same(inner) for key, inner in value.items() if key not in OWN}
    return [same(item) for item in value] if isinstance(value, list) else value


def migrated(clients: ServiceClients, source: ServiceClients, **body: Any) -> httpx.Response:
    """Migrate the repository from the other service."""
    eve = clients.with_token(accounts.find_user(clients.database, "eve"))
    login = {"auth_username": "ada", "auth_password": PASSWORD}
    given = {"clone_addr": f"{source.service.url}/ada/ship.git", "repo_name": "copy", "service": "gitea"}
    return eve.post("/repos/migrate", json={**given, **login, **body})


def test_release_files_and_lfs_objects_are_the_same_afterwards(clients: ServiceClients, tmp_path: Path) -> None:
    """All fields of releases and all bytes of files and LFS objects are those of the private source."""
    with second_service(tmp_path / "second") as source:
        ada = fill(source, tmp_path / "work")
        before = ada.get("/repos/ada/ship/releases").json()
        response = migrated(clients, source, releases=True, lfs=True)
        assert response.status_code == 201, response.text
    after = clients.anonymous.get("/repos/eve/copy/releases").json()
    assert same(after) == same(before)
    results = {asset["name"]: asset["browser_download_url"] for asset in after[0]["assets"]}
    assert {name: httpx.get(url).content for name, url in results.items()} == FILES
    raw = clients.anonymous.get("/repos/eve/copy/media/film.bin", params={"ref": "main"})
    assert raw.content == LARGE
    progress = clients.anonymous.get("/repos/eve/copy/migration").json()
    assert progress["status"] == "done"


def test_files_are_imported_only_on_request(clients: ServiceClients, tmp_path: Path) -> None:
    """A migration without the options `releases` and `lfs` imports neither releases nor LFS objects."""
    with second_service(tmp_path / "second") as source:
        fill(source, tmp_path / "work")
        assert migrated(clients, source).status_code == 201
    assert clients.anonymous.get("/repos/eve/copy/releases").json() == []
    assert [path for path in (clients.service.settings.data / "lfs").rglob("*") if path.is_file()] == []


def test_more_than_the_settings_allow_ends_the_migration(clients: ServiceClients, tmp_path: Path) -> None:
    """A migration beyond `migration_max_mb` fails with status 422 and leaves no repository."""
    with second_service(tmp_path / "second") as source:
        ada = fill(source, tmp_path / "work")
        number = ada.get("/repos/ada/ship/releases").json()[0]["id"]
        path = f"/repos/ada/ship/releases/{number}/assets"
        assert ada.post(path, params={"name": "second"}, content=b"x" * 6_000_000).status_code == 201
        response = migrated(clients, source, releases=True)
        assert (response.status_code, "migration_max_mb" in response.text) == (422, True)
        assert clients.anonymous.get("/repos/eve/copy").status_code == 404
        assert migrated(clients, source, lfs=True).status_code == 201


@pytest.fixture
def allow_local_addresses(app: App) -> App:
    """Let services on this machine be read."""
    settings = msgspec.structs.replace(app.settings, migration_allowed_hosts="127.0.0.1/32", max_lfs_mb=1)
    return replace(app, settings=settings)


@pytest.fixture
def ada(app: App) -> Account:
    """Return a user."""
    return accounts.create_user(app.database, "ada", Secret(PASSWORD), email="ada@example.org")


@pytest.fixture
def copy(app: App, ada: Account) -> Repository:
    """Create a repository with an LFS pointer whose object is missing."""
    return repositories.create(app, ada, ada, NewRepository(name="copy"), {"film.bin": POINTER.format()})


def batch(stub: HttpStub, **response: Any) -> None:
    """Set the response of a stub to LFS batch requests."""
    stub.answers["/octo/ship.git/info/lfs/objects/batch"] = (
        200,
        json.dumps({"transfer": "basic", "objects": [{"oid": OID, "size": len(LARGE), **response}]}).encode(),
    )


def fetched(app: App, copy: Repository, stub: HttpStub) -> int:
    """Fetch the objects from a stub, with credentials."""
    url = remotes.parse_address(f"{stub.url}/octo/ship.git", "CloneAddr")
    client = MigrationClient.open(app, url, "Basic c2VjcmV0")
    endpoint = remotes.parse_address(f"{stub.url}/octo/ship.git/info/lfs", "LFSEndpoint")
    return fetch_lfs_objects(app, client, copy, endpoint)


def test_an_object_elsewhere_is_fetched_without_the_credentials(
    allow_local_addresses: App, copy: Repository
) -> None:
    """The credentials of the repository are sent to its own host and not to the host of the object."""
    with http_stub({"/object": (200, LARGE)}) as other, http_stub({}) as stub:
        batch(stub, actions={"download": {"href": f"{other.url}/object", "header": {"X-Own": "1"}}})
        assert fetched(allow_local_addresses, copy, stub) == 1
    assert [request.authorization for request in stub.seen] == ["Basic c2VjcmV0"]
    assert [request.authorization for request in other.seen] == [""]
    with allow_local_addresses.database.read() as connection:
        assert connection.execute(select(tables.lfs_links.c.oid)).scalars().all() == [OID]


@pytest.mark.parametrize(
    ("content", "answer", "reason"),
    [
        (LARGE[:-1], {}, "not what its pointer says"),
        (LARGE[:-1] + b"\0", {}, "not what its pointer says"),
        (LARGE + b"\0" * 2_000_000, {}, "max_lfs_mb"),
        (LARGE, {"actions": {"download": {"href": "http://10.0.0.1/object"}}}, "migration_allowed_hosts"),
        (LARGE, {"actions": {"download": {"href": "file:///etc/passwd"}}}, "invalid address"),
        (LARGE, {"actions": {"download": {"href": "http://127.0.0.1:1/x", "header": {"A": "b\nc"}}}}, "be read"),
        (LARGE, {"actions": {}, "error": {"code": 500}}, "says 500"),
        (LARGE, {"actions": 5}, "something else than expected"),
    ],
)
def test_an_object_that_cannot_be_downloaded_ends_the_migration(
    allow_local_addresses: App, copy: Repository, content: bytes, answer: dict[str, Any], reason: str
) -> None:
    """The error says why the object cannot be downloaded, and no object is linked to the repository."""
    with http_stub({"/object": (200, content)}) as stub:
        batch(stub, **{"actions": {"download": {"href": f"{stub.url}/object"}}, **answer})
        with pytest.raises(RemoteFailed, match=reason):
            fetched(allow_local_addresses, copy, stub)
    with allow_local_addresses.database.read() as connection:
        assert connection.execute(select(tables.lfs_links.c.oid)).scalars().all() == []


def test_an_object_that_the_other_service_lost_is_left_out(allow_local_addresses: App, copy: Repository) -> None:
    """An object that the LFS batch API reports as missing (404) is skipped without an error."""
    with http_stub({}) as stub:
        batch(stub, error={"code": 404, "message": "gone"})
        assert fetched(allow_local_addresses, copy, stub) == 0


def test_files_of_github_come_from_its_api(allow_local_addresses: App, ada: Account, copy: Repository) -> None:
    """The token is sent to the API of GitHub and not to the host it redirects to.

    An asset whose upload was not finished is left out.
    """
    start = "/api/v3/repos/octo/ship/releases"
    with http_stub({"/stored": (200, b"boat")}) as other, http_stub({}) as stub:
        stub.redirects[f"{start}/assets/7"] = f"{other.url}/stored"
        whole = {
            "name": "boat",
            "size": 4,
            "state": "uploaded",
            "download_count": 3,
            "url": f"{stub.url}{start}/assets/7",
        }
        release = {"tag_name": "v1", "assets": [{**whole, "name": "part", "state": "starter"}, whole, whole]}
        stub.answers[f"{start}?page=1&per_page=100"] = (200, json.dumps([release]).encode())
        stub.answers[f"{start}?page=2&per_page=100"] = (200, b"[]")
        url = remotes.parse_address(f"{stub.url}/octo/ship.git", "CloneAddr")
        source = migration_sources.open_source(
            allow_local_addresses, "github", url, token="t0ken", credentials=remotes.Credentials()
        )
        migration_imports.import_parts(allow_local_addresses, copy, ada, source, ImportParts(releases=True))
    assert {request.authorization for request in stub.seen} == {"token t0ken"}
    assert [request.authorization for request in other.seen] == [""]
    columns = (tables.attachments.c[name] for name in ("name", "size", "download_count"))
    with allow_local_addresses.database.read() as connection:
        assert [tuple(row) for row in connection.execute(select(*columns))] == [("boat", 4, 3)]


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a\nb"])
def test_an_invalid_file_name_ends_the_import(
    allow_local_addresses: App, ada: Account, copy: Repository, name: str
) -> None:
    """An asset whose name is empty, a path or has a line break is an error."""
    start = "/api/v1/repos/octo/ship/releases"
    with http_stub({"/file": (200, b"boat")}) as stub:
        release = {"tag_name": "v1", "assets": [{"name": name, "browser_download_url": f"{stub.url}/file"}]}
        stub.answers[f"{start}?page=1&limit=50"] = (200, json.dumps([release]).encode())
        url = remotes.parse_address(f"{stub.url}/octo/ship.git", "CloneAddr")
        source = migration_sources.open_source(
            allow_local_addresses, "gitea", url, token="", credentials=remotes.Credentials()
        )
        with pytest.raises(RemoteFailed, match="name cannot be used"):
            migration_imports.import_parts(allow_local_addresses, copy, ada, source, ImportParts(releases=True))
