"""Pushes whose packs are not what git would send."""

import shutil
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import delete

from holdfast.hosting.app import App
from holdfast.hosting.store import repositories, repository_log
from holdfast.hosting.store.repositories import Repository
from holdfast.hosting.store.tables import packs
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address

ZERO = "0" * 40


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Make a repository with a branch and a working copy of it."""
    clients.user("ada").post("/user/repos", json={"name": "notes"})
    made = Git(tmp_path / "work")
    made("init", "-q", "-b", "main")
    made("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    made.commit("a.txt", "one\n")
    made("push", "-q", "origin", "main")
    return made


def pack_of(work: Git, *ids: str) -> bytes:
    """Make a pack of these objects alone."""
    given = "".join(f"{one}\n" for one in ids).encode()
    command = ["git", "pack-objects", "--stdout", "-q"]
    return subprocess.run(command, cwd=work.folder, input=given, check=True, capture_output=True).stdout


def push(clients: ServiceClients, ref: str, target: str, pack: bytes) -> bytes:
    """Push a new ref with any pack, and return the response."""
    line = f"{ZERO} {target} {ref}\0report-status".encode()
    body = b"%04x%b0000%b" % (len(line) + 4, line, pack)
    headers = {"Content-Type": "application/x-git-receive-pack-request"}
    with clients.service.client() as client:
        answer = client.post(
            "/ada/notes.git/git-receive-pack", content=body, headers=headers, auth=("ada", PASSWORD)
        )
    assert answer.status_code == 200
    return answer.content


def delete_packs_after(clients: ServiceClients, repository: Repository, version: int) -> None:
    """Delete packs from the log, as garbage collection on another machine does: the local copy has them still."""
    with clients.database.write() as connection:
        statement = delete(packs).where(packs.c.repository_id == repository.id, packs.c.version > version)
        assert connection.execute(statement).rowcount == 1


def test_objects_that_only_the_local_copy_has_are_recorded(
    clients: ServiceClients, app: App, work: Git, tmp_path: Path
) -> None:
    """Git takes a pack without them, because they are there; after the copy is lost they would be nowhere."""
    repository = repositories.find_repository(clients.database, "ada", "notes")
    version = repository_log.current_version(clients.database, repository.id)
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "main:topic")
    work("push", "-q", "origin", ":topic")
    delete_packs_after(clients, repository, version)
    made = work("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-m", "three")
    assert b"ok refs/heads/again" in push(clients, "refs/heads/again", made, pack_of(work, made))
    shutil.rmtree(app.folders.path(repository.id))
    clone = Git(tmp_path / "clone")
    clone("clone", "-q", "-b", "again", address(clients.service.url, "ada", PASSWORD, "ada/notes"), ".")
    clone("fsck", "--strict", "--full")
    assert clone("rev-parse", "HEAD") == made
    assert (clone.folder / "b.txt").read_text(encoding="utf-8") == "two\n"


def test_a_pack_without_objects_that_are_nowhere_is_rejected(clients: ServiceClients, work: Git) -> None:
    """The ref is not created."""
    work.commit("b.txt", "two\n")
    head = work("rev-parse", "HEAD")
    assert b"ok refs/heads/topic" not in push(clients, "refs/heads/topic", head, pack_of(work, head))
    assert work("ls-remote", "origin", "refs/heads/topic") == ""
