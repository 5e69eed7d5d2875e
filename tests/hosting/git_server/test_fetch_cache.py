"""The cache of clone responses."""

import os
import shutil
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.hosting.app import App
from holdfast.hosting.git import process
from holdfast.hosting.git_server import fetch_cache, upload_pack
from holdfast.hosting.git_server.fetch_cache import FetchCache
from holdfast.hosting.store.repositories import find_repository
from holdfast.hosting.store.repository_log import NOT_ADOPTED
from tests.hosting.api_clients import PASSWORD, ServiceClients
from tests.hosting.git_client import Git, address


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """List the runs of git that respond to clients; one that computes a pack with "pack" at the end."""
    started: list[str] = []

    def stream(folder: Path, *arguments: str, **options: Any) -> AsyncGenerator[bytes, None]:
        body = os.pread(options["stdin"], 1 << 16, 0) if options.get("stdin") is not None else b""
        makes_pack = b"command=fetch" in body
        started.append(" ".join(arguments[:3]).replace(str(folder), "") + " pack" * makes_pack)
        return process.stream(folder, *arguments, **options)

    monkeypatch.setattr(upload_pack, "stream", stream)
    return started


@pytest.fixture
def work(clients: ServiceClients, tmp_path: Path) -> Git:
    """Make a user with a private repository, and a working copy with one commit that is pushed."""
    clients.account("ada")
    clients.account("eve")
    body = {"name": "notes", "private": True, "default_branch": "trunk"}
    assert clients.anonymous.post("/user/repos", json=body, auth=("ada", PASSWORD)).status_code == 201
    git = Git(tmp_path / "work")
    git("init", "-q", "-b", "trunk")
    git.commit("a.txt", "one\n")
    git("remote", "add", "origin", address(clients.service.url, "ada", PASSWORD, "ada/notes"))
    git("push", "-q", "origin", "trunk")
    return git


@pytest.fixture
def cache_folder(clients: ServiceClients) -> Path:
    """Return the folder of the responses."""
    return clients.service.settings.data / "cache" / "fetches"


def clone(clients: ServiceClients, target: Path, *options: str) -> Git:
    """Clone the repository."""
    copy = Git(target)
    copy("clone", "-q", *options, address(clients.service.url, "ada", PASSWORD, "ada/notes"), ".")
    copy("fsck", "--strict")
    return copy


def kept_files(folder: Path) -> set[str]:
    """List the responses that are kept as files."""
    return {path.name for path in folder.iterdir()} if folder.is_dir() else set()


def test_the_second_clone_runs_no_git(
    clients: ServiceClients, work: Git, tmp_path: Path, runs: list[str], cache_folder: Path
) -> None:
    """A second clone is answered from the cached refs and the cached pack, with the same content."""
    first = clone(clients, tmp_path / "first")
    assert len(runs) == 3
    assert len(kept_files(cache_folder)) == 1
    second = clone(clients, tmp_path / "second")
    assert len(runs) == 3
    assert first("rev-parse", "HEAD") == second("rev-parse", "HEAD") == work("rev-parse", "HEAD")
    assert (second.folder / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize("options", [["--depth=1"], ["--filter=blob:none"], ["-c", "protocol.version=0"]])
def test_each_kind_of_clone_is_cached_apart(
    clients: ServiceClients, work: Git, tmp_path: Path, runs: list[str], options: list[str]
) -> None:
    """Shallow, blobless and protocol 0 clones have cache entries of their own."""
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk")
    clone(clients, tmp_path / "whole")
    counts = [clone(clients, tmp_path / f"copy{n}", *options)("rev-list", "--count", "HEAD") for n in range(2)]
    assert counts == (["1", "1"] if "--depth=1" in options else ["2", "2"])
    created = len(runs)
    clone(clients, tmp_path / "again", *options)
    assert len(runs) == created


def test_a_clone_after_a_change_is_current(clients: ServiceClients, work: Git, tmp_path: Path) -> None:
    """A push, a commit through the API, a deleted branch and another default branch each make a new version."""
    clone(clients, tmp_path / "before")
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk", "trunk:side")
    assert (clone(clients, tmp_path / "pushed").folder / "b.txt").read_text() == "two\n"
    ada = ("ada", PASSWORD)
    body = {"content": "dGhyZWUK", "branch": "trunk"}
    assert clients.anonymous.post("/repos/ada/notes/contents/c.txt", json=body, auth=ada).status_code == 201
    assert (clone(clients, tmp_path / "committed").folder / "c.txt").read_text() == "three\n"
    clients.anonymous.patch("/repos/ada/notes", json={"default_branch": "side"}, auth=ada)
    assert clone(clients, tmp_path / "default")("branch", "--show-current") == "side"
    assert clients.anonymous.delete("/repos/ada/notes/branches/trunk", auth=ada).status_code == 204
    assert clone(clients, tmp_path / "deleted")("branch", "--remotes", "--list", "origin/trunk") == ""


def test_a_fetch_is_not_cached(clients: ServiceClients, work: Git, tmp_path: Path, cache_folder: Path) -> None:
    """A fetch depends on the commits of its client, so that its response is not cached."""
    copy = clone(clients, tmp_path / "copy")
    before = kept_files(cache_folder)
    work.commit("b.txt", "two\n")
    work("push", "-q", "origin", "trunk")
    copy("pull", "-q")
    assert kept_files(cache_folder) == before
    assert copy("rev-parse", "HEAD") == work("rev-parse", "HEAD")


@pytest.mark.usefixtures("work")
def test_cached_clones_require_read_access(clients: ServiceClients, tmp_path: Path) -> None:
    """Read access is checked before the cache is searched: others get "not found" or a login prompt."""
    mine = clone(clients, tmp_path / "mine")
    stranger = mine.try_to("clone", "-q", address(clients.service.url, "eve", PASSWORD, "ada/notes"), "theirs")
    assert "not found" in stranger.stderr
    nobody = mine.try_to("clone", "-q", f"{clients.service.url}/ada/notes.git", "theirs")
    assert "could not read Username" in nobody.stderr


@pytest.mark.usefixtures("work")
def test_many_clones_at_once_share_one_pack(clients: ServiceClients, tmp_path: Path, runs: list[str]) -> None:
    """Eight concurrent clones compute the pack once; only lists of refs may be computed several times."""
    with ThreadPoolExecutor(8) as threads:
        copies = list(threads.map(lambda n: clone(clients, tmp_path / f"copy{n}"), range(8)))
    assert len({copy("rev-parse", "HEAD") for copy in copies}) == 1
    assert sum(run.endswith(" pack") for run in runs) == 1


@pytest.mark.usefixtures("work")
def test_an_error_of_git_is_not_cached(clients: ServiceClients, tmp_path: Path, runs: list[str]) -> None:
    """A failed fetch of an unknown commit runs git again, because the commit may exist later."""
    git = Git(tmp_path / "other")
    git("init", "-q")
    for _ in range(2):
        runs.clear()
        refused = git.try_to("fetch", address(clients.service.url, "ada", PASSWORD, "ada/notes"), "1" * 40)
        assert "not our ref" in refused.stderr
        assert any("advertise" not in run for run in runs)


@pytest.mark.usefixtures("work")
def test_nothing_is_cached_on_a_full_disk(
    clients: ServiceClients, tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clones work without the cache if the disk is full, the repository too large or the folder missing."""
    monkeypatch.setattr(fetch_cache, "FREE_BYTES", shutil.disk_usage(tmp_path).total * 2)
    clone(clients, tmp_path / "full")
    monkeypatch.undo()
    monkeypatch.setattr(fetch_cache, "LARGEST_SHARE", 2**40)
    clone(clients, tmp_path / "large")
    monkeypatch.undo()
    assert kept_files(cache_folder) == set()
    shutil.rmtree(cache_folder)
    cache_folder.write_text("in the way")
    clone(clients, tmp_path / "no-folder")


@pytest.mark.usefixtures("work")
def test_the_cache_can_be_disabled_and_requires_adoption(clients: ServiceClients) -> None:
    """A size of 0 disables the cache, and a repository without a version in the log is not cached."""
    settings = clients.service.settings
    repository = find_repository(clients.database, "ada", "notes")
    with closing(App.open(settings)) as app:
        assert FetchCache(app, repository).enabled
        assert not FetchCache(app, msgspec.structs.replace(repository, version=NOT_ADOPTED)).enabled
    with closing(App.open(msgspec.structs.replace(settings, clone_cache_mb=0))) as app:
        assert not FetchCache(app, repository).enabled


@pytest.mark.usefixtures("work")
def test_without_the_cache_git_makes_every_response(
    clients: ServiceClients, tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each clone runs git for the refs and the pack if the cache is disabled."""
    monkeypatch.setattr(FetchCache, "enabled", False)
    for number in range(2):
        clone(clients, tmp_path / f"copy{number}")
        assert len(runs) == 3 * (number + 1)


@pytest.mark.usefixtures("work")
def test_cached_responses_are_deleted_with_the_repository(
    clients: ServiceClients, tmp_path: Path, cache_folder: Path
) -> None:
    """The deletion of a repository removes its cached clone responses."""
    clone(clients, tmp_path / "copy")
    assert kept_files(cache_folder)
    assert clients.anonymous.delete("/repos/ada/notes", auth=("ada", PASSWORD)).status_code == 204
    assert not kept_files(cache_folder)
