"""Schema migrations of archives, each inside one transaction.

Nothing of an old schema is evaluated: its views are dropped before anything is read, and only columns are read.
The resulting tables are checked like those of any archive that is opened for writing.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from holdfast.backup.archives import item_rows
from holdfast.backup.archives.message_index import index_all
from holdfast.backup.archives.schema_messages import MESSAGES
from holdfast.backup.archives.schema_views import INDEXES, LATER_INDEXES, SEARCH, VIEWS

__all__ = ["UPGRADES", "statements"]

Upgrade = Callable[[sqlite3.Connection], None]

# Message tables that version 2 did not change.
UNCHANGED: Final = ("block", "media")
# Delivery statuses and failure reasons by name.
STATUSES: Final = {name: n for n, name in enumerate(item_rows.STATUSES) if name}
REASONS: Final = {name: n for n, name in enumerate(item_rows.REASONS)}
SEALED: Final = 16
BATCH: Final = 10_000


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script."""
    return (statement for statement in script.split(";\n") if statement.strip())


def number_expression(column: str, names: Sequence[str]) -> str:
    """Return a CASE expression that maps names to their numbers."""
    cases = " ".join(f"WHEN '{name}' THEN {n}" for n, name in enumerate(names) if name)
    return f"CASE {column} {cases} END"


COPY_MESSAGES: Final = f"""
INSERT INTO stored_message
SELECT id, chat_id, author_id, order_ms, order_n, order_ms - sent_ms, sent_ms - first_sent_ms,
  order_ms - received_ms, server_sent_ms - sent_ms,
  {number_expression("direction", item_rows.DIRECTIONS)} | ({number_expression("kind", item_rows.KINDS)} << 4)
  | (text IS NOT NULL) * {item_rows.HAS_TEXT} | has_link * {item_rows.HAS_LINK} | has_media * {item_rows.HAS_MEDIA}
  | coalesce(read, 0) * {item_rows.IS_READ} | coalesce(sealed_sender, 0) * {item_rows.IS_SEALED}
  | sms * {item_rows.IS_SMS},
  text, extra, NULL, expire_start_ms, expires_in_ms, pinned_ms, pinned_until_ms, slot, rank, fingerprint,
  first_seen, last_seen, block_id, block_at
FROM message ORDER BY id
"""


def store_compactly(connection: sqlite3.Connection) -> None:
    """Version 2: compact message rows with packed receipts, and only the used columns of attachments."""
    run = connection.execute
    for view in ("messages", "chats", "people", "searchable"):
        run(f"DROP VIEW IF EXISTS {view}")  # constants
    for statement in statements(MESSAGES):
        match = re.match(r"\s*CREATE TABLE (\w+)", statement)
        assert match is not None  # noqa: S101  # the script has only CREATE TABLE statements and nothing else
        table = match[1]
        if table == "stored_message":
            run(statement)
        elif table not in UNCHANGED:
            replace_table(connection, table, statement)
    run(COPY_MESSAGES)
    store_receipts(connection)
    for table in ("message", "send_status"):
        run(f"DROP TABLE {table}")  # constants
    existing = {name for (name,) in run("SELECT name FROM sqlite_master")}
    for statement in (*statements(INDEXES), *LATER_INDEXES.values(), *statements(VIEWS), *statements(SEARCH)):
        if statement.split()[3 if "VIRTUAL" in statement else 2] not in existing:
            run(statement)
    index_all(connection)


def replace_table(connection: sqlite3.Connection, table: str, statement: str) -> None:
    """Recreate a table with its new columns."""
    run = connection.execute
    run(f"CREATE TEMP TABLE old_rows AS SELECT * FROM main.{table}")  # constants
    run(f"DROP TABLE main.{table}")
    run(statement)
    columns = ", ".join(f'"{name}"' for (name,) in run("SELECT name FROM pragma_table_info(?)", (table,)))
    run(f"INSERT INTO main.{table} SELECT {columns} FROM temp.old_rows")
    run("DROP TABLE temp.old_rows")


def store_receipts(connection: sqlite3.Connection) -> None:
    """Move receipts from their table into the rows of their messages."""
    rows = connection.execute(
        "SELECT r.message_id, m.sent_ms, r.recipient_id, r.at_ms, r.status, r.sealed_sender, r.reason "
        "FROM send_status r JOIN message m ON m.id = r.message_id ORDER BY r.message_id, r.n"
    )
    batch: list[tuple[bytes, int, int]] = []
    for (number, sent), receipts in groupby(rows, key=lambda row: row[:2]):
        statuses = [
            (recipient, at, STATUSES[status] | bool(sealed) * SEALED | REASONS.get(reason, 0) << 5)
            for *_message, recipient, at, status, sealed, reason in receipts
        ]
        delivery = max(item_rows.DELIVERIES.index(item_rows.STATUSES[flags & 15]) for *_rest, flags in statuses)
        batch.append((bytes(item_rows.pack_receipts(statuses, sent)), delivery << item_rows.DELIVERY, number))
        if len(batch) >= BATCH:
            write_receipts(connection, batch)
    write_receipts(connection, batch)


def write_receipts(connection: sqlite3.Connection, batch: list[tuple[bytes, int, int]]) -> None:
    """Update the receipts and delivery statuses of a batch of messages."""
    connection.executemany("UPDATE stored_message SET receipts = ?, look = look | ? WHERE id = ?", batch)
    batch.clear()


# The migration to each version from the one before; a released migration is never changed.
UPGRADES: Final[Sequence[Upgrade]] = (store_compactly,)
