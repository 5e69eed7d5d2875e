"""Merges accounts, or changes the id of an account, when a new backup shows that they are the same.

All ids of an account are derived from its own, which is derived from the identifier of its earliest snapshot. When
an older backup is imported, or one that matches two accounts, all rows get the ids that another order of imports
would have given them.
"""

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final

from holdfast.backup.archives.identity import Identity, stable_id
from holdfast.backup.archives.identity_changes import ALIAS_COLUMNS, move_aliases, rewrite_current_rows
from holdfast.backup.archives.identity_resolution import STRENGTH
from holdfast.backup.archives.messages import Messages
from holdfast.backup.archives.recipients import RecipientMap, chat_fingerprint, recipient_fingerprint
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes

__all__ = ["merge_accounts"]

# Tables that are written again from the versions.
CURRENT_TABLES: Final = (
    ("group_member", "group_id"),
    ("distribution_list_member", "list_id"),
    ("contact", "id"),
    ('"group"', "id"),
    ("distribution_list", "id"),
    ("call_link", "id"),
    ("chat", "id"),
    ("recipient", "id"),
)
BATCH: Final = 1000


def merge_accounts(connection: sqlite3.Connection, accounts: Collection[int], into: int) -> None:
    """Merge accounts into one with another id."""
    run, many = connection.execute, connection.executemany
    run("CREATE TEMP TABLE id_change (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    for account in accounts:
        keys = strongest_identifiers(connection, account)
        many(
            "INSERT OR IGNORE INTO temp.id_change VALUES (?, ?)",
            [(alias, stable_id(into, *key)) for alias, key in keys.items()],
        )
        # `last_seen` is NULL for the newest snapshot of its account, which need not be the newest of the merged
        # one.
        run(
            "UPDATE stored_message SET last_seen = (SELECT newest_snapshot FROM account WHERE id = ?1) "
            "WHERE last_seen IS NULL AND chat_id IN (SELECT id FROM recipient WHERE account_id = ?1)",
            (account,),
        )
        run("UPDATE snapshot SET account_id = ? WHERE account_id = ?", (into, account))
        run("UPDATE OR REPLACE account_evidence SET account_id = ? WHERE account_id = ?", (into, account))
        run("DELETE FROM account WHERE id = ?", (account,))
    run("INSERT OR IGNORE INTO account VALUES (?, '', NULL, NULL, NULL)", (into,))
    snapshots = Snapshots.of(connection, into)
    renumber(connection, snapshots, accounts)
    recipient_map = RecipientMap(connection, snapshots, Notes())
    recipient_map.load()
    messages = Messages(connection, snapshots, recipient_map, recipient_map.notes)
    # No import is running, so the tables have the ids of the current snapshot too.
    messages.merger.maps.clear()
    move_aliases(connection, recipient_map.resolve_people())
    recipient_map.save()
    recompute_versions(connection, recipient_map, messages)
    for table, column in CURRENT_TABLES:
        run(f"DELETE FROM {table} WHERE {column} IN (SELECT old FROM temp.id_change)")  # constants
    rewrite_current_rows(connection, recipient_map, messages.merger, recipient_map.owners.values())
    rederive_messages(connection, messages)
    run("DROP TABLE temp.id_change")


def rederive_messages(connection: sqlite3.Connection, messages: Messages) -> None:
    """Read all messages of the merged accounts again, with their new ids."""
    run, of_old = connection.execute, "SELECT id FROM message WHERE chat_id IN (SELECT old FROM temp.id_change"
    message_ids = [number for (number,) in run(f"{of_old})")]
    for start in range(0, len(message_ids), BATCH):
        messages.merger.rederive(message_ids[start : start + BATCH])
        messages.end_block()
    # A message that was moved out of the place of another still has its old ids.
    while remaining := [number for (number,) in run(f"{of_old} WHERE old <> new) LIMIT {BATCH}")]:
        messages.merger.rederive(remaining)
        messages.end_block()
    messages.index()


def strongest_identifiers(connection: sqlite3.Connection, account: int) -> dict[int, Identity]:
    """Return the identifier that each alias of an account is derived from."""
    rows = connection.execute(
        "SELECT alias, kind, value FROM identity WHERE account_id = ?", (account,)
    ).fetchall()
    rows.sort(key=lambda row: STRENGTH.index(row[1]) if row[1] in STRENGTH else -1, reverse=True)
    return {alias: (kind, value) for alias, kind, value in rows}


def renumber(connection: sqlite3.Connection, snapshots: Snapshots, accounts: Collection[int]) -> None:
    """Assign new ids to aliases and the rows that refer to them."""
    new = "SELECT new FROM temp.id_change WHERE old"
    for table, column in ALIAS_COLUMNS:
        if not table.endswith("_version"):
            connection.execute(
                f"UPDATE {table} SET {column} = ({new} = {column}), alias = ({new} = alias) "  # constants
                "WHERE alias IN (SELECT old FROM temp.id_change)"
            )
    connection.execute(
        "INSERT OR IGNORE INTO twin SELECT c.new, a.new, t.first_sent_ms, t.slot FROM twin t "
        "JOIN temp.id_change c ON c.old = t.chat_alias JOIN temp.id_change a ON a.old = t.author_alias"
    )
    connection.execute("DELETE FROM twin WHERE chat_alias IN (SELECT old FROM temp.id_change WHERE old <> new)")
    rows = connection.execute(
        "SELECT i.kind, i.value, u.new, i.first_seen FROM identity i JOIN temp.id_change u ON u.old = i.alias"
    )
    first_sightings: dict[tuple[str, str, int], int] = {}
    for kind, value, alias, first in rows:
        # The earlier sighting is kept.
        identifier = (kind, value, alias)
        first_sightings[identifier] = snapshots.earlier(first_sightings.get(identifier, first), first)
    replace_account_rows(
        connection,
        accounts,
        "identity",
        [(snapshots.account, *identifier, identifier[2], first) for identifier, first in first_sightings.items()],
    )
    for table, columns in (
        ("ad_hoc_call", f"call_id, ({new} = call_link_id), state, at_ms"),
        ("sticker_pack", "pack_id, pack_key"),
    ):
        account_rows: list[tuple[Any, ...]] = []
        for account in accounts:
            query = f"SELECT {columns}, seen_in FROM {table} WHERE account_id = ?"  # constants
            account_rows += connection.execute(query, (account,))
        # The later snapshot takes precedence.
        account_rows.sort(key=lambda row: snapshots.order[row[-1]])
        replace_account_rows(connection, accounts, table, [(snapshots.account, *row) for row in account_rows])


def replace_account_rows(
    connection: sqlite3.Connection, accounts: Collection[int], table: str, rows: list[tuple[Any, ...]]
) -> None:
    """Replace the rows of accounts in a table."""
    for account in accounts:
        connection.execute(f"DELETE FROM {table} WHERE account_id = ?", (account,))  # constants
    if rows:
        placeholders = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({placeholders})", rows)


def recompute_versions(connection: sqlite3.Connection, recipient_map: RecipientMap, messages: Messages) -> None:
    """Recompute the fingerprints of the versions of recipients and chats, which depend on aliases."""
    for table in ("recipient", "chat"):
        named = ", name" if table == "recipient" else ""
        rows = connection.execute(
            f"SELECT u.new, v.fingerprint, v.first_seen, v.last_seen, v.recorded_in, v.record{named} "  # constants
            f"FROM {table}_version v JOIN temp.id_change u ON u.old = v.alias"
        ).fetchall()
        connection.execute(f"DELETE FROM {table}_version WHERE alias IN (SELECT old FROM temp.id_change)")
        versions: dict[tuple[int, int], tuple[object, ...]] = {}
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        for alias, fingerprint, first, last, snapshot, raw, *name in rows:
            new_fingerprint = recompute_fingerprint(
                table, alias, fingerprint, raw, recipient_map, messages.merger.id_maps(snapshot)
            )
            span_start, span_end = spans.get((alias, new_fingerprint), (first, last))
            spans[alias, new_fingerprint] = (
                recipient_map.snapshots.earlier(span_start, first),
                recipient_map.snapshots.later(span_end, last),
            )
            versions[alias, new_fingerprint] = (*name, *spans[alias, new_fingerprint], snapshot, raw)
        placeholders = ", ".join("?" * (7 + bool(named)))
        connection.executemany(
            f"INSERT INTO {table}_version VALUES ({placeholders})",
            [
                (recipient_map.owners[alias], fingerprint, alias, *rest)
                for (alias, fingerprint), rest in versions.items()
            ],
        )


def recompute_fingerprint(  # noqa: PLR0917  # the columns of a version
    table: str,
    alias: int,
    fingerprint: int,
    raw: bytes,
    recipient_map: RecipientMap,
    maps: tuple[Mapping[int, int], ...],
) -> int:
    """Recompute the fingerprint of a version; that of the placeholder, which has no record, stays."""
    if not raw:
        return fingerprint
    if table == "recipient":
        return recipient_fingerprint(raw, maps[0], maps[2])
    return chat_fingerprint(raw, alias, weak=recipient_map.is_weak(alias))
