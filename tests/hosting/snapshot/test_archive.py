"""The archive format of backups: round trips, checksums and member names."""

import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import SnapshotDamaged, SnapshotError, SnapshotRefused
from holdfast.hosting.git.folders import fsync_path
from holdfast.hosting.snapshot import archive
from holdfast.hosting.snapshot.archive import SnapshotWriter, is_harmless, read_members, verify
from tests.examples import examples


def written(folder: Path, name: str = "backup.tar") -> Path:
    """Write a small backup."""
    target = folder / name
    with SnapshotWriter(target, "0001", lambda done: done, now=1000) as writer:
        writer.add_bytes("tables/users.jsonl", b'["id"]\n[1]\n')
        writer.add("files/large", io.BytesIO(b"x" * 3_000_000), 3_000_000)
        writer.add_bytes("files/na\u00efve \U0001f600/" + "long" * 60, b"")
        writer.finish(tables={"users": 1}, repositories=0)
    return target


@pytest.mark.parametrize("name", ["backup.tar", "backup.tar.gz", "backup.tgz"])
def test_archives_round_trip(tmp_path: Path, name: str) -> None:
    """The manifest, names and contents are read back, and only the owner of the file may read it."""
    target = written(tmp_path, name)
    manifest = verify(target)
    assert (manifest.tables, manifest.deleted, manifest.revision, manifest.members) == (
        {"users": 1},
        (),
        "0001",
        4,
    )
    results = {member.name: member.content.read() for member in read_members(target)}
    assert results["files/large"] == b"x" * 3_000_000
    assert results["files/na\u00efve \U0001f600/" + "long" * 60] == b""
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failed_backup_leaves_no_file(tmp_path: Path) -> None:
    """An error while the archive is written leaves neither the archive nor a temporary file."""
    with pytest.raises(RuntimeError), SnapshotWriter(tmp_path / "backup.tar", "0001", lambda done: done):
        raise RuntimeError
    with (
        pytest.raises(SnapshotRefused, match="shrank while"),
        SnapshotWriter(tmp_path / "backup.tar", "0001", lambda done: done) as writer,
    ):
        writer.add("files/short", io.BytesIO(b"ab"), 3)
    assert list(tmp_path.iterdir()) == []


def test_a_finished_backup_is_synced_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power failure after the command has ended must not lose the file: its directory entry is synced last."""
    synced: list[tuple[Path, bool]] = []

    def note_sync(path: Path) -> None:
        synced.append((path, (tmp_path / "backup.tar").exists()))
        fsync_path(path)

    monkeypatch.setattr(archive, "fsync_path", note_sync)
    written(tmp_path)
    assert synced == [(tmp_path, True)]


def test_a_backup_does_not_replace_one_that_another_process_wrote(tmp_path: Path) -> None:
    """Two scheduled backups with the same name at once: the second fails, and the first is kept."""
    with SnapshotWriter(tmp_path / "backup.tar", "0001", lambda done: done) as writer:
        (tmp_path / "backup.tar").write_bytes(b"the other")
        with pytest.raises(SnapshotRefused, match="was created meanwhile"):
            writer.finish(tables={}, repositories=0)
    assert [path.name for path in tmp_path.iterdir()] == ["backup.tar"]
    assert (tmp_path / "backup.tar").read_bytes() == b"the other"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a small backup."""
    target = tmp_path_factory.mktemp("small") / "backup.tar"
    with SnapshotWriter(target, "0001", lambda done: done, now=1000) as writer:
        writer.add_bytes("files/a", b"abc")
        writer.add_bytes("files/b", b"")
        writer.finish(tables={}, repositories=0)
    return target.read_bytes()


@settings(max_examples=examples(200))
@given(st.data())
def test_every_changed_byte_is_detected(
    small: bytes, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """After a change of any byte the backup is refused, or its contents are still the original ones."""
    position = data.draw(st.integers(0, len(small) - 1))
    damaged = bytearray(small)
    damaged[position] ^= data.draw(st.integers(1, 255))
    target = tmp_path_factory.mktemp("damaged") / "backup.tar"
    target.write_bytes(damaged)
    try:
        verify(target)
    except SnapshotError:
        return
    names = ("files/a", "files/b")
    results = {member.name: member.content.read() for member in read_members(target) if member.name in names}
    assert results == {"files/a": b"abc", "files/b": b""}


def test_a_version_that_is_not_utf8_is_an_error(tmp_path: Path) -> None:
    """A byte in the version that is invalid UTF-8 is reported as damage."""
    target = written(tmp_path)
    content = bytearray(target.read_bytes())
    content[content.index(b'"version":"') + len(b'"version":"')] = 0xFF
    target.write_bytes(content)
    with pytest.raises(SnapshotDamaged):
        verify(target)


def test_the_damaged_file_is_named(tmp_path: Path) -> None:
    """The error for a wrong checksum names the file, so that a person knows what is lost."""
    target = written(tmp_path)
    content = target.read_bytes()
    target.write_bytes(content.replace(b"x" * 1000, b"y" * 1000, 1))
    with pytest.raises(SnapshotDamaged, match="files/large is not what was written"):
        verify(target)


@pytest.mark.parametrize("content", [b"", b"no archive at all", b"\x1f\x8b\x08broken", bytes(10240)])
def test_a_file_that_is_not_a_backup_is_reported(tmp_path: Path, content: bytes) -> None:
    """An empty file, text, broken gzip data and zero bytes are reported as a damaged backup."""
    target = tmp_path / "backup.tar"
    target.write_bytes(content)
    with pytest.raises(SnapshotDamaged):
        verify(target)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """The error for a missing file has the message of the operating system."""
    with pytest.raises(SnapshotRefused, match="No such file"):
        verify(tmp_path / "none.tar")


@given(st.text())
def test_no_accepted_name_is_outside_the_target(name: str) -> None:
    """Any accepted name is a path below the target folder and has no `..` part."""
    for given_name in (name, f"files/{name}"):
        if is_harmless(given_name) and "/" in given_name:
            assert Path("/root", given_name).is_relative_to("/root")
            assert ".." not in Path(given_name).parts
