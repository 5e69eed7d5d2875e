"""Integrity checks of archives from untrusted sources."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from holdfast.backup import archives
from holdfast.backup.archives import integrity
from holdfast.backup.errors import ArchiveError, NotAnArchive
from tests.backup.archives.histories import copies, import_backups, write


@pytest.fixture
def archive_path(tmp_path: Path) -> Path:
    """Make an archive."""
    import_backups(tmp_path / "a.db", write(tmp_path / "one", *copies()))
    return tmp_path / "a.db"


def execute(path: Path, *statements: str) -> Path:
    """Run SQL statements on an archive with a plain connection and a writable schema."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    for statement in statements:
        connection.execute(statement)
    connection.close()
    return path


def replace_definition(name: str, old: str, new: str) -> str:
    """Change the text a table or view was made with."""
    return f"UPDATE sqlite_master SET sql = replace(sql, '{old}', '{new}') WHERE name = '{name}'"


def drop_types(table: str) -> str:
    """Take the types from a table, so that it can hold anything."""
    return replace_definition(table, ") STRICT", ")")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER evil AFTER INSERT ON stored_message BEGIN DELETE FROM stored_message; END",
        replace_definition("people", "WHERE r.kind IN", "WHERE zeroblob(99) AND r.kind IN"),
        replace_definition("stored_message", "look INTEGER NOT NULL", "look INTEGER AS (length(zeroblob(99)))"),
        replace_definition("message", "FROM stored_message", "FROM stored_message WHERE zeroblob(99)"),
        replace_definition("message_index", "fts5", "fts4"),
        "UPDATE sqlite_master SET type='view', sql='CREATE VIEW chat AS SELECT 1', rootpage=0 WHERE name='chat'",
    ],
)
def test_what_runs_by_itself_is_refused(archive_path: Path, statement: str) -> None:
    """Triggers, changed views, computed columns and changed virtual tables are refused, to read as to write."""
    execute(archive_path, statement)
    for create in (False, True):
        with pytest.raises(ArchiveError), archives.open(archive_path, create=create) as opened:
            opened.people()


@pytest.mark.parametrize(
    "statement",
    [
        replace_definition(
            "stored_message", "rank INTEGER NOT NULL", "rank INTEGER NOT NULL CHECK (zeroblob(1000000000) > 0)"
        ),
        "CREATE INDEX evil ON stored_message (abs(id))",
        "CREATE INDEX evil ON stored_message (id) WHERE abs(id) > 0",
    ],
)
def test_what_writing_would_run_is_refused_to_write(archive_path: Path, statement: str) -> None:
    """Changed constraints and expression indexes are refused to write; reading evaluates neither."""
    execute(archive_path, statement)
    with archives.open(archive_path) as opened:
        assert opened.chats()
    with pytest.raises(NotAnArchive):
        archives.open(archive_path, create=True)


def test_what_somebody_added_for_themselves_is_no_harm(archive_path: Path) -> None:
    """Additional tables, views and plain indexes are accepted, to read as to write."""
    execute(
        archive_path,
        "CREATE TABLE mine (x)",
        "CREATE VIEW my AS SELECT 1",
        "CREATE INDEX i ON stored_message (order_ms)",
    )
    for create in (False, True):
        with archives.open(archive_path, create=create) as opened:
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
def test_wrong_types_are_said_to_be_damage(archive_path: Path, table: str, change: str) -> None:
    """A value of a wrong type is reported as damage, without quoting the value."""
    execute(archive_path, drop_types(table), "PRAGMA ignore_check_constraints = ON")
    connection = sqlite3.connect(archive_path, isolation_level=None)
    connection.execute("PRAGMA writable_schema = ON")
    if "NULL" in change:
        connection.execute(f"UPDATE sqlite_master SET sql = replace(sql, 'NOT NULL', '') WHERE name = '{table}'")
        connection.close()
        connection = sqlite3.connect(archive_path, isolation_level=None)
    connection.execute(change)
    connection.close()
    with archives.open(archive_path) as opened:
        assert integrity.wrong_value(opened.connection).startswith(f"{table}.")
        connection = opened.connection
        error = integrity.damage_error(connection, TypeError("quoting a message"))
    assert isinstance(error, ArchiveError)
    assert "quoting" not in str(error)
    with pytest.raises(ArchiveError, match="damaged"), archives.open(archive_path) as opened:
        raise TypeError("something came of it")


def test_mistakes_of_ours_are_not_blamed_on_a_sound_archive(archive_path: Path) -> None:
    """An exception is passed on as it is if the archive has no wrong value."""
    with pytest.raises(TypeError, match="ours"), archives.open(archive_path) as opened:
        assert integrity.wrong_value(opened.connection) == ""
        raise TypeError("ours")
    with archives.open(archive_path) as opened:
        assert integrity.damage_error(opened.connection, RuntimeError()) is None
        assert opened.connection.execute("PRAGMA trusted_schema").fetchone() == (0,)


def test_no_expression_makes_a_value_that_fills_the_memory(archive_path: Path) -> None:
    """SQLite refuses a value that is larger than any value of an archive."""
    with pytest.raises(ArchiveError, match="damaged"), archives.open(archive_path) as opened:
        opened.connection.execute("SELECT length(zeroblob(900000000) || 'x')").fetchall()


def test_lists_hold_only_what_they_are_declared_to(archive_path: Path) -> None:
    """Reading chats and people checks the types of the values, and a wrong one is damage."""
    execute(archive_path, drop_types("recipient"))
    execute(archive_path, "UPDATE recipient SET name = x'00'")
    with archives.open(archive_path) as opened:
        for read in (opened.chats, opened.people):
            with pytest.raises(ArchiveError, match="damaged"):
                read()


def sqlite_error(kind: type[sqlite3.Error], code: int | None) -> sqlite3.Error:
    """Make an error of SQLite, with a code or without."""
    error = kind("no such thing")
    if code is not None:
        error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("problem", "is_damage"),
    [
        (sqlite_error(sqlite3.DatabaseError, sqlite3.SQLITE_CORRUPT), True),
        (sqlite_error(sqlite3.DatabaseError, sqlite3.SQLITE_CORRUPT_INDEX), True),
        (sqlite_error(sqlite3.OperationalError, sqlite3.SQLITE_BUSY), False),
        (sqlite_error(sqlite3.OperationalError, sqlite3.SQLITE_IOERR_READ), False),
        (sqlite_error(sqlite3.OperationalError, None), True),
        (sqlite_error(sqlite3.DataError, None), True),
        (sqlite_error(sqlite3.ProgrammingError, None), False),
        (ArchiveError("the archive is of another account"), False),
        (KeyboardInterrupt(), False),
    ],
)
def test_damage_is_told_from_what_happens_around_the_archive(
    archive_path: Path, problem: BaseException, *, is_damage: bool
) -> None:
    """A busy archive, a disk that fails and an error of the program are not reported as damage."""
    with closing(sqlite3.connect(archive_path)) as connection:
        found = integrity.damage_error(connection, problem)
    assert (found is not None and str(found) == "the archive is damaged") == is_damage


def test_an_archive_cannot_attach_others_nor_start_threads(archive_path: Path) -> None:
    """A hardened connection attaches no database, starts no worker threads, and limits the size of values."""
    with closing(sqlite3.connect(archive_path)) as connection:
        integrity.harden(connection)
        limits = (sqlite3.SQLITE_LIMIT_ATTACHED, sqlite3.SQLITE_LIMIT_WORKER_THREADS, sqlite3.SQLITE_LIMIT_LENGTH)
        assert [connection.getlimit(limit) for limit in limits] == [0, 0, integrity.MAX_VALUE_BYTES]
        with pytest.raises(sqlite3.OperationalError, match="too many attached"):
            connection.execute("ATTACH ':memory:' AS other")


class InnerStruct(msgspec.Struct):
    """A struct nested in `OuterStruct`."""

    size: int


class OuterStruct(msgspec.Struct):
    """A struct with nested structs."""

    name: str | None
    part: InnerStruct
    parts: tuple[InnerStruct, ...] = ()


def test_types_are_checked_in_every_part() -> None:
    """The error names the struct and the field of the wrong type, also in nested structs."""
    sound = OuterStruct(None, InnerStruct(1), (InnerStruct(2),))
    assert integrity.check_types(sound) is sound
    wrong: Any = InnerStruct("1")  # type: ignore[arg-type]  # as a damaged archive may have it
    for whole in (OuterStruct("a", wrong), OuterStruct("a", InnerStruct(1), (InnerStruct(2), wrong))):
        with pytest.raises(ArchiveError, match=r"a value of innerstruct\.size has a wrong type"):
            integrity.check_types(whole)
    with pytest.raises(ArchiveError, match=r"a value of outerstruct\.name has a wrong type"):
        integrity.check_types(OuterStruct(3, InnerStruct(1)))  # type: ignore[arg-type]  # the wrong type is the point


def test_a_name_that_somebody_else_gave_is_shortened_and_escaped() -> None:
    """A name in an error message has at most 40 characters, and its control characters are escaped."""
    assert integrity.shorten_name("x" * 41) == repr("x" * 40)
    assert integrity.shorten_name("a\x1bü") == r"'a\x1b\xfc'"


def test_a_key_is_never_empty() -> None:
    """A primary key is never NULL, and a column that is declared to allow NULL may be."""
    columns = {name: may_be_empty for name, _type, may_be_empty in integrity.own_columns()["snapshot"]}
    assert (columns["id"], columns["account_record"]) == (False, True)
