"""`holdfast archive import`."""

import json
from pathlib import Path

from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.phone_folders import add_snapshot, later_records, write_phone_folder
from tests.backup.streams import KEY_FILE, sample
from tests.cli.conftest import Run


def test_an_import_says_what_it_did(run: Run, source: str, tmp_path: Path) -> None:
    """An import prints the count of new messages, and a second one that nothing changed."""
    path = str(tmp_path / "a.db")
    assert "60 messages, 60 new" in run("archive", "import", path, source).out
    second = run("archive", "import", path, source)
    assert second.status == 0
    assert "nothing changed" in second.out


def test_several_at_once_as_json(run: Run, source: str, tmp_path: Path) -> None:
    """The JSON has one result for each imported backup."""
    result = run("archive", "import", str(tmp_path / "a.db"), source, source, "--json")
    assert [imported["known"] for imported in json.loads(result.out)] == [False, True]


def test_what_cannot_be_imported_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    """A file that is no backup, a missing file and a file that is no archive are errors in one line."""
    other = tmp_path / "notes.txt"
    other.write_text("not a backup")
    for arguments in (("a.db", str(other)), ("a.db", "missing"), ("notes.txt", str(other))):
        result = run("archive", "import", str(tmp_path / arguments[0]), arguments[1])
        assert result.status == 3
        assert len(result.err.splitlines()) == 1
    assert other.read_text() == "not a backup"


def test_a_missing_backup_creates_no_archive(run: Run, source: str, tmp_path: Path) -> None:
    """A mistyped path is reported before anything is imported, and leaves no empty archive behind."""
    path = tmp_path / "a.db"
    result = run("archive", "import", str(path), source, str(tmp_path / "missing"))
    assert result.status == 3
    assert result.err == f"error: {tmp_path / 'missing'} cannot be read: No such file or directory\n"
    assert not path.exists()


def test_what_is_damaged_does_not_stop_the_others(run: Run, source: str, tmp_path: Path) -> None:
    """Of several backups the damaged one is named with its error, and the others are imported."""
    damaged, notes = tmp_path / "damaged.binproto", tmp_path / "notes.txt"
    damaged.write_bytes(Path(source).read_bytes()[:-10])
    notes.write_text("not a backup")
    path = str(tmp_path / "a.db")
    result = run("archive", "import", path, str(damaged), source, str(notes))
    assert result.status == 3
    assert "60 messages, 60 new" in result.out
    first, second, last = result.err.splitlines()
    assert first.startswith(f"error: {damaged}")
    assert "repair --drop" in first
    assert second.startswith(f"error: {notes}")
    assert last == "2 of 3 backups could not be imported"
    entries = json.loads(run("archive", "import", path, str(damaged), source, str(notes), "--json").out)
    assert [entry.get("status") for entry in entries] == [3, None, 3]
    assert [entry["source"] for entry in entries[::2]] == [str(damaged), str(notes)]
    assert entries[1]["known"]
    assert "60" in run("archive", "info", path).out


def test_a_wrong_key_does_not_stop_the_others(run: Run, source: str, tmp_path: Path) -> None:
    """The exit status is that of the first error, here of a key that does not fit."""
    folder = write_phone_folder(tmp_path)
    (tmp_path / "key").write_text(KEY_FILE.replace(SET_B.pool, SET_A.pool))
    arguments = (str(folder), source, "--key-file", str(tmp_path / "key"))
    result = run("archive", "import", str(tmp_path / "a.db"), *arguments)
    assert result.status == 4
    assert "60 messages, 60 new" in result.out


def test_an_error_of_the_archive_ends_the_command(run: Run, source: str, tmp_path: Path) -> None:
    """A file that is no archive is one error, however many backups there are."""
    (tmp_path / "notes.txt").write_text("not an archive")
    result = run("archive", "import", str(tmp_path / "notes.txt"), source, source)
    assert (result.status, len(result.err.splitlines())) == (3, 1)


def test_attachments_of_a_plain_stream_cannot_be_copied(run: Run, source: str, tmp_path: Path) -> None:
    """`--media` of a plain stream has exit status 3, and the messages are imported."""
    path = str(tmp_path / "a.db")
    assert run("archive", "import", "--media", path, source).status == 3
    assert "60" in run("archive", "info", path).out


def test_of_several_snapshots_it_says_which_it_took(run: Run, tmp_path: Path) -> None:
    """A note says that there is an earlier snapshot and that `holdfast keep` imports all of them."""
    folder = write_phone_folder(tmp_path)
    (tmp_path / "key").write_text(KEY_FILE)
    arguments = ("archive", "import", str(tmp_path / "a.db"), str(folder), "--key-file", str(tmp_path / "key"))
    assert "snapshot" not in run(*arguments).err
    add_snapshot(folder, later_records(sample(80), 1))
    result = run(*arguments, "--zone", "UTC")
    assert "1 earlier snapshot" in result.err
    assert "holdfast keep" in result.err
    assert " UTC" in result.err
