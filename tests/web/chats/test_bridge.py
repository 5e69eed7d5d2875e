"""Backups that lie in repositories, for whoever may read the file."""

import base64
import hashlib
from pathlib import Path

import httpx
import pytest

from holdfast.backup.convert import To
from holdfast.backup.made_up import write_sample
from holdfast.backup.sample import sample_records
from holdfast.hosting import access
from holdfast.hosting.access import Caller
from holdfast.hosting.api.call import Call
from holdfast.hosting.api.guards import Place
from holdfast.hosting.api.headers import Headers
from holdfast.hosting.git import refs, trees
from holdfast.hosting.git.commits import read_commit
from holdfast.hosting.git.lfs.pointer import Pointer
from holdfast.hosting.git.repository import open_repository
from holdfast.hosting.git.trees import Entry
from holdfast.hosting.host import Host
from holdfast.hosting.store import repositories
from holdfast.web.chats.bridge import offers_conversation
from tests.backup.archive.histories import copies, imported, write
from tests.backup.streams import KEYS
from tests.conftest import wait_for
from tests.hosting.conftest import world
from tests.hosting.world import World

__all__ = ["world"]

AT = "/ada/Snapshots/chats/branch/main"


@pytest.fixture
def ada(world: World, tmp_path: Path) -> httpx.Client:
    """Make a private repository with a backup, an archive, a text, an encrypted backup and a large file."""
    ada = world.user("ada")
    ada.post(
        "/user/repos", json={"name": "Snapshots", "private": True, "auto_init": True, "default_branch": "main"}
    )
    source = write(tmp_path / "one", *copies())
    imported(tmp_path / "a.db", source)
    write_sample(sample_records(20, 1), tmp_path / "sealed", To.CONTAINER, seed=1, keys=KEYS)
    large = write(tmp_path / "large", *copies(61)).read_bytes()
    stored = Pointer(hashlib.sha256(large).hexdigest(), len(large))
    world.open("/ada/Snapshots.git/info/lfs", "ada").put(f"/objects/{stored.oid}/{stored.size}", content=large)
    elsewhere = Pointer("0" * 64, 100)
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
    return world.open("", "ada", accept="text/html")


def test_a_file_is_shown_as_a_conversation(ada: httpx.Client) -> None:
    """Below the frame of its repository, with one heading; pages of it lie below its own address."""
    address = f"{AT}/phone/my%20%3Cb%3E%20backup.binproto"
    assert "Reading the backup" in ada.get(address).text
    wait_for(lambda: "Reading the backup" not in ada.get(address).text, 60)
    page = ada.get(address).text
    assert page.count("<h1") == 1
    assert "my <b> backup" not in page
    assert f'href="{address}/search"' in page
    found = ada.get(f"{address}/search?q=the").text
    assert "<mark>" in found
    assert ada.get(f"{address}/nope").status_code == 404
    large = f"{AT}/large.binproto"
    wait_for(lambda: "Reading the backup" not in ada.get(large).text, 60)
    assert f'href="{large}/people"' in ada.get(large).text
    archive = f"{AT}/a.db"
    wait_for(lambda: "Reading the backup" not in ada.get(archive).text, 60)
    assert f'href="{archive}/people"' in ada.get(archive).text
    assert "This backup is encrypted" in ada.get(f"{AT}/sealed.backup").text


def test_the_page_of_a_file_knows_what_to_offer(world: World, ada: httpx.Client) -> None:
    """Backups and archives, also large ones; not texts, and not what might be anything."""
    repository = repositories.find_repository(world.database, "ada", "Snapshots")
    host = Host.open(world.service.settings)
    place = Place(repository, access.repository_access(Caller(repository.owner), repository, ()))
    repo = open_repository(host.folders.existing(repository.id))
    commit = refs.rev_parse(repo, "main")
    assert commit is not None
    call = Call(host, {"type": "http"}, Headers({"headers": []}), {}, "")
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
        assert isinstance(entry, Entry)
        offered[path] = offers_conversation(call, place, repo, entry)
    host.close()
    assert [path for path, holds in offered.items() if not holds] == ["phone/notes.txt", "phone"]


def test_who_may_not_read_the_file_does_not_see_it(world: World, ada: httpx.Client) -> None:
    """Strangers and visitors find nothing, a reader does, and no longer once they may not read it any more."""
    address = f"{AT}/phone/my%20%3Cb%3E%20backup.binproto"
    wait_for(lambda: "Reading the backup" not in ada.get(address).text, 60)
    world.account("bob")
    bob = world.open("", "bob", accept="text/html")
    visitor = world.open("", accept="text/html")
    for path in (address, f"{address}/people", f"{AT}/none"):
        assert visitor.get(path).status_code == 404
        assert bob.get(path).status_code == 404
        assert bob.post(f"{path}/-again").status_code == 404
    owner = world.open("/api/v1", "ada")
    owner.put("/repos/ada/Snapshots/collaborators/bob", json={"permission": "read"})
    assert bob.get(f"{address}/people").status_code == 200
    owner.delete("/repos/ada/Snapshots/collaborators/bob")
    assert bob.get(f"{address}/people").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["phone", "phone/notes.txt", "none", "", "a.db2", ".git/config", "../../etc", "elsewhere.binproto"],
)
def test_other_files_are_no_conversations(ada: httpx.Client, path: str) -> None:
    """Directories, texts, what is not there, and pointers to objects of others."""
    assert ada.get(f"{AT}/{path}").status_code == 404
    for kind in ("tag", "commit", "x"):
        assert ada.get(f"/ada/Snapshots/chats/{kind}/main/a.db").status_code == 404


def test_the_page_of_a_file_leads_to_its_conversations(world: World, ada: httpx.Client) -> None:
    """Of a backup, also of a large one; a text has none."""
    site = world.open("", "ada")
    for path, offered in (("phone/my%20%3Cb%3E%20backup.binproto", True), ("phone/notes.txt", False)):
        page = site.get(f"/ada/Snapshots/src/branch/main/{path}", headers={"Accept": "text/html"}).text
        assert (f'href="{AT}/{path}"' in page) == offered
