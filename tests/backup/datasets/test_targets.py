"""Storage of datasets: a folder and a bucket behave alike."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup.datasets.schema import SCHEMA_VERSION
from holdfast.backup.datasets.targets import (
    BackupRecord,
    DatasetManifest,
    DatasetTarget,
    FailedBackup,
    FolderTarget,
    S3Target,
    open_target,
)
from holdfast.backup.errors import UnreadableBackup, UnwritableBackup
from tests.s3_server import ACCESS_KEY, SECRET_KEY, S3Server, s3_server


@pytest.fixture(scope="module")
def bucket_server() -> Iterator[S3Server]:
    """Run an S3 server."""
    with s3_server() as server:
        yield server


@pytest.fixture(params=["folder", "s3"])
def target(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DatasetTarget:
    """Return an empty target of each kind."""
    if request.param == "folder":
        return open_target(tmp_path / "dataset")
    server: S3Server = request.getfixturevalue("bucket_server")
    server.use_new_bucket()
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return open_target(f"s3://{server.name}/some/prefix/")


def record(name: str, sizes: dict[str, int]) -> BackupRecord:
    """Make the record of a backup."""
    return BackupRecord(name, f"/backups/{name}", SCHEMA_VERSION, "stamp", dict.fromkeys(sizes, 3), sizes, {})


def publish(target: DatasetTarget, name: str, **contents: bytes) -> BackupRecord:
    """Publish a backup with some files."""
    with target.staging(name) as folder:
        files = {}
        for table, content in contents.items():
            files[table] = folder / f"{table}.parquet"
            files[table].write_bytes(content)
        entry = record(name, {table: len(content) for table, content in contents.items()})
        target.publish(entry, files)
    assert not folder.exists()
    return entry


def test_what_is_published_is_recorded(target: DatasetTarget) -> None:
    """A published backup has a record, which a second publication replaces."""
    assert target.records() == {}
    first = publish(target, "one", messages=b"first", people=b"x")
    two = publish(target, "two ü", messages=b"second")
    assert target.records() == {"one": first, "two ü": two}
    second = publish(target, "one", messages=b"changed", people=b"xy")
    assert target.records() == {"one": second, "two ü": two}


def test_a_manifest_is_read_as_it_was_written(target: DatasetTarget) -> None:
    """A manifest is read as it was written, and a target without one is no dataset."""
    with pytest.raises(UnreadableBackup, match="is no dataset"):
        target.read_manifest()
    manifest = DatasetManifest(1, [record("one", {"messages": 5})], [FailedBackup("two", "/two", "torn")])
    target.write_manifest(manifest)
    assert target.read_manifest() == manifest


def test_a_backup_whose_file_is_missing_or_cut_off_is_not_there(tmp_path: Path) -> None:
    """A missing or truncated file and a damaged record remove a backup from the records."""
    target = FolderTarget(str(tmp_path))
    for name in ("one", "two", "three", "four"):
        publish(target, name, messages=b"content")
    (tmp_path / "messages" / "backup=one" / "data.parquet").write_bytes(b"con")
    (tmp_path / "messages" / "backup=two" / "data.parquet").unlink()
    (tmp_path / "_backups" / "three.json").write_text("{")
    assert set(target.records()) == {"four"}


def test_a_publication_that_is_interrupted_leaves_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A publication that fails after its first file leaves no record and no temporary files."""
    target = FolderTarget(str(tmp_path))
    publish(target, "one", messages=b"content", people=b"x")
    replaced: list[Path] = []
    moved = Path.replace

    def replace(self: Path, to: Path) -> Path:
        if len(replaced) == 1:
            raise OSError(28, "No space left on device", str(to))
        replaced.append(to)
        return moved(self, to)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(UnwritableBackup, match="No space left"):
        publish(target, "one", messages=b"changed", people=b"y")
    assert target.records() == {}
    assert not list((tmp_path / "_building").iterdir())


def test_a_record_that_cannot_be_written_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a full disk nothing is left of a record or a manifest."""
    target = FolderTarget(str(tmp_path / "out"))
    publish(target, "a", messages=b"1")
    before = sorted(tmp_path.rglob("*"))

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UnwritableBackup, match="No space left"):
        target.write_manifest(DatasetManifest(SCHEMA_VERSION, [], []))
    assert sorted(tmp_path.rglob("*")) == before


def test_folders_are_for_their_owner_only(tmp_path: Path) -> None:
    """No folder of a dataset has permissions for group and others."""
    target = FolderTarget(str(tmp_path / "dataset"))
    publish(target, "one", messages=b"content")
    if os.name == "posix":
        folders = [path for path in (tmp_path / "dataset").rglob("*") if path.is_dir()]
        assert {"messages", "backup=one", "_backups"} <= {path.name for path in folders}
        assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "dataset", *folders))


def test_a_bucket_that_cannot_be_reached_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of an invalid bucket URL has the URL and no secret key."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hunter2")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with pytest.raises(UnwritableBackup, match="s3://") as caught:
        S3Target("s3://").store()
    assert "hunter2" not in str(caught.value)


def test_a_manifest_that_cannot_be_read_is_an_error(target: DatasetTarget, tmp_path: Path) -> None:
    """A manifest that is not valid JSON raises `UnreadableBackup`."""
    if isinstance(target, FolderTarget):
        target.folder.mkdir()
        (target.folder / "_manifest.json").write_text("{")
    else:
        assert isinstance(target, S3Target)
        target.store().put("_manifest.json", b"{")
    with pytest.raises(UnreadableBackup, match="manifest of"):
        target.read_manifest()
