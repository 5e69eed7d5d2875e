"""Output never overwrites its source."""

from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.errors import UnwritableBackup
from holdfast.backup.target_check import check_target
from tests.backup.streams import KEYS, folder_of, small_sample, stream_of


def test_a_file_is_not_written_over(tmp_path: Path) -> None:
    """The source is refused as target also by a hard link or another path; another file is not."""
    path = tmp_path / "backup.binproto"
    path.write_bytes(stream_of(small_sample()))
    (tmp_path / "hard").hardlink_to(path)
    with backup.open(path) as source:
        for same in (path, tmp_path / "hard", tmp_path / "." / "backup.binproto"):
            with pytest.raises(UnwritableBackup, match="is the backup itself"):
                check_target(source, same)
        check_target(source, tmp_path / "another")


def test_no_part_of_a_folder_is_written_over(tmp_path: Path) -> None:
    """The files of a snapshot, and any other path inside of it, are refused as target."""
    snapshot = folder_of(small_sample(), tmp_path)
    with backup.open(snapshot, KEYS) as source:
        for name in ("main", "metadata", "files"):
            with pytest.raises(UnwritableBackup):
                check_target(source, snapshot / name)
        with pytest.raises(UnwritableBackup, match="inside the backup it is made from"):
            check_target(source, snapshot / "copy")
        check_target(source, snapshot.parent / "copy")


def test_what_has_no_name_is_apart_from_everything(tmp_path: Path) -> None:
    """A source without a path, such as standard input, allows every target."""
    path = tmp_path / "backup.binproto"
    path.write_bytes(stream_of(small_sample()))
    with path.open("rb") as file, backup.open(file) as source:
        source.name = "<stdin>\0"
        check_target(source, path)
