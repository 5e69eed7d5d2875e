"""The folders of repositories."""

import os
import stat
import threading
import time
from pathlib import Path
from unittest import mock

import pygit2
import pytest

from holdfast.hosting.errors import FolderExists, GitError, GitFailed, NoSuchFolder, StorageUnavailable
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.git.program import run


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Keep repositories in a folder that is not there yet."""
    (tmp_path / "data").mkdir()
    return Folders(tmp_path / "data" / "repositories")


def test_a_repository_lies_where_its_id_says(folders: Folders) -> None:
    """The low byte spreads them over 256 folders; the id names them."""
    assert folders.path(815) == folders.root / "2f" / "815.git"
    assert folders.path(1) == folders.root / "01" / "1.git"


@pytest.mark.parametrize("repository_id", [0, -1, 2**63, 10**30])
def test_what_is_no_id_has_no_place(folders: Folders, repository_id: int) -> None:
    """Numbers no repository can have are refused, whatever they would name."""
    with pytest.raises(NoSuchFolder):
        folders.path(repository_id)


def test_a_new_repository_is_empty_bare_and_has_its_branch(folders: Folders) -> None:
    """The library opens it; HEAD names the branch; there are no hooks in it."""
    place = folders.create(7, default_branch="trunk/v2")
    repository = pygit2.Repository(str(place))
    assert repository.is_bare
    assert repository.head_is_unborn
    assert not list(repository.references)
    assert (place / "HEAD").read_text() == "ref: refs/heads/trunk/v2\n"
    assert not (place / "hooks").exists()
    assert folders.exists(7)
    assert folders.existing(7) == place
    assert not list((folders.root / ".making").iterdir())


def test_a_second_one_of_the_same_id_is_refused(folders: Folders) -> None:
    """What is on disk is never replaced."""
    place = folders.create(7)
    (place / "mine").touch()
    with pytest.raises(FolderExists):
        folders.create(7)
    assert (place / "mine").exists()


def test_of_two_who_make_the_same_one_wins(folders: Folders) -> None:
    """Whoever comes second is told; nothing is left half-made."""
    refused: list[FolderExists] = []
    start = threading.Barrier(4)

    def make() -> None:
        start.wait()
        try:
            folders.create(7)
        except FolderExists as error:
            refused.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 3
    assert not list((folders.root / ".making").iterdir())


def test_a_branch_git_would_not_have_leaves_nothing(folders: Folders) -> None:
    """A refused default branch makes no repository."""
    with pytest.raises(GitFailed):
        folders.create(7, default_branch="..")
    assert not folders.exists(7)
    assert not list((folders.root / ".making").iterdir())


def test_repositories_have_sha1_ids_whatever_the_library_can(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A library that opens SHA-256 repositories switches nothing on: objects are written with SHA-1 ids."""
    monkeypatch.setattr(pygit2, "Repository", lambda *_arguments: mock.Mock())
    with pytest.raises(GitError, match="cannot keep sha256"):
        folders.create(8, object_format="sha256")
    assert not folders.exists(8)


def test_a_deleted_repository_is_gone(folders: Folders) -> None:
    """Its folder and its bytes are gone; deleting it again is no error."""
    folders.create(7)
    folders.delete(7)
    assert not folders.exists(7)
    assert not list((folders.root / ".leaving").iterdir())
    folders.delete(7)
    with pytest.raises(NoSuchFolder, match="repository 7 is not on disk"):
        folders.existing(7)


def test_all_ids_are_those_of_repositories(folders: Folders) -> None:
    """Other names, and repositories in the wrong place, are not listed."""
    for repository_id in (1, 257, 815):
        folders.create(repository_id)
    for stray in ("01/notes.git", "01/0257.git", "02/257.git", "zz/1.git"):
        (folders.root / stray).mkdir(parents=True)
    assert set(folders.all_ids()) == {1, 257, 815}
    assert set(Folders(folders.root / "nothing").all_ids()) == set()


def test_its_size_counts_every_file(folders: Folders) -> None:
    """Objects that are added make it larger by at least their bytes."""
    place = folders.create(7)
    before = folders.size(7)
    run(place, "hash-object", "-w", "--stdin", input=os.urandom(100_000))
    assert folders.size(7) >= before + 100_000
    with pytest.raises(NoSuchFolder):
        folders.size(8)


def test_a_sweep_clears_what_a_crash_left(folders: Folders) -> None:
    """Old half-made and half-deleted ones go; young ones may be someone's work; whole ones stay."""
    folders.create(7)
    for name in (".making", ".leaving"):
        (folders.root / name / "left" / "9.git").mkdir(parents=True)
    folders.sweep()
    assert (folders.root / ".making" / "left").exists()
    folders.sweep(now=time.time() + 7200)
    assert not (folders.root / ".making" / "left").exists()
    assert not (folders.root / ".leaving" / "left").exists()
    assert folders.exists(7)


def test_what_is_on_its_way_is_gone_afterwards(folders: Folders) -> None:
    """Whatever was put there."""
    with folders.incoming() as place:
        (place / "body").write_bytes(b"x")
    assert not place.exists()


def test_a_data_folder_that_is_gone_is_not_made_again(folders: Folders) -> None:
    """What was kept elsewhere meanwhile would be missed once it is back."""
    folders.root.parent.rmdir()
    with pytest.raises(StorageUnavailable):
        folders.create(1)
    assert not folders.root.parent.exists()


def test_nobody_else_can_look_into_what_is_made(folders: Folders) -> None:
    """Whatever the umask."""
    before = os.umask(0)
    try:
        folders.create(1)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folders.root.stat().st_mode) == 0o700
