"""LFS pointers among the objects of a push and of a repository."""

from pathlib import Path

import pytest

from holdfast.hosting.git.quarantine import Push
from holdfast.hosting.lfs import pushed_pointers
from holdfast.hosting.lfs.pointer import LfsPointer
from holdfast.hosting.lfs.pushed_pointers import new_pointers, paths_of, stored_pointers
from holdfast.hosting.store.ref_updates import RefUpdate
from tests.hosting.git.oracle import commit, line, new_repository

NONE = "0" * 40
OIDS = [f"{number}" * 64 for number in range(1, 4)]


def pointer(oid: str) -> bytes:
    """Write a pointer."""
    return LfsPointer(oid, 12).format()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a repository with a pointer, a text as long as one, and a large file that begins like one."""
    created = new_repository(tmp_path / "7.git")
    commit(created, {b"old.bin": pointer(OIDS[0]), b"text": b"x" * 130, b"large": pointer(OIDS[1]) + b"x" * 2000})
    return created


def pushed(folder: Path, quarantine: Path) -> Push:
    """Push two more pointers, whose objects are in quarantine."""
    other = new_repository(quarantine.parent / "other.git")
    new = commit(other, {b"dir/new.bin": pointer(OIDS[1]), b"a\xff.bin": pointer(OIDS[2]), b"b": b"text"})
    variables = {
        "GIT_OBJECT_DIRECTORY": str(other / "objects"),
        "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(folder / "objects"),
    }
    changes = (RefUpdate("refs/heads/new", NONE, new), RefUpdate("refs/heads/gone", new, NONE))
    return Push(folder, changes, variables)


def test_the_pointers_of_a_repository_are_found(folder: Path) -> None:
    """Files that have only the size or the beginning of a pointer are not found."""
    (result,) = stored_pointers(folder)
    assert result == {line(folder, "rev-parse", "main:old.bin"): LfsPointer(OIDS[0], 12)}


def test_only_the_new_pointers_of_a_push_are_found(folder: Path, tmp_path: Path) -> None:
    """Pointers that the repository has already are not among those of the push."""
    (result,) = new_pointers(pushed(folder, tmp_path / "incoming"))
    assert {value.oid for value in result.values()} == {OIDS[1], OIDS[2]}


def test_a_push_without_objects_has_no_pointers(folder: Path) -> None:
    """A push that deletes a branch, or creates one at an existing commit, has no objects."""
    assert list(new_pointers(Push(folder, (), {}))) == []


def test_pointers_come_in_batches_and_within_a_limit(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of files that are read is limited, so that a push of many small files takes limited time."""
    push = pushed(folder, tmp_path / "incoming")
    monkeypatch.setattr(pushed_pointers, "READ_AT_ONCE", 1)
    assert [len(batch) for batch in new_pointers(push)] == [1, 1]
    monkeypatch.setattr(pushed_pointers, "MOST_READ", 1)
    assert len(list(new_pointers(push))) == 1


def test_new_files_are_named_by_their_paths(folder: Path, tmp_path: Path) -> None:
    """Paths that are not UTF-8 have replacement characters, and the number of paths is limited."""
    push = pushed(folder, tmp_path / "incoming")
    (result,) = new_pointers(push)
    assert sorted(paths_of(push, result, most=9)) == ["a\ufffd.bin", "dir/new.bin"]
    assert len(paths_of(push, result, most=1)) == 1
    assert paths_of(push, [NONE], most=9) == []


def test_an_empty_repository_has_no_pointers(tmp_path: Path) -> None:
    """A repository without commits has no pointers and raises no error."""
    assert list(stored_pointers(new_repository(tmp_path / "empty.git"))) == []
