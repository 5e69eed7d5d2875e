"""Removes a person from an archive: their messages, their chat, and all references to them.

From messages by others, their reactions, receipts, votes and mentions are removed, and quotes of their messages;
an update or a call that refers to them is removed entirely. What others wrote about them in their own words stays.
"""

import json
import sqlite3
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Final

from google.protobuf.message import Message as Record

from holdfast.backup.archives.accounts import refresh_account
from holdfast.backup.archives.identity_changes import messages_naming, rewrite_current_rows
from holdfast.backup.archives.message_index import unindex_messages
from holdfast.backup.archives.messages import Messages
from holdfast.backup.archives.recipients import RecipientMap, recipient_fingerprint
from holdfast.backup.archives.records import RecordReader, rewrite_records
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.statements import CHILDREN
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.errors import NotInArchive
from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.schema.backup_pb2 import ChatItem, Recipient
from holdfast.redacted_repr import redacted

__all__ = ["Cleaner", "delete_chat", "delete_messages", "delete_recipient", "remove_person"]

# Fields with a recipient id of the backup, as (message, field).
ID_FIELDS: Final = frozenset(tuple(name.split(".")[-2:]) for name in RECIPIENT_IDS)
BATCH: Final = 1000
# Columns that refer to recipients, apart from message tables.
RECIPIENT_COLUMNS: Final = (
    ("notification_profile_member", "recipient_id"),
    ("chat_folder_member", "recipient_id"),
    ("distribution_list_member", "recipient_id"),
    ("distribution_list_member", "list_id"),
    ("group_member", "recipient_id"),
    ("group_member", "group_id"),
    ("snapshot_recipient", "recipient_id"),
    ("recipient_version", "recipient_id"),
    ("identity", "recipient_id"),
    ("contact", "id"),
    ('"group"', "id"),
    ("recipient", "id"),
)


def delete_messages(connection: sqlite3.Connection, ids: Iterable[int]) -> None:
    """Delete messages with their related rows, but not their records."""
    run = connection.execute
    run("CREATE TEMP TABLE IF NOT EXISTS removed (id INTEGER PRIMARY KEY)")
    run("DELETE FROM temp.removed")
    connection.executemany("INSERT OR IGNORE INTO temp.removed VALUES (?)", ((number,) for number in ids))
    unindex_messages(connection, "SELECT id FROM temp.removed")
    for table in (*CHILDREN, "message_version", "message_change"):
        run(f"DELETE FROM {table} WHERE message_id IN (SELECT id FROM temp.removed)")  # constants
    run("DELETE FROM stored_message WHERE id IN (SELECT id FROM temp.removed)")
    run("DROP TABLE temp.removed")


def delete_chat(connection: sqlite3.Connection, chat: int) -> None:
    """Delete a chat with its messages."""
    run = connection.execute
    delete_messages(connection, [number for (number,) in run("SELECT id FROM message WHERE chat_id = ?", (chat,))])
    run("DELETE FROM twin WHERE chat_alias IN (SELECT alias FROM chat_version WHERE chat_id = ?)", (chat,))
    for table, column in (("snapshot_chat", "chat_id"), ("chat_version", "chat_id"), ("chat", "id")):
        run(f"DELETE FROM {table} WHERE {column} = ?", (chat,))  # constants


def delete_recipient(connection: sqlite3.Connection, recipient: int) -> None:
    """Delete a person or group that has no messages left."""
    for table, column in RECIPIENT_COLUMNS:
        connection.execute(f"DELETE FROM {table} WHERE {column} = ?", (recipient,))  # constants


@redacted
@dataclass(frozen=True, slots=True)
class Cleaner:
    """Removes a person from records: `ids` are those of the backup, `services` the bytes of ACI and PNI."""

    ids: Collection[int]
    services: Collection[bytes]

    def clean(self, record: Record) -> bool:
        """Remove references to the person; return False if the record is meaningless without them."""
        name = record.DESCRIPTOR.name
        for field, value in record.ListFields():
            if field.message_type is not None:
                if not self.clean_field(record, field.name, value, repeated=field.is_repeated):
                    return False
            elif field.is_repeated:
                if (name, field.name) in ID_FIELDS:
                    remaining = [item for item in value if item not in self.ids]
                    del value[:]
                    value.extend(remaining)
            elif self.names(name, field.name, value):
                return False
        return True

    def clean_field(self, record: Record, name: str, value: object, *, repeated: bool) -> bool:
        """Clean the value of a field; return whether the enclosing record stays."""
        if repeated:
            assert isinstance(value, Collection)  # noqa: S101  # as the schema says
            remaining = [item for item in value if self.clean(item)]
            if len(remaining) < len(value):
                copies = [type(item).FromString(item.SerializeToString()) for item in remaining]
                record.ClearField(name)
                getattr(record, name).extend(copies)
            # A group update without any entries is removed.
            return bool(remaining) or name != "updates"
        assert isinstance(value, Record)  # noqa: S101  # as the schema says
        if self.clean(value):
            return True
        if name == "quote":
            record.ClearField(name)
            return True
        return False

    def names(self, record: str, field: str, value: object) -> bool:
        """Return whether a value refers to the person."""
        if isinstance(value, bytes):
            return value in self.services
        return (record, field) in ID_FIELDS and value in self.ids


def remove_person(connection: sqlite3.Connection, person: int) -> int:
    """Remove a person; return how many messages of others were edited."""
    run = connection.execute
    row = run("SELECT kind, account_id FROM recipient WHERE id = ?", (person,)).fetchone()
    if row is None or row[0] != "contact":
        if row is not None and row[0] == "self":
            raise NotInArchive("this is the owner of the backups; remove the imports instead")
        raise NotInArchive(f"there is no person {person}; `holdfast archive people` lists them")
    snapshots = Snapshots.of(connection, row[1])
    identity_rows = run("SELECT kind, value, alias FROM identity WHERE recipient_id = ?", (person,)).fetchall()
    identifiers = [(kind, value) for kind, value, _alias in identity_rows if kind in {"aci", "pni"}]
    local: dict[int, set[int]] = {}
    for snapshot, number in run(
        "SELECT snapshot_id, file_id FROM snapshot_recipient WHERE recipient_id = ?", (person,)
    ):
        local.setdefault(snapshot, set()).add(number)
    delete_chat(connection, person)
    delete_messages(
        connection, [message_id for (message_id,) in run("SELECT id FROM message WHERE author_id = ?", (person,))]
    )
    recipient_map = RecipientMap(connection, snapshots, Notes())
    recipient_map.load()
    affected = messages_naming_person(connection, person, [value for _kind, value in identifiers], recipient_map)
    cleaners = {
        snapshot: Cleaner(frozenset(local.get(snapshot, ())), service_ids(identifiers))
        for snapshot in snapshots.order
    }
    edited = edit_messages(connection, affected, cleaners)
    delete_identity(
        connection,
        person,
        [alias for *_identifier, alias in identity_rows],
        [value for _kind, value in identifiers],
    )
    recipient_map = RecipientMap(connection, snapshots, Notes())
    recipient_map.load()
    messages = Messages(connection, snapshots, recipient_map, recipient_map.notes)
    # No import is running, so the tables have the ids of the current snapshot too.
    messages.merger.maps.clear()
    changed = edit_recipients(connection, messages, cleaners)
    rewrite_current_rows(connection, recipient_map, messages.merger, changed)
    for start in range(0, len(edited), BATCH):
        messages.merger.rederive(edited[start : start + BATCH])
        messages.end_block()
    messages.index()
    recipient_map.link_members()
    refresh_account(connection, snapshots)
    return len(edited)


def service_ids(identifiers: Iterable[tuple[str, str]]) -> frozenset[bytes]:
    """Return the binary service ids of a person."""
    raw_ids: set[bytes] = set()
    for kind, value in identifiers:
        try:
            raw = uuid.UUID(value).bytes
        except ValueError:
            continue
        raw_ids |= {raw, b"\x01" + raw} if kind == "pni" else {raw}
    return frozenset(raw_ids)


def messages_naming_person(
    connection: sqlite3.Connection, person: int, services: list[str], recipient_map: RecipientMap
) -> list[int]:
    """Return the messages that refer to a person, and those whose versions may do so."""
    message_ids = set(messages_naming(connection, [person], recipient_map))
    for query, values in (
        ("SELECT message_id FROM text_range WHERE mention_id = ?", (person,)),
        ("SELECT t.message_id FROM text_range t JOIN json_each(?) s ON s.value = t.mention_aci", None),
        ("SELECT e.message_id FROM update_event e JOIN json_each(?) s ON instr(e.details, s.value)", None),
    ):
        rows = connection.execute(query, (json.dumps(services),) if values is None else values)
        message_ids.update(number for (number,) in rows)
    return sorted(message_ids)


def edit_messages(connection: sqlite3.Connection, affected: list[int], cleaners: dict[int, Cleaner]) -> list[int]:
    """Remove a person from the records of messages; return the messages to be read again."""
    reader, run = RecordReader(connection), connection.execute
    replaced: dict[tuple[int, int], bytes] = {}
    edited: list[int] = []
    removed: list[int] = []
    for number in affected:
        places = (
            run(
                "SELECT fingerprint, block_id, block_at FROM message_version WHERE message_id = ?", (number,)
            ).fetchall()
            or run("SELECT NULL, block_id, block_at FROM message WHERE id = ?", (number,)).fetchall()
        )
        dropped = 0
        for fingerprint, block, at in places:
            snapshot, raw = reader.read(block, at)
            item = ChatItem.FromString(raw)
            before = item.SerializeToString(deterministic=True)
            if not cleaners[snapshot].clean(item):
                dropped += 1
                if fingerprint is not None:
                    run(
                        "DELETE FROM message_version WHERE message_id = ? AND fingerprint = ?",
                        (number, fingerprint),
                    )
            elif item.SerializeToString(deterministic=True) != before:
                replaced[block, at] = item.SerializeToString()
        if dropped and dropped == len(places):
            removed.append(number)
        elif dropped or any(place[1:] in replaced for place in places):
            edited.append(number)
    delete_messages(connection, removed)
    rewrite_records(connection, replaced)
    return edited


def edit_recipients(connection: sqlite3.Connection, messages: Messages, cleaners: dict[int, Cleaner]) -> list[int]:
    """Remove a person from the records of groups and lists; return the changed recipients."""
    run, snapshots = connection.execute, messages.snapshots
    rows = run(
        "SELECT v.recipient_id, v.fingerprint, v.first_seen, v.last_seen, v.recorded_in, v.record "
        "FROM recipient_version v JOIN recipient r ON r.id = v.recipient_id "
        "WHERE r.account_id = ? AND r.kind IN ('group', 'distribution_list')",
        (snapshots.account,),
    ).fetchall()
    changed: set[int] = set()
    for number, fingerprint, first, last, snapshot, raw in rows:
        recipient = Recipient.FromString(raw)
        before = recipient.SerializeToString(deterministic=True)
        cleaners[snapshot].clean(recipient)
        if recipient.SerializeToString(deterministic=True) == before:
            continue
        changed.add(number)
        cleaned = recipient.SerializeToString()
        maps = messages.merger.id_maps(snapshot)
        new_fingerprint = recipient_fingerprint(cleaned, maps[0], maps[2])
        span = (first, last)
        existing = run(
            "SELECT first_seen, last_seen FROM recipient_version WHERE recipient_id = ? AND fingerprint = ?",
            (number, new_fingerprint),
        ).fetchone()
        if existing is not None:
            # Versions that differed only in the removed person are merged.
            run(
                "DELETE FROM recipient_version WHERE recipient_id = ? AND fingerprint = ?",
                (number, new_fingerprint),
            )
            span = (snapshots.earlier(first, existing[0]), snapshots.later(last, existing[1]))
        run(
            "UPDATE recipient_version SET fingerprint = ?, first_seen = ?, last_seen = ?, record = ? "
            "WHERE recipient_id = ? AND fingerprint = ?",
            (new_fingerprint, *span, cleaned, number, fingerprint),
        )
    return sorted(changed)


def delete_identity(connection: sqlite3.Connection, person: int, aliases: list[int], services: list[str]) -> None:
    """Delete the identifiers of a person."""
    run = connection.execute
    delete_recipient(connection, person)
    for alias in aliases:
        run("DELETE FROM twin WHERE ? IN (chat_alias, author_alias)", (alias,))
    for service in services:
        run("DELETE FROM group_member WHERE service_id IN (?, ?)", (service, f"PNI:{service}"))
        run("UPDATE group_member SET added_by = NULL WHERE added_by IN (?, ?)", (service, f"PNI:{service}"))
