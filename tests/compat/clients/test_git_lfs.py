"""The `git-lfs` program against the service: uploads, downloads, locks and permissions."""

import secrets
from collections.abc import Callable

import pytest

from tests.compat.clients.people import Person
from tests.compat.clients.runtimes import program

Make = Callable[[str], Person]
on_sqlite = pytest.mark.parametrize("settings", ["sqlite"], indirect=True)


@pytest.fixture(autouse=True)
def installed() -> None:
    """Skip the tests if git-lfs is not installed."""
    program("git-lfs", "git-lfs")


def with_large_file(who: Person, repository: str, content: bytes) -> None:
    """Clone a repository, and commit a file that Git LFS stores."""
    who.git("lfs", "install", "--skip-repo")
    who.clone(repository, "work")
    who.git("lfs", "track", "*.bin", inside="work")
    who.commit("work", "large.bin", content)


def test_a_large_file_is_pushed_and_cloned(person: Make) -> None:
    """The repository contains an LFS pointer, and a clone contains the file."""
    ada, bob = person("ada"), person("bob")
    ada.make("films", private=True)
    ada.share("films", bob, "read")
    content = secrets.token_bytes(3 * 2**20)
    with_large_file(ada, "ada/films", content)
    ada.git("push", "--quiet", inside="work")
    bob.git("lfs", "install", "--skip-repo")
    assert (bob.clone("ada/films", "copy") / "large.bin").read_bytes() == content
    assert "version https://git-lfs" in bob.git("cat-file", "-p", "HEAD:large.bin", inside="copy")
    bob.git("lfs", "fsck", inside="copy")


@on_sqlite
@pytest.mark.parametrize("credentials", ["x-access-token:{}", "{}:x-oauth-basic"])
def test_a_token_is_enough_under_any_name(person: Make, credentials: str) -> None:
    """A token works as the user name or as the password, for the LFS batch, upload and download."""
    ada = person("ada")
    ada.make("films", private=True)
    address = ada.url("ada/films").replace(f"ada:{ada.token}", credentials.format(ada.token))
    with_large_file(ada, "ada/films", b"\1" * 70_000)
    ada.git("push", "--quiet", address, "main", inside="work")
    ada.git("clone", "--quiet", address, "copy")
    assert (ada.folder / "copy" / "large.bin").read_bytes() == b"\1" * 70_000


@on_sqlite
def test_an_unchanged_file_is_uploaded_once(person: Make) -> None:
    """Pushing a renamed file, and pushing all objects again, succeeds."""
    ada = person("ada")
    ada.make("films")
    with_large_file(ada, "ada/films", b"\0" * 70_000)
    ada.git("push", "--quiet", inside="work")
    ada.git("mv", "large.bin", "moved.bin", inside="work")
    ada.git("commit", "--quiet", "--message", "Move it", inside="work")
    ada.git("push", "--quiet", inside="work")
    ada.git("lfs", "push", "--all", "origin", inside="work")


@on_sqlite
def test_uploading_requires_write_access(person: Make) -> None:
    """Anybody can download from a public repository, and an upload without write access stores nothing."""
    ada, eve = person("ada"), person("eve")
    ada.make("films")
    with_large_file(ada, "ada/films", b"a film" * 1000)
    ada.git("push", "--quiet", inside="work")
    eve.git("lfs", "install", "--skip-repo")
    eve.git("clone", "--quiet", f"{ada.service.url}/ada/films.git", "copy")
    assert (eve.folder / "copy" / "large.bin").read_bytes() == b"a film" * 1000
    eve.commit("copy", "other.bin", b"a forgery" * 1000)
    eve.git("lfs", "push", eve.url("ada/films"), "main", inside="copy", fails=True)
    folder = ada.service.settings.data / "lfs"
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1


@on_sqlite
def test_locks_belong_to_their_creator(person: Make) -> None:
    """A lock blocks pushes of others; a writer can remove it with `--force`, and a reader cannot."""
    ada, bob, eve = person("ada"), person("bob"), person("eve")
    ada.make("films", private=True)
    ada.share("films", bob, "write")
    ada.share("films", eve, "read")
    with_large_file(ada, "ada/films", b"a film" * 1000)
    ada.git("push", "--quiet", inside="work")
    bob.git("lfs", "install", "--skip-repo")
    bob.clone("ada/films", "copy")
    bob.git("lfs", "lock", "large.bin", inside="copy")
    assert "bob" in ada.git("lfs", "locks", inside="work").lower()
    assert "already created lock" in ada.git("lfs", "lock", "large.bin", inside="work", fails=True)
    ada.commit("work", "large.bin", b"another film" * 1000)
    ada.git("config", "lfs.locksverify", "true", inside="work")
    assert "bob" in ada.git("push", inside="work", fails=True).lower()
    ada.git("lfs", "unlock", "large.bin", inside="work", fails=True)
    ada.git("lfs", "unlock", "--force", "large.bin", inside="work")
    ada.git("lfs", "lock", "large.bin", inside="work")
    eve.git("lfs", "install", "--skip-repo")
    eve.clone("ada/films", "copy")
    eve.git("lfs", "unlock", "--force", "large.bin", inside="copy", fails=True)
    eve.git("lfs", "lock", "other.bin", inside="copy", fails=True)
    ada.git("lfs", "unlock", "large.bin", inside="work")
    assert ada.git("lfs", "locks", inside="work").strip() == ""
