"""The list of backups in the data folder."""

from pathlib import Path

from holdfast.backup import archives
from holdfast.web.backup_files import list_backup_files
from tests.backup.streams import HEADER, record
from tests.backup.streams import empty_frame as frame


def test_a_missing_folder_is_an_empty_list(tmp_path: Path) -> None:
    """A folder that does not exist yet has no backups, and is no error."""
    assert list_backup_files(tmp_path / "none") == []


def test_files_are_listed_by_name_and_hidden_ones_left_out(tmp_path: Path) -> None:
    """Folders and hidden files are not backups."""
    for name in ("b", "a", ".hidden"):
        (tmp_path / name).write_bytes(record(HEADER))
    (tmp_path / "folder").mkdir()
    assert [book.name for book in list_backup_files(tmp_path)] == ["a", "b"]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    """The cached counts of a file are replaced when the file changes."""
    file = tmp_path / "a"
    file.write_bytes(record(HEADER))
    (before,) = list_backup_files(tmp_path)
    file.write_bytes(record(HEADER) + frame(4))
    (after,) = list_backup_files(tmp_path)
    assert before.info is not None
    assert after.info is not None
    assert (before.info.counts["chatItem"], after.info.counts["chatItem"]) == (0, 1)


def test_an_archive_is_listed_without_a_problem(tmp_path: Path) -> None:
    """An archive may be in the folder of backups, and its write-ahead log is not listed."""
    (tmp_path / "a.backup").write_bytes(record(HEADER))
    archives.open(tmp_path / "b.archive", create=True).close()
    (tmp_path / "b.archive-wal").write_bytes(b"x")
    assert [(book.name, book.is_archive, book.problem) for book in list_backup_files(tmp_path)] == [
        ("a.backup", False, ""),
        ("b.archive", True, ""),
    ]
