"""Untrusted archives."""

import sqlite3
from pathlib import Path

import pytest

from holdfast.backup import archives
from holdfast.backup.archives import integrity
from holdfast.backup.errors import ArchiveError, NotAnArchive
from tests.backup.archives.histories import copies, imported, write


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Make an archive."""
    imported(tmp_path / "a.db", write(tmp_path / "one", *copies()))
    return tmp_path / "a.db"


def changed(place: Path, *statements: str) -> Path:
    """Change an archive as somebody else might."""
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return place


def text_of(name: str, old: str, new: str) -> str:
    """Change the text a table or view was made with."""
    return f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'"


def lax(table: str) -> str:
    """Take the types from a table, so that it can hold anything."""
    return text_of(table, ") STRICT", ")")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER evil AFTER INSERT ON stored_message BEGIN DELETE FROM stored_message; END",
        text_of("people", "WHERE r.kind IN", "WHERE zeroblob(99) AND r.kind IN"),
        text_of("stored_message", "look INTEGER NOT NULL", "look INTEGER AS (length(zeroblob(99)))"),
        text_of("message", "FROM stored_message", "FROM stored_message WHERE zeroblob(99)"),
        text_of("message_index", "fts5", "fts4"),
        "UPDATE sqlite_master SET type='view', sql='CREATE VIEW chat AS SELECT 1', rootpage=0 WHERE name='chat'",
    ],
)
def test_what_runs_by_itself_is_refused(place: Path, statement: str) -> None:
    """Triggers, other views, computed columns and other virtual tables, to read as to write."""
    changed(place, statement)
    for create in (False, True):
        with pytest.raises(ArchiveError), archives.open(place, create=create) as opened:
            opened.people()


@pytest.mark.parametrize(
    "statement",
    [
        text_of(
            "stored_message", "rank INTEGER NOT NULL", "rank INTEGER NOT NULL CHECK (zeroblob(1000000000) > 0)"
        ),
        "CREATE INDEX evil ON stored_message (abs(id))",
        "CREATE INDEX evil ON stored_message (id) WHERE abs(id) > 0",
    ],
)
def test_what_writing_would_run_is_refused_to_write(place: Path, statement: str) -> None:
    """Constraints and computed indexes; reading evaluates neither."""
    changed(place, statement)
    with archives.open(place) as opened:
        assert opened.chats()
    with pytest.raises(NotAnArchive):
        archives.open(place, create=True)


def test_what_somebody_added_for_themselves_is_no_harm(place: Path) -> None:
    """Tables, views and plain indexes."""
    changed(
        place, "CREATE TABLE mine (x)", "CREATE VIEW my AS SELECT 1", "CREATE INDEX i ON stored_message (order_ms)"
    )
    for create in (False, True):
        with archives.open(place, create=create) as opened:
            assert opened.chats()


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("stored_message", "UPDATE stored_message SET text = x'ff00'"),
        ("stored_message", "UPDATE stored_message SET look = x'07'"),
        ("stored_message", "UPDATE stored_message SET order_ms = 'never'"),
        ("recipient", "UPDATE recipient SET name = x'00'"),
        ("recipient", "UPDATE recipient SET name = NULL"),
        ("snapshot", "UPDATE snapshot SET made_ms = 'then'"),
        ("block", "UPDATE block SET data = 'text'"),
    ],
)
def test_wrong_types_are_said_to_be_damage(place: Path, table: str, change: str) -> None:
    """Whatever is read: nothing else is raised than that the archive is damaged, without quoting it."""
    changed(place, lax(table), "PRAGMA ignore_check_constraints = ON")
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    if "NULL" in change:
        connection.execute(f"UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = '{table}'")
        connection.close()
        connection = sqlite3.connect(place, isolation_level=None)
    connection.execute(change)
    connection.close()
    with archives.open(place) as opened:
        assert integrity.wrong_value(opened.connection).startswith(f"{table}.")
        connection = opened.connection
        error = integrity.damage_error(connection, TypeError("quoting a message"))
    assert isinstance(error, ArchiveError)
    assert "quoting" not in str(error)
    with pytest.raises(ArchiveError, match="damaged"), archives.open(place) as opened:
        raise TypeError("something came of it")


def test_mistakes_of_ours_are_not_blamed_on_a_sound_archive(place: Path) -> None:
    """They stay what they are."""
    with pytest.raises(TypeError, match="ours"), archives.open(place) as opened:
        assert integrity.wrong_value(opened.connection) == ""
        raise TypeError("ours")
    with archives.open(place) as opened:
        assert integrity.damage_error(opened.connection, RuntimeError()) is None
        assert opened.connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_no_expression_makes_a_value_that_fills_the_memory(place: Path) -> None:
    """What is larger than any value of an archive is refused by SQLite itself."""
    with pytest.raises(ArchiveError, match="damaged"), archives.open(place) as opened:
        opened.connection.execute("SELECT length(zeroblob(900000000) || 'x')").fetchall()


def test_lists_hold_only_what_they_are_declared_to(place: Path) -> None:
    """Also where they are used after the archive was closed."""
    changed(place, lax("recipient"))
    changed(place, "UPDATE recipient SET name = x'00'")
    with archives.open(place) as opened:
        for read in (opened.chats, opened.people):
            with pytest.raises(ArchiveError, match="damaged"):
                read()
