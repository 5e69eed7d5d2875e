"""`holdfast archive remove`."""

import json
import sqlite3
from pathlib import Path

import pytest

from holdfast.cli.exit_codes import ExitCode
from tests.backup.archives.histories import copies, import_backups, write
from tests.cli.conftest import Run


@pytest.fixture
def writable_db(tmp_path: Path) -> str:
    """Make an archive that may be changed."""
    import_backups(tmp_path / "own.db", write(tmp_path / "one", *copies()))
    return str(tmp_path / "own.db")


def test_a_dry_run_shows_what_the_removal_does(run: Run, writable_db: str) -> None:
    """A dry run has the same numbers as the removal and does not change the file."""
    chat = json.loads(run("archive", "chats", writable_db, "--json").out)[0]
    before = Path(writable_db).read_bytes()
    arguments = ("archive", "remove", writable_db, "--chat", str(chat["id"]))
    planned = json.loads(run(*arguments, "--dry-run", "--json").out)
    assert Path(writable_db).read_bytes() == before
    assert (planned["removed"], planned["messages"]) == (False, chat["messages"])
    removed = json.loads(run(*arguments, "--yes", "--json").out)
    assert removed == {**planned, "removed": True}
    left = json.loads(run("archive", "chats", writable_db, "--json").out)
    assert chat["id"] not in {row["id"] for row in left}


def test_people_and_imports_go_by_their_names_and_numbers(run: Run, writable_db: str) -> None:
    """A person is removed by the whole name, not by a part of it, and an import by its number."""
    people = json.loads(run("archive", "people", writable_db, "--json").out)
    person = next(row for row in people if row["kind"] == "contact" and row["messages"])
    result = run("archive", "remove", writable_db, "--person", person["name"][:-1], "--yes")
    assert result.status != ExitCode.FINE
    result = run("archive", "remove", writable_db, "--person", person["name"], "--yes")
    assert result.status == ExitCode.FINE
    assert result.out.startswith("Removed person")
    left = json.loads(run("archive", "people", writable_db, "--json").out)
    assert {row["id"] for row in left} == {row["id"] for row in people} - {person["id"]}
    number = json.loads(run("archive", "info", writable_db, "--json").out)[0]["id"]
    assert run("archive", "remove", writable_db, "--import", str(number), "--yes").status == ExitCode.FINE
    assert json.loads(run("archive", "chats", writable_db, "--json").out) == []


def test_without_a_terminal_it_wants_to_be_told(run: Run, writable_db: str) -> None:
    """Without a terminal `remove` needs `--yes`, and changes nothing otherwise."""
    before = Path(writable_db).read_bytes()
    result = run("archive", "remove", writable_db, "--import", "1")
    assert result.status == ExitCode.USAGE
    assert "--yes" in result.err
    assert run("archive", "remove", writable_db, "--yes").status == ExitCode.USAGE
    assert Path(writable_db).read_bytes() == before


def test_no_archive_is_made(run: Run, tmp_path: Path) -> None:
    """Removing from a missing archive is an error, and none is created."""
    result = run("archive", "remove", str(tmp_path / "none.db"), "--import", "1", "--yes")
    assert result.status != ExitCode.FINE
    assert not (tmp_path / "none.db").exists()


@pytest.mark.long
def test_somebody_who_is_writing_is_waited_for_in_words(run: Run, writable_db: str) -> None:
    """If another process has locked the database, the error says so and is not an internal error."""
    other = sqlite3.connect(writable_db, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        result = run("archive", "remove", writable_db, "--import", "1", "--yes")
    finally:
        other.close()
    assert result.status != ExitCode.BUG
    assert "another process is writing" in result.err
