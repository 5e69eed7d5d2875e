"""Removes an import from an archive, as if it had never been made.

What only that backup contains is deleted; the first and last sightings of the rest become the nearest remaining
snapshots. A record that was stored with the ids of the removed backup, but that another contains too, is rewritten
with the ids of that one. Identities and the account are then resolved again from the remaining snapshots.
"""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.accounts import evidence, refresh_account
from holdfast.backup.archives.identity import UNKNOWN, identities, stable_id
from holdfast.backup.archives.identity_changes import messages_naming, move_aliases, rewrite_current_rows
from holdfast.backup.archives.identity_merge import merge_accounts
from holdfast.backup.archives.messages import Messages
from holdfast.backup.archives.person_removal import delete_messages
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.records import RecordReader, RecordWriter
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.errors import NotInArchive
from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import Recipient
from holdfast.backup.wire.renumber import Plan, renumber
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

__all__ = ["remove_import"]

PLAN: Final = Plan(("Recipient.id", *RECIPIENT_IDS), ("Chat.id", "ChatItem.chatId"), ())
RECIPIENT, CHAT, CHAT_ITEM = (number << 3 | 2 for number in (2, 3, 4))
BATCH: Final = 1000
# Tables with rows of one snapshot, children before parents.
SNAPSHOT_TABLES: Final = (
    "snapshot_recipient",
    "snapshot_chat",
    "skipped",
    "notification_profile_member",
    "notification_profile",
    "chat_folder_member",
    "chat_folder",
    "chat_color",
)
RECIPIENT_COLUMNS: Final = (
    ("group_member", "group_id"),
    ("distribution_list_member", "list_id"),
    ("distribution_list_member", "recipient_id"),
    ("contact", "id"),
    ('"group"', "id"),
    ("distribution_list", "id"),
    ("call_link", "id"),
    ("chat_version", "chat_id"),
    ("chat", "id"),
    ("recipient_version", "recipient_id"),
    ("recipient", "id"),
)


class IdMap(dict[int, int]):
    """Maps ids of one backup to those of another; a missing id maps to 0, which no recipient has."""

    def __missing__(self, number: int) -> int:
        """Return 0."""
        return 0


def remove_import(connection: sqlite3.Connection, snapshot: int) -> None:
    """Remove an import."""
    run = connection.execute
    row = run("SELECT account_id FROM snapshot WHERE id = ?", (snapshot,)).fetchone()
    if row is None:
        raise NotInArchive(f"there is no import {snapshot}; `holdfast archive info` lists them")
    account: int = row[0]
    order = Snapshots.of(connection, account).order
    remaining = sorted((number for number in order if number != snapshot), key=order.__getitem__)
    if not remaining:
        remove_account(connection, account)
        return
    earlier = [number for number in remaining if order[number] < order[snapshot]]
    # While an import is removed, `last_seen` is never NULL.
    run(
        "UPDATE stored_message SET last_seen = (SELECT newest_snapshot FROM account WHERE id = ?1) "
        "WHERE last_seen IS NULL AND chat_id IN (SELECT id FROM recipient WHERE account_id = ?1)",
        (account,),
    )
    RecordMove(connection, snapshot).run()
    replace_sightings(
        connection,
        snapshot,
        earlier[-1] if earlier else None,
        remaining[len(earlier) : len(earlier) + 1],
        remaining[-1],
    )
    neighbour = earlier[-1] if earlier else remaining[0]
    for table in ("ad_hoc_call", "sticker_pack"):
        run(f"UPDATE {table} SET seen_in = ? WHERE seen_in = ?", (neighbour, snapshot))  # constants
    for table in SNAPSHOT_TABLES:
        run(f"DELETE FROM {table} WHERE snapshot_id = ?", (snapshot,))  # constants
    run("DELETE FROM block WHERE snapshot_id = ?", (snapshot,))
    run("DELETE FROM snapshot WHERE id = ?", (snapshot,))
    run("UPDATE account SET newest_snapshot = ? WHERE id = ?", (remaining[-1], account))
    resolve_again(connection, account, remaining)


def resolve_again(connection: sqlite3.Connection, account: int, remaining: list[int]) -> None:
    """Resolve people and the account again from the remaining snapshots."""
    run = connection.execute
    rebuild_identities(connection, account)
    snapshots = Snapshots.of(connection, account)
    recipient_map = RecipientMap(connection, snapshots, Notes())
    recipient_map.load()
    messages = Messages(connection, snapshots, recipient_map, recipient_map.notes)
    moved = recipient_map.resolve_people()
    affected = messages_naming(connection, sorted({before for before, _after in moved.values()}), recipient_map)
    move_aliases(connection, moved)
    recipient_map.save()
    # No import is running, so the tables have the ids of the current snapshot too.
    messages.merger.maps.clear()
    rewrite_current_rows(
        connection, recipient_map, messages.merger, {person for pair in moved.values() for person in pair}
    )
    for start in range(0, len(affected) if moved else 0, BATCH):
        messages.merger.rederive(affected[start : start + BATCH])
        messages.end_block()
    messages.index()
    gone = (
        "SELECT id FROM recipient WHERE account_id = ? AND id NOT IN (SELECT recipient_id FROM recipient_version)"
    )
    for table, column in RECIPIENT_COLUMNS:
        run(f"DELETE FROM {table} WHERE {column} IN ({gone})", (account,))  # constants
    run(
        "DELETE FROM ad_hoc_call WHERE account_id = ? AND call_link_id NOT IN (SELECT id FROM recipient)",
        (account,),
    )
    run("DELETE FROM account_evidence WHERE account_id = ?", (account,))
    first = None
    for snapshot_id in remaining:
        header, raw = run("SELECT header, account_record FROM snapshot WHERE id = ?", (snapshot_id,)).fetchone()
        entries = evidence(BackupInfo.FromString(header), Frame.FromString(raw or b"").account)
        first = first or entries[0]
        connection.executemany(
            "INSERT OR IGNORE INTO account_evidence VALUES (?, ?, ?)", [(*entry, account) for entry in entries]
        )
    assert first is not None  # noqa: S101  # there is one snapshot at least
    into = stable_id("account", *first)
    merge_accounts(connection, {account}, into)
    snapshots = Snapshots.of(connection, into)
    recipient_map = RecipientMap(connection, snapshots, Notes())
    recipient_map.link_members()
    refresh_account(connection, snapshots)


def replace_sightings(
    connection: sqlite3.Connection, snapshot: int, before: int | None, after: list[int], newest: int
) -> None:
    """Replace sightings in a snapshot by those in its neighbours, and delete what only it contains."""
    run = connection.execute
    run("CREATE TEMP TABLE several AS SELECT DISTINCT message_id AS id FROM message_version")
    several = "SELECT id FROM temp.several"
    gone = [
        number
        for (number,) in run(
            f"SELECT id FROM message WHERE first_seen = ?1 AND last_seen = ?1 AND id NOT IN ({several})",
            (snapshot,),
        )
    ]
    for table in ("message_version", "recipient_version", "chat_version"):
        run(f"DELETE FROM {table} WHERE first_seen = ?1 AND last_seen = ?1", (snapshot,))  # constants
    for table in ("message_version", "recipient_version", "chat_version", "stored_message", "recipient", "chat"):
        # Rows of messages with several versions are rebuilt from these.
        values = (after[0] if after else newest, snapshot)
        run(f"UPDATE {table} SET first_seen = ? WHERE first_seen = ?", values)
        run(f"UPDATE {table} SET last_seen = ? WHERE last_seen = ?", (before or newest, snapshot))
    gone += [
        number
        for (number,) in run(
            f"SELECT id FROM message WHERE id IN ({several}) "
            "AND id NOT IN (SELECT message_id FROM message_version)"
        )
    ]
    run("DROP TABLE temp.several")
    delete_messages(connection, gone)


def rebuild_identities(connection: sqlite3.Connection, account: int) -> None:
    """Rebuild the table `identity` from the remaining records."""
    rows = connection.execute(
        "SELECT v.alias, v.recipient_id, v.first_seen, v.record FROM recipient_version v "
        "JOIN recipient r ON r.id = v.recipient_id WHERE r.account_id = ?",
        (account,),
    ).fetchall()
    snapshots = Snapshots.of(connection, account)
    first_sightings: dict[tuple[str, str, int, int], int] = {}
    for alias, person, first, raw in rows:
        for kind, value in identities(Recipient.FromString(raw)) if raw else [UNKNOWN]:
            identifier = (kind, value, alias, person)
            first_sightings[identifier] = snapshots.earlier(first_sightings.get(identifier, first), first)
    connection.execute("DELETE FROM identity WHERE account_id = ?", (account,))
    connection.executemany(
        "INSERT INTO identity VALUES (?, ?, ?, ?, ?, ?)",
        [(account, *identifier, first) for identifier, first in first_sightings.items()],
    )


def remove_account(connection: sqlite3.Connection, account: int) -> None:
    """Remove an account with its only snapshot."""
    run = connection.execute
    of_account = "SELECT id FROM recipient WHERE account_id = ?1"
    delete_messages(
        connection,
        [number for (number,) in run(f"SELECT id FROM message WHERE chat_id IN ({of_account})", (account,))],
    )
    for column in ("chat_alias", "author_alias"):
        run(f"DELETE FROM twin WHERE {column} IN (SELECT alias FROM identity WHERE account_id = ?)", (account,))
    snapshots = "SELECT id FROM snapshot WHERE account_id = ?"
    for table in (*SNAPSHOT_TABLES, "block"):
        run(f"DELETE FROM {table} WHERE snapshot_id IN ({snapshots})", (account,))  # constants
    for table, column in RECIPIENT_COLUMNS:
        run(f"DELETE FROM {table} WHERE {column} IN ({of_account})", (account,))  # constants
    for table in ("identity", "ad_hoc_call", "sticker_pack", "account_evidence", "snapshot"):
        run(f"DELETE FROM {table} WHERE account_id = ?", (account,))  # constants
    run("DELETE FROM account WHERE id = ?", (account,))


@redacted
@dataclass(slots=True)
class RecordMove:
    """Rewrites the records of a snapshot that others contain too, with the ids of one of those."""

    connection: sqlite3.Connection
    snapshot: int
    maps: dict[int, tuple[IdMap, IdMap]] = field(default_factory=dict)

    def run(self) -> None:
        """Move the records of messages, recipients and chats."""
        rows = self.connection.execute(
            "SELECT m.id, NULL, m.block_id, m.block_at, m.first_seen, m.last_seen FROM message m "
            "JOIN block b ON b.id = m.block_id WHERE b.snapshot_id = ?1 "
            "AND m.id NOT IN (SELECT message_id FROM message_version) UNION ALL "
            "SELECT v.message_id, v.fingerprint, v.block_id, v.block_at, v.first_seen, v.last_seen "
            "FROM message_version v JOIN block b ON b.id = v.block_id WHERE b.snapshot_id = ?1 ORDER BY 3, 4",
            (self.snapshot,),
        ).fetchall()
        waiting: dict[int, list[tuple[int, int | None, int, int]]] = {}
        for number, fingerprint, block, offset, first, last in rows:
            target = self.other_snapshot(first, last)
            if target is not None:
                waiting.setdefault(target, []).append((number, fingerprint, block, offset))
        for target, records in waiting.items():
            self.move(target, records)
        for table, tag in (("recipient", RECIPIENT), ("chat", CHAT)):
            self.move_versions(table, tag)

    def other_snapshot(self, first: int, last: int) -> int | None:
        """Return another snapshot with the same record, or None."""
        return last if last != self.snapshot else first if first != self.snapshot else None

    def move(self, target: int, records: list[tuple[int, int | None, int, int]]) -> None:
        """Store the records of messages again, with the ids of another snapshot."""
        reader, writer = RecordReader(self.connection), RecordWriter(self.connection, target)
        moved_rows: list[tuple[int, int, int, int | None]] = []
        for number, fingerprint, block, offset in records:
            raw = self.renumber_record(CHAT_ITEM, reader.read(block, offset)[1], target)
            moved_rows.append((*writer.add(raw), number, fingerprint))
        writer.flush()
        many = self.connection.executemany
        many(
            "UPDATE stored_message SET block_id = ?, block_at = ? WHERE id = ?",
            [row[:3] for row in moved_rows if row[3] is None],
        )
        many(
            "UPDATE message_version SET block_id = ?, block_at = ? WHERE message_id = ? AND fingerprint = ?",
            [row for row in moved_rows if row[3] is not None],
        )

    def move_versions(self, table: str, tag: int) -> None:
        """Rewrite the records of recipients or chats with the ids of another snapshot."""
        rows = self.connection.execute(
            f"SELECT {table}_id, fingerprint, first_seen, last_seen, record FROM {table}_version "  # constants
            "WHERE recorded_in = ?",
            (self.snapshot,),
        ).fetchall()
        for number, fingerprint, first, last, raw in rows:
            target = self.other_snapshot(first, last)
            if target is not None:
                self.connection.execute(
                    f"UPDATE {table}_version SET recorded_in = ?, record = ? "
                    f"WHERE {table}_id = ? AND fingerprint = ?",
                    (target, self.renumber_record(tag, raw, target) if raw else raw, number, fingerprint),
                )

    def renumber_record(self, tag: int, raw: bytes, target: int) -> bytes:
        """Return a record with the ids of another snapshot."""
        people, chats = self.id_maps(target)
        frame = renumber(bytes([tag]) + encode_varint(len(raw)) + raw, PLAN, people, chats, {})
        at = 1
        while frame[at] & 0x80:
            at += 1
        return frame[at + 1 :]

    def id_maps(self, target: int) -> tuple[IdMap, IdMap]:
        """Return the maps of recipient and chat ids to those of another snapshot."""
        if target not in self.maps:
            self.maps[target] = (
                self.pair_ids("snapshot_recipient", "recipient_id", target),
                self.pair_ids("snapshot_chat", "chat_id", target),
            )
        return self.maps[target]

    def pair_ids(self, table: str, column: str, target: int) -> IdMap:
        """Pair the ids of two snapshots by alias, else by person."""
        query = f"SELECT file_id, alias, {column} FROM {table} WHERE snapshot_id = ? ORDER BY file_id DESC"
        target_rows = self.connection.execute(query, (target,)).fetchall()
        by_owner: Mapping[int, int] = {owner: number for number, _alias, owner in target_rows}
        by_alias: Mapping[int, int] = {alias: number for number, alias, _owner in target_rows}
        own_rows = self.connection.execute(query, (self.snapshot,)).fetchall()
        return IdMap({number: by_alias.get(alias, by_owner.get(owner, 0)) for number, alias, owner in own_rows})
