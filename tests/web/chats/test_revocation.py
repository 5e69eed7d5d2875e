"""Closing of conversations when a file, a permission or a session ends."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from holdfast.backup.conversion import OutputFormat
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.services import chat_backups
from holdfast.hosting.store import accounts, repositories
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from holdfast.web.chats.cache import cache_of
from holdfast.web.chats.cache_entries import CacheEntry, FileOrigin, UploadOrigin
from holdfast.web.chats.import_worker import write_atomically
from holdfast.web.chats.revocation import Revocation, is_current
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.container.vectors import SET_B
from tests.backup.streams import KEYS
from tests.conftest import wait_for
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.conftest import clients
from tests.hosting.services.chat_backup_helpers import uploaded

__all__ = ["clients"]

FILE = "/repos/ada/Snapshots/contents/phone.backup"
SEALED = "/ada/Snapshots/chats/branch/main/phone.backup"


@pytest.fixture
def content(tmp_path: Path) -> str:
    """Write an encrypted backup."""
    write_sample(sample_records(20, 1), tmp_path / "sealed", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    return base64.b64encode((tmp_path / "sealed").read_bytes()).decode()


@pytest.fixture
def ada(clients: ServiceClients, content: str) -> httpx.Client:
    """Make a public repository with an encrypted backup, and a reader."""
    ada = clients.user("ada")
    clients.account("bob")
    ada.post("/user/repos", json={"name": "Snapshots", "auto_init": True, "default_branch": "main"})
    ada.post(FILE, json={"content": content}).raise_for_status()
    return ada


def conversation(clients: ServiceClients, **more: object) -> CacheEntry:
    """Put a conversation of the file into the cache, as if it had been imported."""
    repository = repositories.find_repository(clients.database, "ada", "Snapshots")
    blob = clients.admin.get(FILE).json()["sha"]
    public = not repository.is_private
    origin = FileOrigin(repository.id, repository.owner.id, public, "branch", "main", b"phone.backup", blob)
    record = CacheEntry("x", origin, **more)  # type: ignore[arg-type]  # fields of several types
    folder = cache_of(clients.service.settings).folder / "1234"
    folder.mkdir(parents=True)
    (folder / "chats.db").touch()
    write_atomically(folder / "record", record)
    return record


def delete_file(ada: httpx.Client) -> None:
    """Delete the file from the branch."""
    ada.request("DELETE", FILE, json={"sha": ada.get(FILE).json()["sha"]}).raise_for_status()


def replace_file(ada: httpx.Client) -> None:
    """Put another file into its place."""
    change = {"content": base64.b64encode(b"another").decode(), "sha": ada.get(FILE).json()["sha"]}
    ada.put(FILE, json=change).raise_for_status()


def make_private(ada: httpx.Client) -> None:
    """Hide the repository."""
    ada.patch("/repos/ada/Snapshots", json={"private": True}).raise_for_status()


def delete_repository(ada: httpx.Client) -> None:
    """Delete the repository."""
    ada.delete("/repos/ada/Snapshots").raise_for_status()


def delete_branch(ada: httpx.Client) -> None:
    """Delete the branch it was opened on."""
    ada.post("/repos/ada/Snapshots/branches", json={"new_branch_name": "other"}).raise_for_status()
    ada.patch("/repos/ada/Snapshots", json={"default_branch": "other"}).raise_for_status()
    ada.delete("/repos/ada/Snapshots/branches/main").raise_for_status()


@pytest.mark.parametrize("change", [delete_file, replace_file, make_private, delete_repository, delete_branch])
def test_a_conversation_is_closed_when_access_changes(
    clients: ServiceClients, ada: httpx.Client, change: Callable[[httpx.Client], None]
) -> None:
    """The change itself removes the conversation from the cache, without a request for it."""
    conversation(clients)
    folder = cache_of(clients.service.settings).folder
    ada.post("/repos/ada/Snapshots/issues", json={"title": "nothing"}).raise_for_status()
    change(ada)
    wait_for(lambda: not (folder / "1234").exists(), 30)


def test_other_conversations_stay_open(clients: ServiceClients, ada: httpx.Client) -> None:
    """A commit to another file leaves a conversation open, and one of the data folder stays open too."""
    host = App.open(clients.service.settings)
    record = conversation(clients)
    ada.post("/repos/ada/Snapshots/contents/other", json={"content": ""}).raise_for_status()
    assert is_current(host, record)
    assert is_current(host, CacheEntry("on the shelf"))
    host.close()


def test_an_encrypted_conversation_is_closed_with_its_reader_and_session(
    clients: ServiceClients, ada: httpx.Client
) -> None:
    """An unknown session or account, and a user who lost access, close the conversation."""
    host = App.open(clients.service.settings)
    bob = clients.open("/api/v1", "bob").get("/user").json()["id"]
    mine = conversation(clients, browser="b", account=bob)
    assert is_current(host, mine)
    assert not is_current(host, CacheEntry("x", mine.origin, "b", bob, "no such log-in"))
    assert not is_current(host, CacheEntry("x", mine.origin, "b", 9999))
    make_private(ada)
    origin = mine.origin
    assert isinstance(origin, FileOrigin)
    private = CacheEntry(
        "x",
        FileOrigin(origin.repository, origin.owner, False, *((origin.kind, origin.ref, origin.path, origin.blob))),
        "b",
        bob,
    )
    assert not is_current(host, private)
    ada.put("/repos/ada/Snapshots/collaborators/bob", json={"permission": "read"})
    assert is_current(host, private)
    ada.delete("/repos/ada/Snapshots/collaborators/bob")
    assert not is_current(host, private)
    host.close()


def test_logging_out_closes_what_a_key_opened(clients: ServiceClients, ada: httpx.Client) -> None:
    """The cookie and the import are deleted, and the old cookies open nothing."""
    with httpx.Client(base_url=clients.service.url, timeout=60, headers={"accept": "text/html"}) as browser:
        browser.post("/login", data={"name": "bob", "password": PASSWORD})
        response = browser.post(f"{SEALED}/-key", data={"key": str(SET_B.pool), "account": str(SET_B.aci)})
        assert response.status_code == 303
        wait_for(lambda: "Importing the backup" not in browser.get(SEALED).text, 60)
        assert "Forget key" in browser.get(SEALED).text
        assert any(cache_of(clients.service.settings).folder.glob("s*/sealed"))
        stored = dict(browser.cookies)
        left = browser.post("/logout")
        assert 'holdfast_chats=""' in left.headers["set-cookie"]
        assert left.headers["clear-site-data"] == '"cache"'
        assert not any(cache_of(clients.service.settings).folder.glob("s*/sealed"))
        assert "holdfast_chats" not in browser.cookies
    with httpx.Client(base_url=clients.service.url, timeout=60, cookies=stored) as again:
        assert "Forget key" not in again.get(SEALED, headers={"accept": "text/html"}).text


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_the_service_ends_right_after_a_change(database: Database, settings: Settings) -> None:
    """The watcher stops when a change is signalled at the same moment as its end."""
    del database
    host = App.open(settings)
    watcher = Revocation(host)

    async def live() -> None:
        async with watcher.watching():
            # Past what is cleared away first, so that it waits for a change.
            await asyncio.sleep(0.2)
            assert watcher._changed is not None
            watcher._changed.set()

    async def in_time() -> None:
        ended, _ = await asyncio.wait({asyncio.create_task(live())}, timeout=10)
        assert ended

    try:
        asyncio.run(in_time())
    finally:
        host.close()


def test_a_conversation_of_an_upload_is_closed_with_it_and_its_readers(clients: ServiceClients) -> None:
    """An encrypted conversation closes when its reader loses access, and all close with the upload."""
    for name in ("ada", "bob"):
        clients.account(name)
    app = App.open(clients.service.settings)
    ada, bob = (accounts.find_user(app.database, name) for name in ("ada", "bob"))
    backup = uploaded(app, Actor(ada), "one", b"content")
    plain = CacheEntry("x", UploadOrigin(backup.id, ada.id))
    of_ada = CacheEntry("x", UploadOrigin(backup.id, ada.id), "browser", ada.id)
    of_bob = CacheEntry("x", UploadOrigin(backup.id, ada.id), "browser", bob.id)
    assert [is_current(app, record) for record in (plain, of_ada, of_bob)] == [True, True, False]
    chat_backups.share(app, Actor(ada), backup.uuid, "bob")
    assert is_current(app, of_bob)
    chat_backups.unshare(app, Actor(ada), backup.uuid, bob.id)
    assert not is_current(app, of_bob)
    chat_backups.delete(app, Actor(ada), backup.uuid)
    assert [is_current(app, record) for record in (plain, of_ada, of_bob)] == [False, False, False]
    app.close()
