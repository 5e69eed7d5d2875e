"""Writes the full-text index of an archive.

What has no words is indexed by `signs`, which are spelled when a message is indexed and again when it is taken out
of the index: written down they took a tenth of the room of all messages.
"""

import sqlite3
from typing import Final

from holdfast.backup.archives.signs import sign_words

__all__ = ["HASH_SIZE", "index_all", "index_messages", "unindex_messages"]

# So much the full-text index collects in memory before it writes; the usual million makes it merge twice as often.
HASH_SIZE, USUAL_HASH_SIZE = 32 << 20, 1 << 20
# Texts of ASCII, which have as many characters as bytes, have no signs.
SIGNS: Final = (
    "CASE WHEN extra IS NOT NULL OR length(text) <> length(CAST(text AS BLOB)) THEN spelled_signs(text, extra) END"
)
COLUMNS: Final = "text, extra, signs, facets"
ROWS: Final = f"id, text, extra, {SIGNS}, facets FROM searchable"


def spelled_signs(text: str | None, extra: str | None) -> str | None:
    """Spell the signs of a message."""
    return sign_words(f"{text or ''}\n{extra or ''}") or None


def index_all(connection: sqlite3.Connection) -> None:
    """Index all messages anew."""
    connection.execute("INSERT INTO message_index (message_index) VALUES ('delete-all')")
    add_to_index(connection, "ORDER BY id")


def index_messages(connection: sqlite3.Connection, ids: str) -> None:
    """Index messages that are in no index yet; `ids` is a query."""
    add_to_index(connection, f"WHERE id IN ({ids}) ORDER BY id")


def add_to_index(connection: sqlite3.Connection, which: str) -> None:
    """Add messages to the index."""
    register_functions(connection)
    run = connection.execute
    config = "INSERT INTO message_index (message_index, rank) VALUES ('hashsize', ?)"
    run(config, (HASH_SIZE,))
    run(f"INSERT INTO message_index (rowid, {COLUMNS}) SELECT {ROWS} {which}")  # columns of ours
    run(config, (USUAL_HASH_SIZE,))


def unindex_messages(connection: sqlite3.Connection, ids: str, values: tuple[int, ...] = ()) -> None:
    """Take messages that are what they were when they were indexed out of the index; `ids` is a query."""
    register_functions(connection)
    connection.execute(
        f"INSERT INTO message_index (message_index, rowid, {COLUMNS}) "  # columns of ours
        f"SELECT 'delete', {ROWS} WHERE id IN ({ids})",
        values,
    )


def register_functions(connection: sqlite3.Connection) -> None:
    """Let statements spell signs."""
    connection.create_function("spelled_signs", 2, spelled_signs, deterministic=True)
