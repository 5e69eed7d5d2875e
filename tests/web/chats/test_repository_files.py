"""Backups in repositories, shown to users with read access to the file."""

import base64
import hashlib
from pathlib import Path

import httpx
import pytest

from holdfast.backup.conversion import OutputFormat
from holdfast.hosting import access
from holdfast.hosting.access import Actor, RepositoryAccess
from holdfast.hosting.app import App
from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.trees import TreeEntry
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.store import repositories
from holdfast.web.chats import cache as cache_module
from holdfast.web.chats import host_pages
from holdfast.web.chats.cache import cache_of
from holdfast.web.chats.repository_files import conversation_link
from holdfast.web.code.location import find_location
from holdfast_demo.sample import sample_records
from holdfast_demo.sample_writer import write_sample
from tests.backup.archives.histories import copies, import_backups, write
from tests.backup.streams import KEYS
from tests.conftest import wait_for
from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import clients
from tests.web.chats.page_helpers import EMPTY_FORM

__all__ = ["clients"]

AT = "/ada/Snapshots/chats/branch/main"


@pytest.fixture
def ada(clients: ServiceClients, tmp_path: Path) -> httpx.Client:
    """Make a private repository with a backup, an archive, a text, an encrypted backup and a large file."""
    ada = clients.user("ada")
    ada.post(
        "/user/repos", json={"name": "Snapshots", "private": True, "auto_init": True, "default_branch": "main"}
    )
    source = write(tmp_path / "one", *copies())
    import_backups(tmp_path / "a.db", source)
    write_sample(sample_records(20, 1), tmp_path / "sealed", OutputFormat.CONTAINER, seed=1, keys=KEYS)
    large = write(tmp_path / "large", *copies(61)).read_bytes()
    stored = LfsPointer(hashlib.sha256(large).hexdigest(), len(large))
    clients.open("/ada/Snapshots.git/info/lfs", "ada").put(f"/objects/{stored.oid}/{stored.size}", content=large)
    elsewhere = LfsPointer("0" * 64, 100)
    files = {
        "phone/my <b> backup.binproto": source.read_bytes(),
        "a.db": (tmp_path / "a.db").read_bytes(),
        "phone/notes.txt": b"just a text\n",
        "sealed.backup": (tmp_path / "sealed").read_bytes(),
        "large.binproto": stored.format(),
        "elsewhere.binproto": elsewhere.format(),
    }
    changes = [
        {"operation": "create", "path": path, "content": base64.b64encode(content).decode()}
        for path, content in files.items()
    ]
    assert ada.post("/repos/ada/Snapshots/contents", json={"files": changes}).status_code == 201
    return clients.open("", "ada", accept="text/html")


def test_a_file_is_shown_as_a_conversation(ada: httpx.Client) -> None:
    """The page has one heading, and the pages of the conversation are below the URL of the file."""
    address = f"{AT}/phone/my%20%3Cb%3E%20backup.binproto"
    assert "Importing the backup" in ada.get(address).text
    wait_for(lambda: "Importing the backup" not in ada.get(address).text, 60)
    page = ada.get(address).text
    assert page.count("<h1") == 1
    assert "my <b> backup" not in page
    assert f'href="{address}/search"' in page
    result = ada.get(f"{address}/search?q=the").text
    assert "<mark>" in result
    assert ada.get(f"{address}/nope").status_code == 404
    large = f"{AT}/large.binproto"
    wait_for(lambda: "Importing the backup" not in ada.get(large).text, 60)
    assert f'href="{large}/people"' in ada.get(large).text
    assert "This backup is encrypted" in ada.get(f"{AT}/sealed.backup").text


def test_the_page_of_a_file_offers_only_backups_and_archives(clients: ServiceClients, ada: httpx.Client) -> None:
    """Backups and archives, also large ones, have a link; a text and a directory have none."""
    repository = repositories.find_repository(clients.database, "ada", "Snapshots")
    host = App.open(clients.service.settings)
    target = RepositoryAccess(repository, access.repository_access(Actor(repository.owner), repository, ()))
    repo = host.copies.open(repository)
    commit = refs.rev_parse(repo, "main")
    assert commit is not None
    request = RequestContext(host, {"type": "http", "headers": []})
    offered = {}
    for path in (
        "phone/my <b> backup.binproto",
        "a.db",
        "phone/notes.txt",
        "sealed.backup",
        "large.binproto",
        "phone",
    ):
        entry = trees.find(repo, read_commit(repo, commit).tree, path)
        assert isinstance(entry, TreeEntry)
        location = find_location(repo, "/ada/Snapshots", "branch", f"main/{path}")
        assert location is not None
        offered[path] = conversation_link(request, target, location, entry)
    host.close()
    assert [path for path, holds in offered.items() if not holds] == ["phone/notes.txt", "phone"]
    assert [path for path, holds in offered.items() if holds and holds.is_archive] == ["a.db"]
    assert not any(holds.exposed for holds in offered.values() if holds)


def test_a_conversation_requires_read_access_to_its_file(clients: ServiceClients, ada: httpx.Client) -> None:
    """A collaborator can open it until removed; for visitors and other users it is not found."""
    address = f"{AT}/phone/my%20%3Cb%3E%20backup.binproto"
    wait_for(lambda: "Importing the backup" not in ada.get(address).text, 60)
    clients.account("bob")
    bob = clients.open("", "bob", accept="text/html")
    visitor = clients.open("", accept="text/html")
    for path in (address, f"{address}/people", f"{AT}/none"):
        assert visitor.get(path).status_code == 404
        assert bob.get(path).status_code == 404
        assert bob.post(f"{path}/-again").status_code == 404
    owner = clients.open("/api/v1", "ada")
    owner.put("/repos/ada/Snapshots/collaborators/bob", json={"permission": "read"})
    assert bob.get(f"{address}/people").status_code == 200
    owner.delete("/repos/ada/Snapshots/collaborators/bob")
    assert bob.get(f"{address}/people").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["phone", "phone/notes.txt", "none", "", "a.db2", ".git/config", "../../etc", "elsewhere.binproto"],
)
def test_other_files_are_not_conversations(ada: httpx.Client, path: str) -> None:
    """Directories, texts, missing paths and LFS pointers without an object of the repository are not found."""
    assert ada.get(f"{AT}/{path}").status_code == 404
    for kind in ("tag", "commit", "x"):
        assert ada.get(f"/ada/Snapshots/chats/{kind}/main/a.db").status_code == 404


def test_the_page_of_a_file_leads_to_its_conversations(clients: ServiceClients, ada: httpx.Client) -> None:
    """The page of a backup links to its conversation, and that of a text file does not."""
    site = clients.open("", "ada")
    for path, offered in (("phone/my%20%3Cb%3E%20backup.binproto", True), ("phone/notes.txt", False)):
        page = site.get(f"/ada/Snapshots/src/branch/main/{path}", headers={"Accept": "text/html"}).text
        assert (f'href="{AT}/{path}"' in page) == offered


PLAIN = f"{AT}/phone/my%20%3Cb%3E%20backup.binproto"
SEALED = f"{AT}/sealed.backup"


def cached(clients: ServiceClients) -> list[Path]:
    """List the conversations in the cache of a service."""
    folder = cache_of(clients.service.settings).folder
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []


def make_public(clients: ServiceClients) -> None:
    """Let everybody read the repository."""
    clients.open("/api/v1", "ada").patch("/repos/ada/Snapshots", json={"private": False}).raise_for_status()


def test_an_archive_of_a_repository_is_never_opened(clients: ServiceClients, ada: httpx.Client) -> None:
    """The page names the command to open the untrusted database with, and nothing is imported."""
    page = ada.get(f"{AT}/a.db")
    assert page.status_code == 422
    assert "holdfast archive serve" in page.text
    assert ada.get(f"{AT}/a.db/people").status_code == 422
    assert ada.post(f"{AT}/a.db/-again", headers=EMPTY_FORM).status_code == 404
    assert cached(clients) == []
    html = ada.get("/ada/Snapshots/src/branch/main/a.db").text
    assert "holdfast archive serve" in html
    assert f'href="{AT}/a.db"' not in html


def test_visitors_start_no_import(clients: ServiceClients, ada: httpx.Client) -> None:
    """Visitors get status 403 for imports and keys, which leave no cache entry, but see a finished import."""
    make_public(clients)
    visitor = clients.open("", accept="text/html")
    first = visitor.get(PLAIN)
    assert first.status_code == 403
    assert "/login?next=" in first.text
    for number in range(30):
        sent = visitor.post(f"{SEALED}/-key", data={"key": f"{number:064}"})
        assert sent.status_code == 403
        assert "set-cookie" not in sent.headers
    assert visitor.post(f"{PLAIN}/-again", headers=EMPTY_FORM).status_code == 403
    assert cached(clients) == []
    wait_for(lambda: "Importing the backup" not in ada.get(PLAIN).text, 60)
    assert f'href="{PLAIN}/people"' in visitor.get(PLAIN).text
    assert visitor.post(f"{PLAIN}/-again", headers=EMPTY_FORM).status_code == 403
    assert len(cached(clients)) == 1


def test_only_writers_delete_a_finished_import(clients: ServiceClients, ada: httpx.Client) -> None:
    """A reader can neither restart nor delete the import; a writer can restart it."""
    clients.account("bob")
    clients.open("/api/v1", "ada").put("/repos/ada/Snapshots/collaborators/bob", json={"permission": "read"})
    bob = clients.open("", "bob", accept="text/html")
    wait_for(lambda: "Importing the backup" not in ada.get(PLAIN).text, 60)
    assert bob.post(f"{PLAIN}/-again", headers=EMPTY_FORM).status_code == 403
    assert bob.post(f"{PLAIN}/-forget", headers=EMPTY_FORM).status_code == 404
    assert bob.post(f"{PLAIN}/-key", data={"key": "a" * 64}).status_code == 404
    assert "people" in bob.get(PLAIN).text
    assert ada.post(f"{PLAIN}/-again", headers=EMPTY_FORM).status_code == 303
    assert cached(clients) == []


def test_a_wrong_key_is_reported_at_once_and_leaves_no_entry(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response to a wrong key has status 422 and sets no cookie, and the cache stays empty."""
    # A busy machine takes longer to check a key than a person would wait.
    monkeypatch.setattr(host_pages, "KEY_WAIT_S", 60.0)
    sent = ada.post(f"{SEALED}/-key", data={"key": "a" * 64})
    assert sent.status_code == 422
    assert 'role="alert"' in sent.text
    assert "set-cookie" not in sent.headers
    assert cached(clients) == []


def test_too_many_imports_are_refused_with_retry_after(
    clients: ServiceClients, ada: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full queue is answered with status 503, a Retry-After header and a sentence."""
    monkeypatch.setattr(cache_module, "QUEUE", 0)
    full = ada.get(PLAIN)
    assert full.status_code == 503
    assert int(full.headers["retry-after"]) > 0
    assert "Try again in" in full.text
    assert cached(clients) == []


def test_a_conversation_is_not_cached_by_browsers(clients: ServiceClients, ada: httpx.Client) -> None:
    """Pages of a conversation, of an import and of a request for a key have `Cache-Control: no-store`."""
    responses = [ada.get(PLAIN), ada.get(SEALED), ada.get(f"{AT}/a.db")]
    wait_for(lambda: "Importing the backup" not in ada.get(PLAIN).text, 60)
    responses += [ada.get(f"{PLAIN}/{path}") for path in ("", "people", "search?q=the", "about")]
    assert {response.headers["cache-control"] for response in responses} == {"no-store"}


def test_a_plain_backup_in_a_public_repository_has_a_warning(clients: ServiceClients, ada: httpx.Client) -> None:
    """The owner sees the warning on the pages of the file and the conversation, and a visitor does not."""
    file = "/ada/Snapshots/src/branch/main/phone/my%20%3Cb%3E%20backup.binproto"
    words = "These chats are public"
    assert words not in ada.get(file).text
    make_public(clients)
    assert words in ada.get(file).text
    assert words in ada.get(PLAIN).text
    assert words in ada.get("/ada/Snapshots/src/branch/main/a.db").text
    assert words not in ada.get("/ada/Snapshots/src/branch/main/sealed.backup").text
    assert words not in ada.get(SEALED).text
    assert words not in clients.open("", accept="text/html").get(file).text
