"""The `git` and `git-lfs` programs over HTTP and SSH, with user keys and deploy keys."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from holdfast.hosting.app import App
from tests.compat.clients.people import Person
from tests.compat.clients.runtimes import program
from tests.conftest import Service
from tests.hosting.ssh_key_helpers import new_key, public_text
from tests.hosting.ssh_server import SshService, serve_ssh

Make = Callable[[str], Person]
pytestmark = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
TRANSPORTS = ("http", "ssh")


@dataclass(frozen=True)
class Transports:
    """The URLs of the repositories of a service, by transport."""

    ssh: SshService

    def give_key(self, who: Person) -> None:
        """Make a key, add it over the API, and let the person's git use it."""
        key = new_key()
        body = {"title": "laptop", "key": public_text(key)}
        response = who.api.post("/user/keys", json=body)
        assert response.status_code == 201, response.text
        self.use_key(who, key.export_private_key("openssh"))

    def use_key(self, who: Person, private: bytes) -> None:
        """Let a person's git use a key, and no other."""
        file = who.folder / "id"
        file.touch(mode=0o600)
        file.write_bytes(private)
        known = self.ssh.folder / "known_hosts"
        options = ("-F", "/dev/null", "-i", str(file), "-o", "IdentitiesOnly=yes", "-o", "IdentityAgent=none")
        trusted = ("-o", "StrictHostKeyChecking=yes", "-o", f"UserKnownHostsFile={known}")
        command = " ".join((program("ssh", "openssh-client"), *options, *trusted))
        who.git("config", "--global", "core.sshCommand", command)

    def address(self, transport: str, who: Person, path: str) -> str:
        """Return the address of a repository for a person."""
        return who.url(path) if transport == "http" else f"ssh://git@localhost:{self.ssh.port}/{path}.git"


@pytest.fixture
def transports(service: Service, tmp_path: Path) -> Iterator[Transports]:
    """Serve SSH beside HTTP, on the same data."""
    program("git-lfs", "git-lfs")
    settings = msgspec.structs.replace(service.settings, root_url=service.url)
    with closing(App.open(settings)) as app, serve_ssh(app, tmp_path / "ssh") as running:
        yield Transports(running)


def work_of(who: Person, address: str, content: bytes) -> str:
    """Clone a repository, commit a text and a large file, and return the commit."""
    who.git("lfs", "install", "--skip-repo")
    who.git("clone", "--quiet", address, "work")
    who.git("lfs", "track", "*.bin", inside="work")
    who.commit("work", "notes.txt", "by the sea\n")
    return who.commit("work", "film.bin", content)


@pytest.mark.parametrize("reading", TRANSPORTS)
@pytest.mark.parametrize("writing", TRANSPORTS)
def test_a_push_over_one_transport_is_cloned_over_the_other(
    person: Make, transports: Transports, writing: str, reading: str
) -> None:
    """A collaborator clones commits and LFS files of a private repository over either transport."""
    ada, bob = person("ada"), person("bob")
    ada.make("films", private=True)
    ada.share("films", bob, "read")
    for who in (ada, bob):
        transports.give_key(who)
    content = secrets.token_bytes(300_000)
    head = work_of(ada, transports.address(writing, ada, "ada/films"), content)
    ada.git("push", "--quiet", inside="work")
    assert ada.api.get("/repos/ada/films/branches/main").json()["commit"]["id"] == head
    bob.git("lfs", "install", "--skip-repo")
    bob.git("clone", "--quiet", transports.address(reading, bob, "ada/films"), "copy")
    assert bob.git("rev-parse", "HEAD", inside="copy").strip() == head
    assert (bob.folder / "copy" / "film.bin").read_bytes() == content
    assert "version https://git-lfs" in bob.git("cat-file", "-p", "HEAD:film.bin", inside="copy")
    bob.git("lfs", "fsck", inside="copy")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_collaborator_with_read_access_cannot_push(person: Make, transports: Transports, transport: str) -> None:
    """A push by a reader fails for commits and for LFS objects, and nothing is stored."""
    ada, eve = person("ada"), person("eve")
    ada.make("films", private=True)
    ada.share("films", eve, "read")
    transports.give_key(eve)
    before = ada.api.get("/repos/ada/films/branches/main").json()["commit"]["id"]
    work_of(eve, transports.address(transport, eve, "ada/films"), b"a forgery" * 1000)
    eve.git("push", inside="work", fails=True)
    eve.git("lfs", "push", "origin", "main", inside="work", fails=True)
    eve.git("-c", "core.hooksPath=/dev/null", "push", inside="work", fails=True)
    assert ada.api.get("/repos/ada/films/branches/main").json()["commit"]["id"] == before
    assert stored_files(ada) == 0


def test_a_read_only_deploy_key_clones_and_cannot_push(person: Make, transports: Transports) -> None:
    """The key clones its repository with the LFS files, cannot push, and cannot clone another repository."""
    ada, runner = person("ada"), person("runner")
    for name in ("films", "diary"):
        ada.make(name, private=True)
    transports.give_key(ada)
    content = secrets.token_bytes(70_000)
    address = transports.address("ssh", ada, "ada/films")
    work_of(ada, address, content)
    ada.git("push", "--quiet", inside="work")
    key = new_key()
    body = {"title": "CI", "key": public_text(key), "read_only": True}
    assert ada.api.post("/repos/ada/films/keys", json=body).status_code == 201
    transports.use_key(runner, key.export_private_key("openssh"))
    runner.git("lfs", "install", "--skip-repo")
    runner.git("clone", "--quiet", address, "work")
    assert (runner.folder / "work" / "film.bin").read_bytes() == content
    runner.commit("work", "other.bin", b"a forgery" * 1000)
    assert "may only read" in runner.git("push", inside="work", fails=True)
    runner.git("lfs", "push", "origin", "main", inside="work", fails=True)
    runner.git("-c", "core.hooksPath=/dev/null", "push", inside="work", fails=True)
    runner.git("clone", transports.address("ssh", runner, "ada/diary"), "other", fails=True)
    assert stored_files(ada) == 1


def test_a_deploy_key_with_write_access_pushes_to_its_repository_only(
    person: Make, transports: Transports
) -> None:
    """The key pushes commits and LFS files to its repository and cannot push to another one."""
    ada, runner = person("ada"), person("runner")
    for name in ("films", "diary"):
        ada.make(name)
    key = new_key()
    body = {"title": "CI", "key": public_text(key), "read_only": False}
    assert ada.api.post("/repos/ada/films/keys", json=body).status_code == 201
    transports.use_key(runner, key.export_private_key("openssh"))
    head = work_of(runner, transports.address("ssh", runner, "ada/films"), b"a film" * 1000)
    runner.git("push", "--quiet", inside="work")
    assert ada.api.get("/repos/ada/films/branches/main").json()["commit"]["id"] == head
    assert stored_files(ada) == 1
    runner.git("push", transports.address("ssh", runner, "ada/diary"), "main:side", inside="work", fails=True)


def stored_files(who: Person) -> int:
    """Return the number of LFS objects that the service stores."""
    return len([path for path in (who.service.settings.data / "lfs").rglob("*") if path.is_file()])
