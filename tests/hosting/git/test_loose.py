"""Loose objects are written as git writes them, whole or not at all."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitError
from holdfast.hosting.git import loose
from holdfast.hosting.git.loose import keep_before, sync_names, write_blob_file, write_object
from holdfast.hosting.git.repository import Kind, open_repository


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=5000))
def test_git_reads_what_was_written(folder: Path, content: bytes) -> None:
    """The id is git's own, and so are the bytes."""
    made = write_object(open_repository(folder), "blob", content)
    read = subprocess.run(["git", "-C", str(folder), "cat-file", "blob", made.id], check=True, capture_output=True)
    assert read.stdout == content
    sync_names([made.path])


def test_a_file_becomes_a_blob(folder: Path, tmp_path: Path) -> None:
    """Without being held in memory, and with the same id as from memory."""
    source = tmp_path / "source"
    source.write_bytes(b"x" * 3_000_000)
    repo = open_repository(folder)
    assert write_blob_file(repo, source).id == write_object(repo, "blob", b"x" * 3_000_000).id


def test_what_is_there_is_made_young_and_what_is_broken_is_replaced(folder: Path) -> None:
    """A collection leaves what was just asked for; a name without its bytes is no object."""
    repo = open_repository(folder)
    made = write_object(repo, "blob", b"x")
    os.utime(made.path, (1, 1))
    write_object(repo, "blob", b"x")
    assert Path(made.path).stat().st_mtime > 1
    Path(made.path).unlink()
    Path(made.path).write_bytes(b"")
    write_object(repo, "blob", b"x")
    assert repo.find(made.id) == ("blob", b"x")


def test_many_objects_are_written_together(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than are open at once; when one cannot be written, those with a name are whole and no other is left."""
    repo = open_repository(folder)
    contents = [b"%d" % number for number in range(200)]
    objects: list[tuple[str, Kind, bytes]] = [
        (loose.object_id("blob", content), "blob", content) for content in contents
    ]
    paths = loose.write_objects(repo, objects)
    assert [repo.find(made) for made, _, _ in objects] == [("blob", content) for content in contents]
    assert [Path(path).is_file() for path in paths] == [True] * 200
    named: list[str] = []

    def name(incoming: str, path: str) -> None:
        if len(named) == 3:
            raise OSError(28, "No space left on device")
        named.append(path)
        Path(incoming).rename(path)

    monkeypatch.setattr(loose, "give_name", name)
    (folder / "objects" / "ff").mkdir(exist_ok=True)
    others: list[tuple[str, Kind, bytes]] = [(f"ff{number:038x}", "blob", b"%d" % number) for number in range(6)]
    with pytest.raises(GitError, match="No space left"):
        loose.write_objects(repo, others)
    assert len(list((folder / "objects" / "ff").glob("0*"))) == 3
    assert [path.name for path in (folder / "objects").iterdir() if path.is_file()] == []


def test_no_half_of_an_object_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full, nothing is left behind."""

    def full(*_arguments: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(GitError, match="No space left"):
        write_object(open_repository(folder), "blob", b"x")
    assert [path.name for path in (folder / "objects").iterdir() if path.is_file()] == []


def test_without_the_linux_call_each_file_is_synced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and the folders of their names."""
    monkeypatch.setattr(loose, "write_out", os.fsync)
    repo = open_repository(folder)
    written = [write_object(repo, "blob", content).path for content in (b"1", b"2")]
    synced: list[str] = []
    monkeypatch.setattr(loose, "sync", synced.append)
    keep_before(written)
    assert set(synced) == {*written, *(str(Path(path).parent) for path in written)}
