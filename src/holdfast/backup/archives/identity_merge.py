"""Makes one account of several, or gives one another id, when a backup tells that what looked like two is one.

All ids of an account are made of its own, which is made of what its earliest snapshot is recognised by. When an
older backup comes, or one that belongs to two accounts, everything gets the id that it would have had in another
order of imports.
"""

import sqlite3
from collections.abc import Collection, Mapping
from typing import Any, Final

from holdfast.backup.archives.identity import Identity, stable_id
from holdfast.backup.archives.identity_changes import NAMED, follow_aliases, show_again
from holdfast.backup.archives.identity_resolution import STRENGTH
from holdfast.backup.archives.messages import Messages
from holdfast.backup.archives.recipients import RecipientMap, chat_mark, recipient_mark
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes

__all__ = ["merge_accounts"]

# What is written anew from the versions.
SHOWN: Final = (
    ("group_member", "group_id"),
    ("distribution_list_member", "list_id"),
    ("contact", "id"),
    ('"group"', "id"),
    ("distribution_list", "id"),
    ("call_link", "id"),
    ("chat", "id"),
    ("recipient", "id"),
)
AT_ONCE: Final = 1000


def merge_accounts(connection: sqlite3.Connection, accounts: Collection[int], into: int) -> None:
    """Merge accounts into one that has another id."""
    run, many = connection.execute, connection.executemany
    run("CREATE TEMP TABLE uniting (old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    for account in accounts:
        keys = strongest(connection, account)
        many(
            "INSERT OR IGNORE INTO temp.uniting VALUES (?, ?)",
            [(alias, stable_id(into, *key)) for alias, key in keys.items()],
        )
        # What the newest snapshot of one account has, a later one of the other need not have.
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
    # Here the current snapshot is one of those that are there.
    messages.merger.maps.clear()
    follow_aliases(connection, recipient_map.regroup())
    recipient_map.save()
    remark(connection, recipient_map, messages)
    for table, column in SHOWN:
        run(f"DELETE FROM {table} WHERE {column} IN (SELECT old FROM temp.uniting)")  # names of ours
    show_again(connection, recipient_map, messages.merger, recipient_map.owners.values())
    read_again(connection, messages)
    run("DROP TABLE temp.uniting")


def read_again(connection: sqlite3.Connection, messages: Messages) -> None:
    """Read all messages again, which have new ids like everybody in them."""
    run, of_old = connection.execute, "SELECT id FROM message WHERE chat_id IN (SELECT old FROM temp.uniting"
    every = [number for (number,) in run(f"{of_old})")]
    for start in range(0, len(every), AT_ONCE):
        messages.merger.rederive(every[start : start + AT_ONCE])
        messages.end()
    # One that had to make room for another before its turn is not where it was.
    while left := [number for (number,) in run(f"{of_old} WHERE old <> new) LIMIT {AT_ONCE}")]:
        messages.merger.rederive(left)
        messages.end()
    messages.index()


def strongest(connection: sqlite3.Connection, account: int) -> dict[int, Identity]:
    """Return what the aliases of an account are made of."""
    rows = connection.execute(
        "SELECT alias, kind, value FROM identity WHERE account_id = ?", (account,)
    ).fetchall()
    rows.sort(key=lambda row: STRENGTH.index(row[1]) if row[1] in STRENGTH else -1, reverse=True)
    return {alias: (kind, value) for alias, kind, value in rows}


def renumber(connection: sqlite3.Connection, snapshots: Snapshots, accounts: Collection[int]) -> None:
    """Give aliases and what goes by them their new ids."""
    new = "SELECT new FROM temp.uniting WHERE old"
    for table, column in NAMED:
        if not table.endswith("_version"):
            connection.execute(
                f"UPDATE {table} SET {column} = ({new} = {column}), alias = ({new} = alias) "  # names of ours
                "WHERE alias IN (SELECT old FROM temp.uniting)"
            )
    connection.execute(
        "INSERT OR IGNORE INTO twin SELECT c.new, a.new, t.first_sent_ms, t.slot FROM twin t "
        "JOIN temp.uniting c ON c.old = t.chat_alias JOIN temp.uniting a ON a.old = t.author_alias"
    )
    connection.execute("DELETE FROM twin WHERE chat_alias IN (SELECT old FROM temp.uniting WHERE old <> new)")
    rows = connection.execute(
        "SELECT i.kind, i.value, u.new, i.first_seen FROM identity i JOIN temp.uniting u ON u.old = i.alias"
    )
    seen: dict[tuple[str, str, int], int] = {}
    for kind, value, alias, first in rows:
        # Where two become one, the earlier sighting counts.
        mark = (kind, value, alias)
        seen[mark] = snapshots.earlier(seen.get(mark, first), first)
    gather(
        connection,
        accounts,
        "identity",
        [(snapshots.account, *mark, mark[2], first) for mark, first in seen.items()],
    )
    for table, columns in (
        ("ad_hoc_call", f"call_id, ({new} = call_link_id), state, at_ms"),
        ("sticker_pack", "pack_id, pack_key"),
    ):
        found: list[tuple[Any, ...]] = []
        for account in accounts:
            query = f"SELECT {columns}, seen_in FROM {table} WHERE account_id = ?"  # names of ours
            found += connection.execute(query, (account,))
        # The later snapshot has the last word.
        found.sort(key=lambda row: snapshots.order[row[-1]])
        gather(connection, accounts, table, [(snapshots.account, *row) for row in found])


def gather(
    connection: sqlite3.Connection, accounts: Collection[int], table: str, rows: list[tuple[Any, ...]]
) -> None:
    """Put rows in the place of those that some accounts have."""
    for account in accounts:
        connection.execute(f"DELETE FROM {table} WHERE account_id = ?", (account,))  # names of ours
    if rows:
        places = ", ".join("?" * len(rows[0]))
        connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({places})", rows)


def remark(connection: sqlite3.Connection, recipient_map: RecipientMap, messages: Messages) -> None:
    """Make the versions of recipients and chats anew, whose fingerprints speak of aliases."""
    for table in ("recipient", "chat"):
        named = ", name" if table == "recipient" else ""
        rows = connection.execute(
            f"SELECT u.new, v.fingerprint, v.first_seen, v.last_seen, v.recorded_in, v.record{named} "  # two names
            f"FROM {table}_version v JOIN temp.uniting u ON u.old = v.alias"
        ).fetchall()
        connection.execute(f"DELETE FROM {table}_version WHERE alias IN (SELECT old FROM temp.uniting)")
        made: dict[tuple[int, int], tuple[object, ...]] = {}
        spans: dict[tuple[int, int], tuple[int, int]] = {}
        for alias, mark, first, last, snapshot, raw, *name in rows:
            now = new_mark(table, alias, mark, raw, recipient_map, messages.merger.map_of(snapshot))
            begin, end = spans.get((alias, now), (first, last))
            spans[alias, now] = (
                recipient_map.snapshots.earlier(begin, first),
                recipient_map.snapshots.later(end, last),
            )
            made[alias, now] = (*name, *spans[alias, now], snapshot, raw)
        places = ", ".join("?" * (7 + bool(named)))
        connection.executemany(
            f"INSERT INTO {table}_version VALUES ({places})",
            [(recipient_map.owners[alias], mark, alias, *rest) for (alias, mark), rest in made.items()],
        )


def new_mark(  # noqa: PLR0917  # of what, and what it says
    table: str, alias: int, mark: int, raw: bytes, recipient_map: RecipientMap, maps: tuple[Mapping[int, int], ...]
) -> int:
    """Make the fingerprint of a version anew; that of the placeholder, which has no record, stays."""
    if not raw:
        return mark
    if table == "recipient":
        return recipient_mark(raw, maps[0], maps[2])
    return chat_mark(raw, alias, weak=recipient_map.weak(alias))
