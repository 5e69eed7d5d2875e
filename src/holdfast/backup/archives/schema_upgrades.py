"""How an archive of an older version becomes one of this version, inside one transaction.

Nothing of an old schema is evaluated: its views are dropped before anything is read, and what is read are columns.
What a table looks like afterwards is checked as for every archive that is written to.
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

# The tables of messages that version 2 has left as they were.
UNCHANGED: Final = ("block", "media")
# What became of a message on its way, as numbers.
STATUSES: Final = {name: n for n, name in enumerate(item_rows.STATUSES) if name}
REASONS: Final = {name: n for n, name in enumerate(item_rows.REASONS)}
SEALED: Final = 16
BATCH: Final = 10_000


def statements(script: str) -> Iterator[str]:
    """Yield the statements of a script."""
    return (statement for statement in script.split(";\n") if statement.strip())


def number_expression(column: str, names: Sequence[str]) -> str:
    """Write the number of a name."""
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
    """Version 2: messages in smaller rows, receipts in these, and of attachments only what is asked for."""
    run = connection.execute
    for view in ("messages", "chats", "people", "searchable"):
        run(f"DROP VIEW IF EXISTS {view}")  # names of ours
    for statement in statements(MESSAGES):
        match = re.match(r"\s*CREATE TABLE (\w+)", statement)
        assert match is not None  # noqa: S101  # the script makes tables and nothing else
        table = match[1]
        if table == "stored_message":
            run(statement)
        elif table not in UNCHANGED:
            replace_table(connection, table, statement)
    run(COPY_MESSAGES)
    store_receipts(connection)
    for table in ("message", "send_status"):
        run(f"DROP TABLE {table}")  # names of ours
    existing = {name for (name,) in run("SELECT name FROM sqlite_master")}
    for statement in (*statements(INDEXES), *LATER_INDEXES.values(), *statements(VIEWS), *statements(SEARCH)):
        if statement.split()[3 if "VIRTUAL" in statement else 2] not in existing:
            run(statement)
    index_all(connection)


def replace_table(connection: sqlite3.Connection, table: str, statement: str) -> None:
    """Make a table anew, with the columns it has now."""
    run = connection.execute
    run(f"CREATE TEMP TABLE old_rows AS SELECT * FROM main.{table}")  # names of ours
    run(f"DROP TABLE main.{table}")
    run(statement)
    columns = ", ".join(f'"{name}"' for (name,) in run("SELECT name FROM pragma_table_info(?)", (table,)))
    run(f"INSERT INTO main.{table} SELECT {columns} FROM temp.old_rows")
    run("DROP TABLE temp.old_rows")


def store_receipts(connection: sqlite3.Connection) -> None:
    """Put receipts, which had a row each, into the rows of their messages."""
    rows = connection.execute(
        "SELECT r.message_id, m.sent_ms, r.recipient_id, r.at_ms, r.status, r.sealed_sender, r.reason "
        "FROM send_status r JOIN message m ON m.id = r.message_id ORDER BY r.message_id, r.n"
    )
    batch: list[tuple[bytes, int, int]] = []
    for (number, sent), receipts in groupby(rows, key=lambda row: row[:2]):
        statuses = [
            (who, at, STATUSES[status] | bool(sealed) * SEALED | REASONS.get(reason, 0) << 5)
            for *_message, who, at, status, sealed, reason in receipts
        ]
        delivery = max(item_rows.DELIVERIES.index(item_rows.STATUSES[flags & 15]) for *_rest, flags in statuses)
        batch.append((bytes(item_rows.pack_receipts(statuses, sent)), delivery << item_rows.DELIVERY, number))
        if len(batch) >= BATCH:
            write_receipts(connection, batch)
    write_receipts(connection, batch)


def write_receipts(connection: sqlite3.Connection, batch: list[tuple[bytes, int, int]]) -> None:
    """Write the receipts of some messages, with how far each got."""
    connection.executemany("UPDATE stored_message SET receipts = ?, look = look | ? WHERE id = ?", batch)
    batch.clear()


# The step that leads to each version from the one before it; a step that was released is never changed again.
UPGRADES: Final[Sequence[Upgrade]] = (store_compactly,)
