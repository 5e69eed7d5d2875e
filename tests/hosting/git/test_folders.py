"""The folders of repositories: paths, sizes, deletion and permissions."""

import os
import stat
import time
from pathlib import Path

import pytest

from holdfast.hosting.errors import NoSuchFolder, StorageUnavailable
from holdfast.hosting.git.folders import Folders, list_folder
from holdfast.hosting.git.program import run
from tests.hosting.git.oracle import new_repository


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Return the folders below a path that does not exist yet."""
    (tmp_path / "data").mkdir()
    return Folders(tmp_path / "data" / "repositories")


def test_the_path_of_a_repository_is_derived_from_its_id(folders: Folders) -> None:
    """A repository is in one of 256 folders, by the low byte of its id, and its folder is named by the id."""
    assert folders.path(815) == folders.root / "2f" / "815.git"
    assert folders.path(1) == folders.root / "01" / "1.git"


@pytest.mark.parametrize("repository_id", [0, -1, 2**63, 10**30])
def test_an_invalid_id_has_no_path(folders: Folders, repository_id: int) -> None:
    """An id of zero, a negative one and one above 63 bits raise `NoSuchFolder`."""
    with pytest.raises(NoSuchFolder):
        folders.path(repository_id)


def test_a_deleted_repository_is_gone(folders: Folders) -> None:
    """No file of a deleted repository is left, and a second deletion is no error."""
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
    """The size grows by at least the bytes of a new object."""
    path = new_repository(folders.path(7))
    before = folders.size(7)
    run(path, "hash-object", "-w", "--stdin", input=os.urandom(100_000))
    assert folders.size(7) >= before + 100_000
    with pytest.raises(NoSuchFolder):
        folders.size(8)


def test_a_sweep_deletes_files_left_by_a_crash(folders: Folders) -> None:
    """Old partial and half-deleted folders are deleted; recent ones and repositories are not."""
    new_repository(folders.path(7))
    for name in (".making", ".leaving"):
        (folders.root / name / "left" / "9.git").mkdir(parents=True)
    folders.sweep()
    assert (folders.root / ".making" / "left").exists()
    folders.sweep(now=time.time() + 7200)
    assert not (folders.root / ".making" / "left").exists()
    assert not (folders.root / ".leaving" / "left").exists()
    assert folders.exists(7)


def test_a_sweep_keeps_a_folder_in_use(folders: Folders) -> None:
    """A large repository may take longer to build or compact than the time after which a folder is left over."""
    with folders.incoming() as path:
        (path / "9.git").mkdir()
        folders.sweep(now=time.time() + 7200)
        assert (path / "9.git").exists()


def test_a_sweep_ignores_a_folder_that_is_deleted_meanwhile(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that made it may end while the folders are listed, and the others are deleted."""
    for name in ("first", "second"):
        (folders.root / ".making" / name).mkdir(parents=True)
    iterdir = Path.iterdir

    def list_and_end(path: Path) -> list[Path]:
        entries = sorted(iterdir(path))
        if path.name == ".making":
            entries[0].rmdir()
        return entries

    monkeypatch.setattr(Path, "iterdir", list_and_end)
    folders.sweep(now=time.time() + 7200)
    assert list_folder(folders.root / ".making") == []


def test_an_incoming_folder_is_deleted_afterwards(folders: Folders) -> None:
    """An incoming folder is deleted at the end of its context, with the files in it."""
    with folders.incoming() as path:
        (path / "body").write_bytes(b"x")
    assert not path.exists()


def test_a_missing_data_folder_is_not_created_again(folders: Folders) -> None:
    """A missing data folder is an error, since files in a new one would be missing when it is back."""
    folders.root.parent.rmdir()
    with pytest.raises(StorageUnavailable), folders.incoming():
        pass
    assert not folders.root.parent.exists()


def test_created_folders_are_private(folders: Folders) -> None:
    """New folders have mode 0700 even with a umask of 0."""
    before = os.umask(0)
    try:
        with folders.incoming() as path:
            assert stat.S_IMODE(path.stat().st_mode) == 0o700
    finally:
        os.umask(before)
    assert stat.S_IMODE(folders.root.stat().st_mode) == 0o700
