"""Refs get their files in turn from two, and nobody who reads one sees anything but what the ref once was."""

import os
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast.hosting.errors import RefMoved
from holdfast.hosting.git import atomic_write, recycled_files, ref_store
from holdfast.hosting.git.commits import Signature, build_tree, write_commit
from holdfast.hosting.git.refs import target
from holdfast.hosting.git.repository import Repo, open_repository

REF = "refs/heads/x"
ADA = Signature("Ada", "ada@example.org", 1)


@pytest.fixture
def repo(folder: Path) -> Repo:
    """Open a repository without commits."""
    return open_repository(folder)


@pytest.fixture
def ids(repo: Repo) -> list[str]:
    """Make some commits."""
    tree = build_tree(repo, {"a": b"a"})
    return [write_commit(repo, tree, (), author=ADA, committer=ADA, message=f"{number}\n") for number in range(12)]


def numbers(repo: Repo) -> tuple[int, int]:
    """Return the file numbers of the ref and of the spare file."""
    return (repo.folder / REF).stat().st_ino, (repo.folder / recycled_files.NAME).stat().st_ino


def move_all(repo: Repo, ids: list[str]) -> None:
    """Make the ref and move it along all commits."""
    ref_store.replace(repo, REF, None, ids[0])
    for old, new in pairwise(ids):
        ref_store.replace(repo, REF, old, new)
        assert target(repo, REF) == new


def test_two_files_take_turns(repo: Repo, ids: list[str]) -> None:
    """However often a ref moves, no file is made for it and none removed."""
    ref_store.replace(repo, REF, None, ids[0])
    assert not (repo.folder / recycled_files.NAME).exists()
    ref_store.replace(repo, REF, ids[0], ids[1])
    first, second = numbers(repo)
    for old, new in pairwise(ids[1:]):
        ref_store.replace(repo, REF, old, new)
        first, second = second, first
        assert numbers(repo) == (first, second)
        assert (repo.folder / recycled_files.NAME).read_text() == f"{old}\n"
        assert not (repo.folder / f"{REF}.lock").exists()
    assert list((repo.folder / "objects").glob("tmp_obj_*")) == []


def test_who_has_a_ref_open_reads_what_it_was(repo: Repo, ids: list[str]) -> None:
    """A file that somebody reads is not written, however slowly they read."""
    ref_store.replace(repo, REF, None, ids[0])
    slow = []
    for old, new in pairwise(ids):
        slow.append((old, os.open(repo.folder / REF, os.O_RDONLY)))
        ref_store.replace(repo, REF, old, new)
    for was, descriptor in slow:
        assert os.read(descriptor, 100) == f"{was}\n".encode()
        os.close(descriptor)


def test_a_copy_made_of_links_stays_what_it_was(repo: Repo, ids: list[str]) -> None:
    """A second name of a ref's file keeps what it says."""
    ref_store.replace(repo, REF, None, ids[0])
    ref_store.replace(repo, REF, ids[0], ids[1])
    os.link(repo.folder / REF, repo.folder / "copy")
    for old, new in pairwise(ids[1:]):
        ref_store.replace(repo, REF, old, new)
    assert (repo.folder / "copy").read_text() == f"{ids[1]}\n"


def test_a_ref_that_is_not_where_it_should_be_leaves_nothing_behind(repo: Repo, ids: list[str]) -> None:
    """The lock is gone, and the next one who knows better gets through."""
    move_all(repo, ids[:4])
    with pytest.raises(RefMoved):
        ref_store.replace(repo, REF, ids[0], ids[5])
    assert target(repo, REF) == ids[3]
    assert not (repo.folder / f"{REF}.lock").exists()
    ref_store.replace(repo, REF, ids[3], ids[4])
    assert target(repo, REF) == ids[4]


def test_a_new_ref_takes_the_spare_file_for_good(repo: Repo, ids: list[str]) -> None:
    """A ref that had no file leaves none."""
    move_all(repo, ids[:3])
    ref_store.replace(repo, "refs/heads/y", None, ids[4])
    assert not (repo.folder / recycled_files.NAME).exists()
    assert (repo.folder / "refs/heads/y").stat().st_nlink == 1
    ref_store.replace(repo, REF, ids[2], ids[3])
    assert (target(repo, REF), target(repo, "refs/heads/y")) == (ids[3], ids[4])


def test_a_lock_left_between_the_two_names_is_known(repo: Repo, ids: list[str]) -> None:
    """Who died after the ref had its file and before the lock was gone left the old file in the lock."""
    move_all(repo, ids[:3])
    lock, path = repo.folder / f"{REF}.lock", repo.folder / REF
    assert recycled_files.write(repo.place, f"{ids[3]}\n".encode()) == str(repo.folder / recycled_files.NAME)
    os.link(repo.folder / recycled_files.NAME, lock)
    assert atomic_write.exchange(str(lock), str(path))
    assert target(repo, REF) == ids[3]
    # Nobody takes the file of a ref for a spare one meanwhile.
    assert recycled_files.write(repo.place, b"0\n") is None
    assert ref_store.drop_stale_lock(repo, REF, ids[2], ids[3])
    assert not lock.exists()
    for old, new in pairwise(ids[3:]):
        ref_store.replace(repo, REF, old, new)
    assert target(repo, REF) == ids[-1]
    assert path.stat().st_nlink == 1


def test_where_files_cannot_change_places_they_are_renamed(
    repo: Repo, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every file system can do it, and the refs move all the same."""
    monkeypatch.setattr(recycled_files, "exchange", lambda _one, _other: False)
    move_all(repo, ids)
    assert not (repo.folder / recycled_files.NAME).exists()
    assert path_names(repo) == ["x"]


def path_names(repo: Repo) -> list[str]:
    """Return what lies beside the ref."""
    return sorted(path.name for path in (repo.folder / REF).parent.iterdir())
