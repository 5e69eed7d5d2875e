"""Follows people whose id has changed, because a backup knows more of them than those before it did.

Somebody known by a phone number only has an id made of it. When a backup tells the ACI that goes with the number,
the id becomes what it would have been had that backup come first, and so does everything that was written of them.
"""

import json
import sqlite3
from typing import Final

from holdfast.backup.archive.merging import Merger
from holdfast.backup.archive.portraits import Portraits
from holdfast.backup.archive.recipients import Cast, recipient_mark
from holdfast.backup.archive.snapshots import Snapshots
from holdfast.backup.archive.tolerance import Notes
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import backup_pb2 as pb

__all__ = ["rename_people"]

# Where people are named besides messages.
NAMED: Final = (
    ("identity", "recipient_id"),
    ("snapshot_recipient", "recipient_id"),
    ("snapshot_chat", "chat_id"),
    ("distribution_list_member", "recipient_id"),
    ("notification_profile_member", "recipient_id"),
    ("chat_folder_member", "recipient_id"),
)
# Where messages name people.
IN_MESSAGES: Final = (
    ("message", "id", "chat_id"),
    ("message", "id", "author_id"),
    ("send_status", "message_id", "recipient_id"),
    ("reaction", "message_id", "author_id"),
    ("quote", "message_id", "author_id"),
    ("poll_vote", "message_id", "voter_id"),
    ("admin_deletion", "message_id", "admin_id"),
    ("call", "message_id", "ringer_id"),
    ("call", "message_id", "starter_id"),
)
AT_ONCE: Final = 1000


def rename_people(connection: sqlite3.Connection, cast: Cast, merger: Merger) -> None:
    """Let everything that was written of people follow those this import has renamed since the last time."""
    if not cast.renamed:
        return
    merger.shelf.flush()
    affected = messages_naming(connection, list(cast.renamed), cast.snapshots.account)
    run = connection.execute
    for before, after in cast.renamed.items():
        for table, column in NAMED:
            run(f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} = ?", (after, before))  # names of ours
        for table in ("recipient", "chat"):
            join_versions(connection, cast.snapshots, table, before, after)
        for table in ("contact", "chat", "recipient"):
            run(f"DELETE FROM {table} WHERE id = ?", (before,))
    current = cast.snapshots.current
    merger.maps = {current: merger.maps[current]}
    remark_lists(connection, cast, merger)
    portraits = Portraits(connection, cast.snapshots, Notes(), cast.people)
    for after in set(cast.renamed.values()):
        show_latest(connection, portraits, after)
    for start in range(0, len(affected), AT_ONCE):
        merger.rederive(affected[start : start + AT_ONCE])
    merger.keep_seen()
    cast.renamed.clear()


def messages_naming(connection: sqlite3.Connection, people: list[int], account: int) -> list[int]:
    """Find the messages that name somebody, and those with versions that may have done so."""
    wanted = json.dumps(people)
    found: set[int] = set()
    for table, key, column in IN_MESSAGES:
        query = f"SELECT {key} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"  # names of ours
        found.update(number for (number,) in connection.execute(query, (wanted,)))
    found.update(
        number
        for (number,) in connection.execute(
            "SELECT message_id FROM update_event e JOIN json_each(?) p ON instr(e.details, p.value)", (wanted,)
        )
    )
    found.update(
        number
        for (number,) in connection.execute(
            "SELECT DISTINCT v.message_id FROM message_version v JOIN message m ON m.id = v.message_id "
            "JOIN recipient r ON r.id = m.chat_id WHERE r.account_id = ?",
            (account,),
        )
    )
    return sorted(found)


def join_versions(
    connection: sqlite3.Connection, snapshots: Snapshots, table: str, before: int, after: int
) -> None:
    """Let the versions of a recipient or chat be those of another."""
    run = connection.execute
    rows = run(
        f"SELECT fingerprint, first_seen, last_seen FROM {table}_version WHERE {table}_id = ?", (before,)
    ).fetchall()
    for mark, first, last in rows:
        join_version(connection, snapshots, table, (before, mark), (after, mark), first, last)


def join_version(  # noqa: PLR0917  # from where to where, and when
    connection: sqlite3.Connection,
    snapshots: Snapshots,
    table: str,
    before: tuple[int, int],
    after: tuple[int, int],
    first: int,
    last: int,
) -> None:
    """Move one version, or let the one that is there have been seen as early and as late."""
    run, key = connection.execute, f"{table}_id = ? AND fingerprint = ?"
    there = run(f"SELECT first_seen, last_seen FROM {table}_version WHERE {key}", after).fetchone()
    if there is None:
        run(f"UPDATE {table}_version SET {table}_id = ?, fingerprint = ? WHERE {key}", (*after, *before))
        return
    seen = (snapshots.earlier(first, there[0]), snapshots.later(last, there[1]))
    run(f"UPDATE {table}_version SET first_seen = ?, last_seen = ? WHERE {key}", (*seen, *after))
    run(f"DELETE FROM {table}_version WHERE {key}", before)


def remark_lists(connection: sqlite3.Connection, cast: Cast, merger: Merger) -> None:
    """Make the fingerprints of distribution lists anew, as they speak of their members."""
    rows = connection.execute(
        "SELECT v.recipient_id, v.fingerprint, v.first_seen, v.last_seen, v.recorded_in, v.record, r.fingerprint "
        "FROM recipient_version v JOIN recipient r ON r.id = v.recipient_id "
        "WHERE r.account_id = ? AND r.kind = 'distribution_list'",
        (cast.snapshots.account,),
    ).fetchall()
    for number, mark, first, last, snapshot, raw, shown in rows:
        now = recipient_mark(raw, merger.map_of(snapshot)[0])
        if now != mark:
            join_version(connection, cast.snapshots, "recipient", (number, mark), (number, now), first, last)
            if shown == mark:
                connection.execute("UPDATE recipient SET fingerprint = ? WHERE id = ?", (now, number))


def show_latest(connection: sqlite3.Connection, portraits: Portraits, number: int) -> None:
    """Show somebody and their chat as the latest snapshot that has them does."""
    shots, run = portraits.snapshots, connection.execute
    for table in ("recipient", "chat"):
        rows = run(
            f"SELECT fingerprint, first_seen, last_seen, record FROM {table}_version WHERE {table}_id = ?",
            (number,),
        ).fetchall()
        if not rows:
            continue
        mark, _first, last, raw = max(rows, key=lambda row: shots.order[row[2]])
        first = min((row[1] for row in rows), key=shots.order.__getitem__)
        if table == "recipient":
            one = pb.Recipient.FromString(raw)
            portraits.describe(number, one, mark, recipient_name(one))
        else:
            portraits.describe_chat(number, pb.Chat.FromString(raw), mark)
        run(f"UPDATE {table} SET first_seen = ?, last_seen = ? WHERE id = ?", (first, shots.still(last), number))
