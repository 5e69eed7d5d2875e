"""The folders of repositories."""

import os
import stat
import time
from pathlib import Path

import pytest

from holdfast.hosting.errors import NoSuchFolder, StorageUnavailable
from holdfast.hosting.git.folders import Folders
from holdfast.hosting.git.program import run
from tests.hosting.git.oracle import new_repository


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Keep repositories in a folder that is not there yet."""
    (tmp_path / "data").mkdir()
    return Folders(tmp_path / "data" / "repositories")


def test_the_path_of_a_repository_is_derived_from_its_id(folders: Folders) -> None:
    """The low byte spreads them over 256 folders; the id names them."""
    assert folders.path(815) == folders.root / "2f" / "815.git"
    assert folders.path(1) == folders.root / "01" / "1.git"


@pytest.mark.parametrize("repository_id", [0, -1, 2**63, 10**30])
def test_an_invalid_id_has_no_path(folders: Folders, repository_id: int) -> None:
    """Numbers no repository can have are refused, whatever they would name."""
    with pytest.raises(NoSuchFolder):
        folders.path(repository_id)


def test_a_deleted_repository_is_gone(folders: Folders) -> None:
    """Its folder and its bytes are gone; deleting it again is no error."""
    new_repository(folders.path(7))
    folders.delete(7)
    assert not folders.exists(7)
    assert not list((folders.root / ".leaving").iterdir())
    folders.delete(7)
    with pytest.raises(NoSuchFolder, match="repository 7 is not on disk"):
        folders.existing(7)


def test_all_ids_are_those_of_repositories(folders: Folders) -> None:
    """Other names, and repositories in the wrong place, are not listed."""
    for repository_id in (1, 257, 815):
        new_repository(folders.path(repository_id))
    for stray in ("01/notes.git", "01/0257.git", "02/257.git", "zz/1.git"):
        (folders.root / stray).mkdir(parents=True)
    assert set(folders.all_ids()) == {1, 257, 815}
    assert set(Folders(folders.root / "nothing").all_ids()) == set()


def test_the_size_of_a_repository_counts_every_file(folders: Folders) -> None:
    """Objects that are added make it larger by at least their bytes."""
    path = new_repository(folders.path(7))
    before = folders.size(7)
    run(path, "hash-object", "-w", "--stdin", input=os.urandom(100_000))
    assert folders.size(7) >= before + 100_000
    with pytest.raises(NoSuchFolder):
        folders.size(8)


def test_a_sweep_deletes_files_left_by_a_crash(folders: Folders) -> None:
    """Old half-made and half-deleted ones go; young ones may be someone's work; whole ones stay."""
    new_repository(folders.path(7))
    for name in (".making", ".leaving"):
        (folders.root / name / "left" / "9.git").mkdir(parents=True)
    folders.sweep()
    assert (folders.root / ".making" / "left").exists()
    folders.sweep(now=time.time() + 7200)
    assert not (folders.root / ".making" / "left").exists()
    assert not (folders.root / ".leaving" / "left").exists()
    assert folders.exists(7)


def test_an_incoming_folder_is_deleted_afterwards(folders: Folders) -> None:
    """Whatever was put there."""
    with folders.incoming() as path:
        (path / "body").write_bytes(b"x")
    assert not path.exists()


def test_a_missing_data_folder_is_not_created_again(folders: Folders) -> None:
    """What was kept elsewhere meanwhile would be missed once it is back."""
    folders.root.parent.rmdir()
    with pytest.raises(StorageUnavailable), folders.incoming():
        pass
    assert not folders.root.parent.exists()


def test_created_folders_are_private(folders: Folders) -> None:
    """Whatever the umask."""
    before = os.umask(0)
    try:
        with folders.incoming() as path:
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert stat.S_IMODE(folders.root.stat().st_mode) == 0o700
