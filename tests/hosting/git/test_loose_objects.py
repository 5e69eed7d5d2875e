"""Loose objects are written as git writes them, whole or not at all."""

import os
import subprocess
import zlib
from pathlib import Path
from typing import cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import GitError
from holdfast.hosting.git import atomic_write, loose_objects, syscalls
from holdfast.hosting.git.loose_objects import keep_before, sync_names, write_blob_file, write_object
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
        (loose_objects.object_id("blob", content), "blob", content) for content in contents
    ]
    paths = loose_objects.write_objects(repo, objects)
    assert [repo.find(made) for made, _, _ in objects] == [("blob", content) for content in contents]
    assert [Path(path).is_file() for path in paths] == [True] * 200
    named: list[str] = []

    def name(incoming: str, path: str) -> None:
        if len(named) == 3:
            raise OSError(28, "No space left on device")
        named.append(path)
        Path(incoming).rename(path)

    monkeypatch.setattr(atomic_write, "lay", syscalls.lay)
    monkeypatch.setattr(syscalls, "give_name", name)
    (folder / "objects" / "ff").mkdir(exist_ok=True)
    others: list[tuple[str, Kind, bytes]] = [(f"ff{number:038x}", "blob", b"%d" % number) for number in range(6)]
    with pytest.raises(GitError, match="No space left"):
        loose_objects.write_objects(repo, others)
    assert len(list((folder / "objects" / "ff").glob("0*"))) == 3
    assert [path.name for path in (folder / "objects").iterdir() if path.is_file()] == []


@given(content=st.binary(max_size=300), times=st.integers(0, 500))
def test_what_is_stored_as_it_is_is_a_stream_of_zlib(content: bytes, times: int) -> None:
    """Of any length, also when it takes several pieces."""
    whole = content * times
    unpack = zlib.decompressobj()
    assert unpack.decompress(loose_objects.stored(whole)) == whole
    assert unpack.eof
    assert not unpack.unused_data


@pytest.mark.parametrize("size", [0, 1, 3980, 4000, 65535, 65536, 200_000])
def test_git_reads_objects_of_any_size(folder: Path, size: int) -> None:
    """Those that are kept as they are, and those that are made smaller."""
    repo = open_repository(folder)
    tree = b"100644 %s\0%s" % (b"n" * (size or 1), b"\1" * 20)
    for kind, content in (("blob", b"x" * size), ("tree", tree)):
        made = write_object(repo, cast("Kind", kind), content).id
        command = ["git", "-C", str(folder), "cat-file", kind, made]
        assert subprocess.run(command, check=True, capture_output=True).stdout == content
        assert repo.find(made) == (kind, content)


def test_no_half_of_an_object_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk is full, nothing is left behind."""

    def full(*_arguments: object) -> int:
        raise OSError(28, "No space left on device")

    source = folder / "source"
    source.write_bytes(b"x")
    monkeypatch.setattr(os, "write", full)
    monkeypatch.setattr(atomic_write, "lay", syscalls.lay)
    with pytest.raises(GitError, match="No space left"):
        write_object(open_repository(folder), "blob", b"x")
    with pytest.raises(GitError, match="No space left"):
        write_blob_file(open_repository(folder), source)
    assert [path.name for path in (folder / "objects").iterdir() if path.is_file()] == []


def test_without_the_linux_call_each_file_is_synced(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and the folders of their names."""
    monkeypatch.setattr(atomic_write, "SYNCS_NAMES", True)
    repo = open_repository(folder)
    written = [write_object(repo, "blob", content).path for content in (b"1", b"2")]
    synced: list[str] = []
    monkeypatch.setattr(loose_objects, "sync", synced.append)
    keep_before(written)
    assert set(synced) == {*written, *(str(Path(path).parent) for path in written)}
