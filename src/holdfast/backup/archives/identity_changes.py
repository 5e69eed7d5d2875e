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

__all__ = ["ALIAS_COLUMNS", "apply_alias_moves", "move_aliases", "rewrite_current_rows"]

# Where people are named with the alias that they were known by, besides `identity`.
ALIAS_COLUMNS: Final = (
    ("snapshot_recipient", "recipient_id"),
    ("snapshot_chat", "chat_id"),
    ("recipient_version", "recipient_id"),
    ("chat_version", "chat_id"),
    ("notification_profile_member", "recipient_id"),
    ("chat_folder_member", "recipient_id"),
)
# Where messages name people.
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
    """Let everything that was written of people follow the aliases that have changed hands."""
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
    """Let what goes by some aliases be that of whom they belong to now."""
    for alias, (_before, after) in moved.items():
        for table, column in ALIAS_COLUMNS:
            query = f"UPDATE {table} SET {column} = ? WHERE alias = ? AND {column} <> ?"  # names of ours
            connection.execute(query, (after, alias, after))


def messages_naming(connection: sqlite3.Connection, people: list[int], recipient_map: RecipientMap) -> list[int]:
    """Find the messages that name somebody, and those with versions that may have done so."""
    ids = json.dumps(people)
    message_ids: set[int] = set()
    for table, key, column in MESSAGE_COLUMNS:
        query = f"SELECT {key} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"  # names of ours
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
    """Show people, their chats, and the lists they may be in as the latest snapshot that has each does."""
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
                    run(f"DELETE FROM {stale_table} WHERE id = ?", (recipient_id,))  # names of ours
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
