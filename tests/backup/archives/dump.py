"""Everything an archive says, written so that two archives that say the same give the same."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

# Columns that tell of the import and not of the content: numbers given in the order of imports, and where from.
OF_THE_IMPORT = {"source", "imported_ms", "block_id", "block_at", "recorded_in", "record"}
SNAPSHOTS = {"snapshot_id", "first_seen", "last_seen", "seen_in", "newest_snapshot"}
LEFT_OUT = {"block", "snapshot_recipient", "snapshot_chat"}


def dump(path: Path) -> list[str]:
    """List all rows of all tables, snapshots by their content."""
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.execute("INSERT INTO message_index (message_index, rank) VALUES ('integrity-check', 1)")
        return sorted(lines(connection))
    finally:
        connection.close()


def lines(connection: sqlite3.Connection) -> Iterator[str]:
    """Write each row as a line."""
    digests = dict(connection.execute("SELECT id, made_ms || ' ' || substr(digest, 1, 8) FROM snapshot"))
    tables = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'message_index%'"
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
