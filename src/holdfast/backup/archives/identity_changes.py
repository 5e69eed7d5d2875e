"""Updates the archive when identity resolution assigns an alias to another person.

A phone number is a person of its own until a backup links it to an ACI; then all rows of the number are assigned
to that person, as if that backup had been imported first. The opposite also happens: see `identity_resolution`.
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

__all__ = ["ALIAS_COLUMNS", "apply_alias_moves", "move_aliases", "rewrite_current_rows"]

# Columns that refer to a person beside an `alias` column, besides `identity`.
ALIAS_COLUMNS: Final = (
    ("snapshot_recipient", "recipient_id"),
    ("snapshot_chat", "chat_id"),
    ("recipient_version", "recipient_id"),
    ("chat_version", "chat_id"),
    ("notification_profile_member", "recipient_id"),
    ("chat_folder_member", "recipient_id"),
)
# Columns of message tables that refer to a person.
MESSAGE_COLUMNS: Final = (
    ("stored_message", "id", "chat_id"),
    ("stored_message", "id", "author_id"),
    ("reaction", "message_id", "author_id"),
    ("quote", "message_id", "author_id"),
    ("poll_vote", "message_id", "voter_id"),
    ("admin_deletion", "message_id", "admin_id"),
    ("call", "message_id", "ringer_id"),
    ("call", "message_id", "starter_id"),
)
BATCH: Final = 1000


def apply_alias_moves(
    connection: sqlite3.Connection,
    recipient_map: RecipientMap,
    merger: Merger,
    moved: Mapping[int, tuple[int, int]],
) -> None:
    """Move all rows of the aliases that belong to another person now, and read the affected messages again."""
    if not moved:
        return
    merger.store.flush()
    people = {person for pair in moved.values() for person in pair}
    affected = messages_naming(connection, sorted({before for before, _after in moved.values()}), recipient_map)
    move_aliases(connection, moved)
    merger.forget_maps()
    rewrite_current_rows(connection, recipient_map, merger, people)
    for start in range(0, len(affected), BATCH):
        merger.rederive(affected[start : start + BATCH])
    merger.save_seen()


def move_aliases(connection: sqlite3.Connection, moved: Mapping[int, tuple[int, int]]) -> None:
    """Set the person of all rows of the given aliases."""
    for alias, (_before, after) in moved.items():
        for table, column in ALIAS_COLUMNS:
            query = f"UPDATE {table} SET {column} = ? WHERE alias = ? AND {column} <> ?"  # constants
            connection.execute(query, (after, alias, after))


def messages_naming(connection: sqlite3.Connection, people: list[int], recipient_map: RecipientMap) -> list[int]:
    """Return the messages that refer to a person, and those whose versions may do so."""
    ids = json.dumps(people)
    message_ids: set[int] = set()
    for table, key, column in MESSAGE_COLUMNS:
        query = f"SELECT {key} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"  # constants
        message_ids.update(number for (number,) in connection.execute(query, (ids,)))
    for person in people:
        rows = connection.execute(
            "SELECT id FROM stored_message WHERE instr(receipts, ?)", (recipient_bytes(person),)
        )
        message_ids.update(number for (number,) in rows)
    message_ids.update(
        number
        for (number,) in connection.execute(
            "SELECT message_id FROM update_event e JOIN json_each(?) p ON instr(e.details, p.value)", (ids,)
        )
    )
    message_ids.update(
        number
        for (number,) in connection.execute(
            "SELECT DISTINCT v.message_id FROM message_version v JOIN message m ON m.id = v.message_id "
            "JOIN recipient r ON r.id = m.chat_id WHERE r.account_id = ?",
            (recipient_map.snapshots.account,),
        )
    )
    return sorted(message_ids)


def rewrite_current_rows(
    connection: sqlite3.Connection, recipient_map: RecipientMap, merger: Merger, people: Iterable[int]
) -> None:
    """Write the current rows of people, their chats and all distribution lists from their latest versions."""
    run = connection.execute
    lists = run(
        "SELECT id FROM recipient WHERE account_id = ? AND kind = 'distribution_list'",
        (recipient_map.snapshots.account,),
    ).fetchall()
    profiles = ProfileWriter(connection, recipient_map.snapshots, Notes(), {})
    for recipient_id in sorted({*people, *(recipient_id for (recipient_id,) in lists)}):
        for table in ("chat", "recipient"):
            versions = recipient_map.versions(table, recipient_id)
            if not versions:
                for stale_table in ("chat",) if table == "chat" else ("contact", "recipient"):
                    run(f"DELETE FROM {stale_table} WHERE id = ?", (recipient_id,))  # constants
                continue
            fingerprint, first, last = recipient_map.latest(versions)
            snapshot, raw = run(
                f"SELECT recorded_in, record FROM {table}_version WHERE {table}_id = ? AND fingerprint = ?",
                (recipient_id, fingerprint),
            ).fetchone()
            profiles.people = merger.id_maps(snapshot)[0]
            if recipient_id == recipient_map.placeholder_id():
                recipient_map.write_placeholder(table)
            elif table == "recipient":
                recipient = pb.Recipient.FromString(raw)
                profiles.describe(recipient_id, recipient, fingerprint, recipient_name(recipient))
            else:
                profiles.describe_chat(recipient_id, pb.Chat.FromString(raw), fingerprint)
            run(
                f"UPDATE {table} SET first_seen = ?, last_seen = ? WHERE id = ?",
                (first, recipient_map.snapshots.last_seen_value(last), recipient_id),
            )
