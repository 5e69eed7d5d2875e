"""`holdfast archive import`."""

import json
from pathlib import Path

from tests.backup.phone_folders import add_snapshot, later, phone
from tests.backup.streams import KEY_FILE, sample
from tests.cli.conftest import Run


def test_an_import_says_what_it_did(run: Run, source: str, tmp_path: Path) -> None:
    """And the second time that there was nothing to do."""
    place = str(tmp_path / "a.db")
    assert "60 messages, 60 new" in run("archive", "import", place, source).out
    again = run("archive", "import", place, source)
    assert again.status == 0
    assert "nothing changed" in again.out


def test_several_at_once_as_json(run: Run, source: str, tmp_path: Path) -> None:
    """One answer for each."""
    done = run("archive", "import", str(tmp_path / "a.db"), source, source, "--json")
    assert [one["known"] for one in json.loads(done.out)] == [False, True]


def test_what_cannot_be_imported_is_refused_in_one_line(run: Run, tmp_path: Path) -> None:
    """A file that is no backup, one that is not there, an archive that is none."""
    other = tmp_path / "notes.txt"
    other.write_text("not a backup")
    for words in (("a.db", str(other)), ("a.db", "missing"), ("notes.txt", str(other))):
        done = run("archive", "import", str(tmp_path / words[0]), words[1])
        assert done.status == 3
        assert len(done.err.splitlines()) == 1


def test_attachments_of_a_plain_stream_cannot_be_copied(run: Run, source: str, tmp_path: Path) -> None:
    """The messages are in the archive all the same."""
    place = str(tmp_path / "a.db")
    assert run("archive", "import", "--media", place, source).status == 3
    assert "60" in run("archive", "info", place).out


def test_of_several_snapshots_it_says_which_it_took(run: Run, tmp_path: Path) -> None:
    """And which command takes them all."""
    folder = phone(tmp_path)
    (tmp_path / "key").write_text(KEY_FILE)
    words = ("archive", "import", str(tmp_path / "a.db"), str(folder), "--key-file", str(tmp_path / "key"))
    assert "snapshot" not in run(*words).err
    add_snapshot(folder, later(sample(80), 1))
    ran = run(*words, "--zone", "UTC")
    assert "1 earlier snapshot" in ran.err
    assert "holdfast keep" in ran.err
    assert " UTC" in ran.err
