"""Canonical dumps of archives: equal for archives with equal content."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from holdfast.backup.archives.message_index import index_all

# Columns that tell of the import and not of the content: numbers given in the order of imports, and where from.
OF_THE_IMPORT = {"source", "imported_ms", "block_id", "block_at", "recorded_in", "record"}
SNAPSHOTS = {"snapshot_id", "first_seen", "last_seen", "seen_in", "newest_snapshot"}
LEFT_OUT = {"block", "snapshot_recipient", "snapshot_chat"}


def dump(path: Path) -> list[str]:
    """List all rows of all tables, snapshots by their content."""
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("INSERT INTO message_index (message_index) VALUES ('integrity-check')")
        assert terms(connection) == rebuilt_terms(connection)
        return sorted(lines(connection))
    finally:
        connection.close()


def terms(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """List the positions of each term of the full-text index."""
    connection.execute("CREATE VIRTUAL TABLE temp.places USING fts5vocab (main, message_index, instance)")
    rows = connection.execute('SELECT * FROM temp.places ORDER BY term, doc, col, "offset"').fetchall()
    connection.execute("DROP TABLE temp.places")
    return rows


def rebuilt_terms(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """List the positions of each term of an index that is rebuilt from all messages."""
    connection.execute("BEGIN")
    index_all(connection)
    stored = terms(connection)
    connection.execute("ROLLBACK")
    return stored


def lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Write each row as a line."""
    digests = dict(connection.execute("SELECT id, made_ms || ' ' || substr(digest, 1, 8) FROM snapshot"))
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'message_index%' "
        "AND name <> 'message_term'"
    )
    for (table,) in tables.fetchall():
        if table in LEFT_OUT:
            continue
        rows = connection.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in rows.description]
        for row in rows:
            values = {
                name: digests.get(value) if name in SNAPSHOTS else value
                for name, value in zip(names, row, strict=True)
                if name not in OF_THE_IMPORT and not (table == "snapshot" and name == "id")
            }
            yield f"{table} {values}"
    for view in ("messages", "chats", "people"):
        for row in connection.execute(f"SELECT * FROM {view}"):
            yield f"{view} {row}"
