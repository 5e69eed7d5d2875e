"""Paths as text; folders and files whose names are not UTF-8."""

import os
from pathlib import Path

import pytest

import holdfast.backup as hb
from holdfast.backup.errors import TargetRefused
from holdfast.backup.path_text import path_text
from tests.backup.phone_folders import write_phone_folder
from tests.backup.streams import KEYS, sample, small_sample, stream_of

NAME = os.fsdecode(b"M\xfcller")


@pytest.fixture
def old_disk(tmp_path: Path) -> Path:
    """Make a folder whose name is in Latin-1."""
    folder = tmp_path / NAME
    try:
        folder.mkdir()
    except (OSError, UnicodeError):
        pytest.skip("this file system has only names in Unicode")
    return folder


def test_bytes_that_are_not_utf_8_are_escaped() -> None:
    """Names in UTF-8 stay as they are."""
    assert path_text(Path("a") / NAME) == os.path.join("a", "M\\xfcller")  # noqa: PTH118  # the expected text
    assert path_text("Müller") == "Müller"


def test_a_folder_in_latin_1_is_kept_and_exported(old_disk: Path) -> None:
    """The archive and the state of the folder have its name escaped; the second run finds both again."""
    folder = write_phone_folder(old_disk)
    archive = old_disk / "chats.db"
    assert hb.keep(folder, archive, KEYS).complete
    assert hb.keep(folder, archive, KEYS).unchanged
    with hb.archive(archive) as opened:
        (source,) = opened.connection.execute("SELECT source FROM snapshot").fetchone()
        assert "M\\xfcller" in source
        for form in ("html", "csv"):
            hb.export(opened, old_disk / form, form)
    assert list((old_disk / "html").glob("index.html"))


def test_a_snapshot_without_messages_in_latin_1_is_reported(old_disk: Path) -> None:
    """Its error has the path."""
    folder = write_phone_folder(old_disk)
    (folder / "signal-backup-2025-01-01-00-00-00").mkdir()
    complete, without = hb.keep(folder, old_disk / "chats.db", KEYS).snapshots
    assert complete.complete
    assert "M\\xfcller" in without.problem


def test_backups_in_latin_1_are_in_a_dataset(old_disk: Path, tmp_path: Path) -> None:
    """Those that cannot be read are reported, and stop no other."""
    (old_disk / NAME).write_bytes(stream_of(sample(20)))
    (old_disk / "b").write_bytes(stream_of(sample(20, 2)))
    (old_disk / f"c{NAME}").symlink_to(tmp_path / "gone")
    summary = hb.build_dataset([old_disk], tmp_path / "out", workers=2)
    assert (summary.written, summary.failed) == (("M_ller", "b"), ("cM_ller",))
    assert hb.build_dataset([old_disk], tmp_path / "out").unchanged == ("M_ller", "b")
    (fault,) = hb.validate_dataset(tmp_path / "out")
    assert "cM\\xfcller" in fault.problem


def test_a_dataset_is_not_written_to_a_path_in_latin_1(old_disk: Path) -> None:
    """Programs that read Parquet take paths in UTF-8 only."""
    (old_disk / "a").write_bytes(stream_of(small_sample()))
    with pytest.raises(TargetRefused, match="not UTF-8"):
        hb.build_dataset([old_disk / "a"], old_disk / "out")
