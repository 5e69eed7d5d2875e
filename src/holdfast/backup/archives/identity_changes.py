"""Follows people who turn out to be others, because a backup knows more of them than those before it did.

What goes by a phone number only is a person of its own until a backup tells the ACI that goes with the number;
from then on everything that was written of the number is that person's, as it would have been had that backup come
first. It can also go the other way: see `identity_resolution`.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Final

from holdfast.backup.archives.message_merge import Merger
from holdfast.backup.archives.profiles import ProfileWriter
from holdfast.backup.archives.receipts import recipient_bytes
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import backup_pb2 as pb

__all__ = ["NAMED", "follow_aliases", "rename_people", "show_again"]

# Where people are named with the alias that they were known by, besides `identity`.
NAMED: Final = (
    ("snapshot_recipient", "recipient_id"),
    ("snapshot_chat", "chat_id"),
    ("recipient_version", "recipient_id"),
    ("chat_version", "chat_id"),
    ("notification_profile_member", "recipient_id"),
    ("chat_folder_member", "recipient_id"),
)
# Where messages name people.
IN_MESSAGES: Final = (
    ("stored_message", "id", "chat_id"),
    ("stored_message", "id", "author_id"),
    ("reaction", "message_id", "author_id"),
    ("quote", "message_id", "author_id"),
    ("poll_vote", "message_id", "voter_id"),
    ("admin_deletion", "message_id", "admin_id"),
    ("call", "message_id", "ringer_id"),
    ("call", "message_id", "starter_id"),
)
AT_ONCE: Final = 1000


def rename_people(
    connection: sqlite3.Connection,
    recipient_map: RecipientMap,
    merger: Merger,
    moved: Mapping[int, tuple[int, int]],
) -> None:
    """Let everything that was written of people follow the aliases that have changed hands."""
    if not moved:
        return
    merger.store.flush()
    people = {person for pair in moved.values() for person in pair}
    affected = messages_naming(connection, sorted({before for before, _after in moved.values()}), recipient_map)
    follow_aliases(connection, moved)
    merger.forget_maps()
    show_again(connection, recipient_map, merger, people)
    for start in range(0, len(affected), AT_ONCE):
        merger.rederive(affected[start : start + AT_ONCE])
    merger.keep_seen()


def follow_aliases(connection: sqlite3.Connection, moved: Mapping[int, tuple[int, int]]) -> None:
    """Let what goes by some aliases be that of whom they belong to now."""
    for alias, (_before, after) in moved.items():
        for table, column in NAMED:
            query = f"UPDATE {table} SET {column} = ? WHERE alias = ? AND {column} <> ?"  # names of ours
            connection.execute(query, (after, alias, after))


def messages_naming(connection: sqlite3.Connection, people: list[int], recipient_map: RecipientMap) -> list[int]:
    """Find the messages that name somebody, and those with versions that may have done so."""
    wanted = json.dumps(people)
    found: set[int] = set()
    for table, key, column in IN_MESSAGES:
        query = f"SELECT {key} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"  # names of ours
        found.update(number for (number,) in connection.execute(query, (wanted,)))
    for person in people:
        rows = connection.execute(
            "SELECT id FROM stored_message WHERE instr(receipts, ?)", (recipient_bytes(person),)
        )
        found.update(number for (number,) in rows)
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
            (recipient_map.snapshots.account,),
        )
    )
    return sorted(found)


def show_again(
    connection: sqlite3.Connection, recipient_map: RecipientMap, merger: Merger, people: Iterable[int]
) -> None:
    """Show people, their chats, and the lists they may be in as the latest snapshot that has each does."""
    run = connection.execute
    lists = run(
        "SELECT id FROM recipient WHERE account_id = ? AND kind = 'distribution_list'",
        (recipient_map.snapshots.account,),
    ).fetchall()
    profiles = ProfileWriter(connection, recipient_map.snapshots, Notes(), {})
    for number in sorted({*people, *(number for (number,) in lists)}):
        for table in ("chat", "recipient"):
            versions = recipient_map.versions(table, number)
            if not versions:
                for gone in ("chat",) if table == "chat" else ("contact", "recipient"):
                    run(f"DELETE FROM {gone} WHERE id = ?", (number,))  # names of ours
                continue
            mark, first, last = recipient_map.latest(versions)
            snapshot, raw = run(
                f"SELECT recorded_in, record FROM {table}_version WHERE {table}_id = ? AND fingerprint = ?",
                (number, mark),
            ).fetchone()
            profiles.people = merger.map_of(snapshot)[0]
            if number == recipient_map.nobody():
                recipient_map.show_nobody(table)
            elif table == "recipient":
                recipient = pb.Recipient.FromString(raw)
                profiles.describe(number, recipient, mark, recipient_name(recipient))
            else:
                profiles.describe_chat(number, pb.Chat.FromString(raw), mark)
            run(
                f"UPDATE {table} SET first_seen = ?, last_seen = ? WHERE id = ?",
                (first, recipient_map.snapshots.still(last), number),
            )
