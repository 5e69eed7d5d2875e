"""Snapshots of a phone's folder are found from any of its paths."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.backup.container.cipher import encrypt
from holdfast.backup.container.folder import SnapshotFolder, find_snapshots, incomplete_snapshots
from holdfast.backup.container.gunzip import GzipWriter
from holdfast.backup.container.keys import BackupId, BackupKey
from holdfast.backup.container.manifest import write_manifest
from holdfast.backup.container.metadata import LocalMetadata
from holdfast.backup.errors import UnreadableBackup

KEY = BackupKey(bytes(range(32)))
ID = BackupId(bytes(range(16)))


def make_snapshot(folder: Path, names: list[str] | None = None) -> Path:
    """Write a snapshot as a phone does."""
    folder.mkdir(parents=True)
    keys = KEY.message_keys(ID)
    with (folder / "main").open("wb") as target, encrypt(target, keys) as sealer, GzipWriter(sealer) as plain:
        plain.write(b"content")
    (folder / "metadata").write_bytes(LocalMetadata.seal(ID, KEY.local_metadata_key()).to_bytes())
    if names is not None:
        with (folder / "files").open("wb") as target:
            write_manifest(target, names)
    return folder


@pytest.fixture
def phone(tmp_path: Path) -> Path:
    """Write a phone's folder: two snapshots, an incomplete one, and the content store."""
    folder = tmp_path / "SignalBackups"
    for name in ("signal-backup-2026-01-31-10-00-00", "signal-backup-2026-02-01-10-00-00"):
        make_snapshot(folder / name, ["ab" * 32])
    make_snapshot(folder / "signal-backup-2026-03-01-10-00-00-tmp")
    (folder / "files").mkdir()
    (folder / ".nomedia").write_text("")
    return folder


def names(snapshots: list[SnapshotFolder]) -> list[str]:
    """Name the snapshots."""
    return [snapshot.path.name for snapshot in snapshots]


BOTH = ["signal-backup-2026-02-01-10-00-00", "signal-backup-2026-01-31-10-00-00"]


def test_all_snapshots_are_found_newest_first_and_unfinished_ones_left_out(phone: Path) -> None:
    """Snapshots are found from the backup folder and from its parent, also if the folder was renamed."""
    assert names(find_snapshots(phone)) == BOTH
    assert names(find_snapshots(phone.parent)) == BOTH
    renamed = phone.rename(phone.with_name("from my phone"))
    assert names(find_snapshots(renamed.parent)) == BOTH


def test_a_snapshot_of_which_nothing_is_left_is_incomplete(phone: Path) -> None:
    """An empty folder with the name of a snapshot is one; another folder is not, nor one that is being written."""
    name = "signal-backup-2026-02-02-10-00-00"
    for folder in (name, f"{name}-tmp", "signal-backup-old"):
        (phone / folder).mkdir()
    assert [path.name for path in incomplete_snapshots(phone)] == [name]


def test_a_snapshot_that_cannot_be_listed_hides_no_other(phone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot without permissions is found, so that reading it says so, and the others are found too."""
    refused, is_file = phone / "signal-backup-2026-02-01-10-00-00", Path.is_file

    def is_file_here(path: Path) -> bool:
        # Root may search every folder.
        if path.parent == refused:
            raise PermissionError
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", is_file_here)
    assert [snapshot.path for snapshot in find_snapshots(phone)] == [
        refused,
        phone / "signal-backup-2026-01-31-10-00-00",
    ]
    assert incomplete_snapshots(phone) == []


def test_a_folder_that_cannot_be_listed_hides_no_snapshot(phone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the folder of a phone there may be others without permissions, as `lost+found` of a memory card."""
    refused, iterdir = phone.parent / "A lost+found", Path.iterdir
    refused.mkdir()

    def iterdir_here(path: Path) -> Iterator[Path]:
        # Root may list every folder.
        if path == refused:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", iterdir_here)
    assert len(find_snapshots(phone.parent)) == 2


def test_the_parent_of_several_phones_is_refused(phone: Path) -> None:
    """The folders of two phones are named, so that none is passed over; a symbolic link to one is not another."""
    (phone.parent / "latest").symlink_to(phone, target_is_directory=True)
    assert len(find_snapshots(phone.parent)) == 2
    make_snapshot(phone.parent / "another phone" / BOTH[0])
    assert len(find_snapshots(phone.parent)) == 2
    (phone.parent / "another phone" / "files").mkdir()
    with pytest.raises(UnreadableBackup, match="several backup folders: SignalBackups, another phone; give"):
        find_snapshots(phone.parent)
    assert names(find_snapshots(phone)) == BOTH


def test_one_snapshot_can_be_pointed_at(phone: Path) -> None:
    """A snapshot can be opened by its own path, with the content store beside it."""
    (snapshot,) = find_snapshots(phone / BOTH[1])
    assert snapshot.path.name == BOTH[1]
    assert snapshot.store == phone / "files"


def test_another_folder_is_no_backup(tmp_path: Path) -> None:
    """A folder without snapshots gives an empty list."""
    (tmp_path / "holiday").mkdir()
    assert find_snapshots(tmp_path) == []


def test_a_snapshot_gives_its_parts(phone: Path) -> None:
    """A snapshot gives its backup id, the names of its attachments and its main file."""
    snapshot = find_snapshots(phone)[0]
    assert snapshot.metadata().backup_id(KEY.local_metadata_key()) == ID
    assert list(snapshot.manifest()) == ["ab" * 32]
    with snapshot.open_main() as main:
        assert len(main.read()) > 64


def test_a_missing_manifest_names_nothing(tmp_path: Path) -> None:
    """A snapshot without a manifest lists no attachments, since some programs write none."""
    (snapshot,) = find_snapshots(make_snapshot(tmp_path / "signal-backup-1"))
    assert list(snapshot.manifest()) == []


def test_missing_parts_are_said_to_be_missing(phone: Path) -> None:
    """The error names the missing file, and a snapshot without its metadata is still listed."""
    snapshot = find_snapshots(phone)[0]
    (snapshot.path / "metadata").unlink()
    assert names(find_snapshots(phone)) == BOTH
    with pytest.raises(UnreadableBackup, match="no file metadata"):
        snapshot.metadata()
    (snapshot.path / "main").unlink()
    with pytest.raises(UnreadableBackup, match="no file main"):
        snapshot.open_main()


def test_a_link_in_the_folder_does_not_lead_out(phone: Path, tmp_path: Path) -> None:
    """A symlink to a file outside of the folder is refused."""
    secret = tmp_path / "secret"
    secret.write_bytes(b"x" * 100)
    snapshot = find_snapshots(phone)[0]
    (snapshot.path / "main").unlink()
    (snapshot.path / "main").symlink_to(secret)
    with pytest.raises(UnreadableBackup, match="leads out"):
        snapshot.open_main()


def test_a_huge_metadata_file_is_refused(phone: Path) -> None:
    """A metadata file of a megabyte is an error."""
    snapshot = find_snapshots(phone)[0]
    (snapshot.path / "metadata").write_bytes(bytes(1 << 20))
    with pytest.raises(UnreadableBackup, match="far too large"):
        snapshot.metadata()
