"""Maintains the FTS5 full-text index of an archive.

Tokens for scripts without word separators and for emoji (`signs`) are computed when a message is indexed and again
when it is removed from the index: stored, they would take a tenth of the size of all messages.
"""

import sqlite3
from typing import Final

from holdfast.backup.archives import item_rows
from holdfast.backup.archives.schema_views import FACETS, INCOMING, ORDINARY, OUTGOING
from holdfast.backup.archives.signs import index_tokens

__all__ = ["HASH_SIZE", "index_all", "index_messages", "unindex_messages"]

# FTS5 `hashsize`: what the index buffers in memory before it writes. The default of one megabyte makes it merge
# twice as often.
HASH_SIZE, USUAL_HASH_SIZE = 32 << 20, 1 << 20
# ASCII texts, recognised by equal character and byte counts, have no signs.
SIGNS: Final = (
    "CASE WHEN extra IS NOT NULL OR length(text) <> length(CAST(text AS BLOB)) THEN spelled_signs(text, extra) END"
)
COLUMNS: Final = "text, extra, signs, facets"
# What `FACETS` is for most messages, in half the time: the direction and the kind in one comparison.
FACET_BITS: Final = 15 | 31 << 4 | item_rows.HAS_MEDIA | item_rows.HAS_LINK
QUICK_FACETS: Final = f"""CASE look & {FACET_BITS}
  WHEN {INCOMING | ORDINARY << 4} THEN 'c' || chat_id || ' p' || author_id
  WHEN {OUTGOING | ORDINARY << 4} THEN 'c' || chat_id || ' p' || author_id || ' dout'
  ELSE {FACETS} END"""
ROWS: Final = f"id, text, extra, {SIGNS}, {QUICK_FACETS} FROM stored_message"


def index_all(connection: sqlite3.Connection) -> None:
    """Rebuild the index."""
    connection.execute("INSERT INTO message_index (message_index) VALUES ('delete-all')")
    add_to_index(connection, "ORDER BY id")


def index_messages(connection: sqlite3.Connection, ids: str) -> None:
    """Index messages that are not indexed yet; `ids` is a query."""
    add_to_index(connection, f"WHERE id IN ({ids}) ORDER BY id")


def add_to_index(connection: sqlite3.Connection, which: str) -> None:
    """Add messages to the index."""
    register_functions(connection)
    run = connection.execute
    config = "INSERT INTO message_index (message_index, rank) VALUES ('hashsize', ?)"
    run(config, (HASH_SIZE,))
    run(f"INSERT INTO message_index (rowid, {COLUMNS}) SELECT {ROWS} {which}")  # constant columns
    run(config, (USUAL_HASH_SIZE,))


def unindex_messages(connection: sqlite3.Connection, ids: str, values: tuple[int, ...] = ()) -> None:
    """Remove messages, unchanged since they were indexed, from the index; `ids` is a query."""
    register_functions(connection)
    connection.execute(
        f"INSERT INTO message_index (message_index, rowid, {COLUMNS}) "  # constant columns
        f"SELECT 'delete', {ROWS} WHERE id IN ({ids})",
        values,
    )


def register_functions(connection: sqlite3.Connection) -> None:
    """Register the SQL function `spelled_signs`."""
    connection.create_function("spelled_signs", 2, index_tokens, deterministic=True)
