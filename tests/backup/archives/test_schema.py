"""The schema of an archive."""

import sqlite3
from contextlib import closing
from pathlib import Path

from holdfast.backup.archives import schema


def test_a_new_archive_says_what_it_is(filled: Path) -> None:
    """A new archive has the application id and the version of the schema."""
    with closing(sqlite3.connect(filled)) as plain, plain:
        assert plain.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert plain.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_every_table_has_rows_in_a_whole_history(filled: Path) -> None:
    """A history with every kind of record fills all tables but those that later imports fill."""
    filled_later = {"media", "message_version", "message_change", "twin"}
    with closing(sqlite3.connect(filled)) as plain, plain:
        tables = plain.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'message_index%'"
        ).fetchall()
        empty = {name for (name,) in tables if plain.execute(f'SELECT count(*) FROM "{name}"').fetchone() == (0,)}
    assert empty <= filled_later


def test_nothing_dangles(filled: Path) -> None:
    """No foreign key is violated, although they are not enforced while rows are loaded."""
    with closing(sqlite3.connect(filled)) as plain, plain:
        assert plain.execute("PRAGMA foreign_key_check").fetchall() == []
