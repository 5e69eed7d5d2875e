"""Merges imported messages with stored ones, independently of the order of imports.

Every version of a message is stored by its fingerprint, with the earliest and the latest snapshot that contain it;
the version with the latest last sighting is the current one. Messages that are merged or split later (duplicates,
two people who are one) are read again from their records, version by version.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

from holdfast.backup.archives.changes import differences
from holdfast.backup.archives.duplicates import content_of, duplicate_rank
from holdfast.backup.archives.item_rows import PARTS, RICH, Item, fingerprint_of, read_items
from holdfast.backup.archives.message_store import Identity, MessageStore, StoredMessage, Version
from holdfast.backup.archives.recipients import RecipientMap
from holdfast.backup.archives.rows import ROW, Rows
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

__all__ = ["Merger", "identity_of", "with_place"]

# Indexes of the flags of an item, and of columns of its row.
FLAGS: Final = 2
CHAT, AUTHOR, FIRST_SENT, ORDER, SLOT, RANK, FINGERPRINT = 1, 2, 4, 7, 16, 17, 18
# The protobuf tag of a chat item in a frame.
CHAT_ITEM: Final = encode_varint(4 << 3 | 2)
LATEST: Final = (1 << 63) - 1
# So many duplicates with equal content keep their order when they are read again.
MAX_EQUAL: Final = 1000

# Maps of ids of a backup to ids of the archive, see `RecipientMap`: people, chats, aliases of both.
Maps = tuple[dict[int, int], dict[int, int], dict[int, int], dict[int, int]]


def identity_of(item: Item) -> Identity:
    """Return the identity of a message, which is equal in two backups."""
    row = item[ROW]
    return row[CHAT], row[AUTHOR], row[FIRST_SENT], row[SLOT]


def content_fingerprint(raw: bytes, people: dict[int, int]) -> int:
    """Compute a fingerprint with people instead of aliases: a change in identity resolution does not change it."""
    return fingerprint_of(raw, people)


def with_place(item: Item, number: int, rank: int, order: tuple[int, int] | None = None) -> Item:
    """Return an item with another id, rank and order."""
    row = item[ROW]
    order = row[ORDER : ORDER + 2] if order is None else order
    row = (number, *row[1:ORDER], *order, *row[ORDER + 2 : RANK], rank, *row[RANK + 1 :])
    reactions = [(number, *reaction[1:]) for reaction in item[4] or ()]
    return (*item[:4], reactions, item[5], row)


# The aliases by which a backup has the chat and the author of a message.
AliasPair = tuple[int, int]


@redacted
@dataclass(slots=True)
class Merger:
    """Decides under which id a message is stored, and merges its versions."""

    connection: sqlite3.Connection
    store: MessageStore
    snapshots: Snapshots
    recipient_map: RecipientMap
    maps: dict[int, Maps] = field(default_factory=dict)
    # Ids whose rows have changed since the block began, and must be looked up again.
    moved: set[int] = field(default_factory=set)
    # The fingerprints of the messages of this block, and the additional ones from a second chat with the same
    # person.
    block_fingerprints: dict[int, int] = field(default_factory=dict)
    other_fingerprints: dict[int, set[int]] = field(default_factory=dict)
    # How many duplicates of one chat of this backup have equal content.
    equal_counts: Counter[tuple[Identity, int, AliasPair]] = field(default_factory=Counter)
    # The identities for which this backup has contained a duplicate.
    seen_duplicates: set[tuple[Identity, AliasPair]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.forget_maps()
        run = self.connection.execute
        run(
            "CREATE TEMP TABLE IF NOT EXISTS seen (id INTEGER, fingerprint INTEGER, PRIMARY KEY (id, fingerprint))"
        )
        run("DELETE FROM temp.seen")
        self.store.on_move = self.record_move

    def forget_maps(self) -> None:
        """Clear the cached id maps of other snapshots, after identities have changed."""
        recipient_map = self.recipient_map
        self.maps = {
            self.snapshots.current: (
                recipient_map.people,
                recipient_map.chats,
                recipient_map.aliases,
                recipient_map.chat_aliases,
            )
        }

    def record_move(self, before: int, after: int) -> None:
        """Transfer the fingerprints of a message to its new id."""
        fingerprints = self.seen_fingerprints(before)
        self.forget_seen(before)
        self.moved |= {before, after}
        self.mark_seen(after, fingerprints)

    def save_seen(self) -> None:
        """Store the fingerprints of this block, at its end."""
        if not self.snapshots.is_only:
            rows = [
                *self.block_fingerprints.items(),
                *(
                    (number, fingerprint)
                    for number in self.other_fingerprints
                    for fingerprint in self.other_fingerprints[number]
                ),
            ]
            self.connection.executemany("INSERT OR IGNORE INTO temp.seen VALUES (?, ?)", rows)
        self.block_fingerprints.clear()
        self.other_fingerprints.clear()
        self.moved.clear()

    def seen_fingerprints(self, number: int) -> set[int]:
        """Return the fingerprints that this backup has had for a message id so far."""
        rows = self.connection.execute("SELECT fingerprint FROM temp.seen WHERE id = ?", (number,))
        current = {self.block_fingerprints[number]} if number in self.block_fingerprints else set()
        return current | self.other_fingerprints.get(number, set()) | {fingerprint for (fingerprint,) in rows}

    def current_fingerprints(self, message: StoredMessage) -> set[int]:
        """Return the fingerprints that this backup has for a stored message."""
        fingerprints = self.seen_fingerprints(message.id)
        if self.snapshots.is_only:
            fingerprints |= {message.fingerprint, *self.store.versions([message.id]).get(message.id, ())}
        return fingerprints

    def mark_seen(self, number: int, fingerprints: Iterable[int]) -> None:
        """Store that this backup contains a message with these fingerprints."""
        for fingerprint in fingerprints:
            if self.block_fingerprints.setdefault(number, fingerprint) != fingerprint:
                self.other_fingerprints.setdefault(number, set()).add(fingerprint)

    def seen_in_earlier_blocks(self, ids: Collection[int]) -> Collection[int]:
        """Return which of these stored messages occurred in an earlier block of this backup."""
        if self.snapshots.is_only or not ids:
            return ids
        rows = self.connection.execute(
            "SELECT id FROM temp.seen WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        return [number for (number,) in rows]

    def forget_seen(self, number: int) -> None:
        """Forget the sightings of an id that is no longer in use."""
        self.block_fingerprints.pop(number, None)
        self.other_fingerprints.pop(number, None)
        self.connection.execute("DELETE FROM temp.seen WHERE id = ?", (number,))

    def last_of(self, message: StoredMessage) -> int:
        """Return the latest snapshot that contains a message."""
        snapshots = self.snapshots
        if message.last_seen is not None:
            return message.last_seen
        if snapshots.newest is None or (snapshots.is_newest and self.current_fingerprints(message)):
            return snapshots.current
        return snapshots.newest

    def versions_of(self, message: StoredMessage) -> dict[int, Version]:
        """Return the versions of a message by fingerprint, also if there is only one."""
        stored = self.store.versions([message.id]).get(message.id)
        return stored or self.single_version(message, self.last_of(message))

    def single_version(self, message: StoredMessage, last: int) -> dict[int, Version]:
        """Return the only version of a message, by fingerprint."""
        return {message.fingerprint: Version(message.first_seen, last, *message.place, *message.order)}

    def find_place(self, item: Item, parsed: ChatItem) -> tuple[int, int, StoredMessage | None]:
        """Return id, rank and stored row for a message of this backup; it may have to become a duplicate."""
        identity = identity_of(item)
        number, old = self.store.find_id(identity, 0)
        if old is None:
            return number, 0, None
        alias_pair = self.aliases_of_item(self.snapshots.current, parsed)
        if old.rank == 0:
            seen_here = self.current_fingerprints(old)
            versions = self.versions_of(old)
            # A message with the same time in two chats with one person is one message.
            if alias_pair not in {self.aliases_of_version(versions[fingerprint]) for fingerprint in seen_here}:
                return number, 0, old
            self.split_duplicates(old, seen_here)
        if (identity, alias_pair) in self.seen_duplicates:
            # Stored by alias: if these aliases are separated later, the others have no duplicates.
            self.connection.execute("INSERT OR IGNORE INTO twin VALUES (?, ?, ?, ?)", (*alias_pair, *identity[2:]))
        self.seen_duplicates.add((identity, alias_pair))
        content = content_of(parsed, self.recipient_map.people)
        rank = duplicate_rank(content, self.equal_counts[identity, content, alias_pair])
        self.equal_counts[identity, content, alias_pair] += 1
        return self.place_duplicate(identity, rank)

    def aliases_of_item(self, snapshot: int, parsed: ChatItem) -> AliasPair:
        """Return the aliases of the chat and the author of a message in a snapshot."""
        people, chats, aliases, chat_aliases = self.id_maps(snapshot)
        chat, author, placeholder = parsed.chatId, parsed.authorId, self.recipient_map.placeholder_id()
        return chat_aliases.get(chat, chats.get(chat, placeholder)), aliases.get(
            author, people.get(author, placeholder)
        )

    def aliases_of_version(self, version: Version) -> AliasPair:
        """Return the aliases of the chat and the author of a version."""
        snapshot, raw = self.store.record(version)
        return self.aliases_of_item(snapshot, ChatItem.FromString(raw))

    def place_duplicate(self, identity: Identity, rank: int) -> tuple[int, int, StoredMessage | None]:
        """Return id, rank and stored row for a message that has duplicates."""
        number, lowest = self.store.find_id(identity, 0)
        if lowest is None or rank == -lowest.rank:
            return number, -rank, lowest
        if rank > -lowest.rank:
            number, message = self.store.find_id(identity, rank)
            return number, rank, message
        self.relocate(lowest)
        return number, -rank, None

    def relocate(self, lowest: StoredMessage) -> None:
        """Move the duplicate with the lowest rank to an id of its own: one with a lower rank takes its place."""
        place, _none = self.store.find_id(lowest.identity, -lowest.rank)
        self.store.move(lowest, place, -lowest.rank)

    def split_duplicates(self, old: StoredMessage, seen_here: Collection[int]) -> None:
        """Split a message into duplicates, one for each content among its versions."""
        versions = self.versions_of(old)
        self.store.remove(old.id)
        self.forget_seen(old.id)
        self.moved.add(old.id)
        for fingerprint, version in versions.items():
            item, parsed, rows = self.read_version(version)
            content = content_of(parsed, rows.people)
            identity = identity_of(item)
            number, rank, message = self.place_duplicate(identity, duplicate_rank(content, 0))
            self.store_version(item, parsed, rows, number, rank, message, version)
            if fingerprint in seen_here:
                alias_pair = self.aliases_of_version(version)
                self.equal_counts[identity, content, alias_pair] = 1
                self.seen_duplicates.add((identity, alias_pair))
                self.mark_seen(number, [fingerprint])

    def read_version(self, version: Version) -> tuple[Item, ChatItem, Rows]:
        """Read a version again from its record, with the ids of its backup."""
        snapshot, raw = self.store.record(version)
        people, chats, aliases, chat_aliases = self.id_maps(snapshot)
        parsed = ChatItem.FromString(raw)
        frame = CHAT_ITEM + encode_varint(len(raw)) + raw
        data = encode_varint(len(frame)) + frame
        ((item,), *_rest) = read_items(data, NO_CAP, people, chats, 0, -1, LATEST, aliases, chat_aliases)
        row = item[ROW]
        if not (row[CHAT] and row[AUTHOR]):
            chat, author = (
                row[CHAT] or self.recipient_map.placeholder_id(),
                row[AUTHOR] or self.recipient_map.placeholder_id(),
            )
            item = (*item[:ROW], (0, chat, author, *row[AUTHOR + 1 :]))
        return (
            item,
            parsed,
            replace(self.store.rows, people=people, notes=Notes(), placeholder=self.recipient_map.placeholder_id),
        )

    def id_maps(self, snapshot: int) -> Maps:
        """Return the maps of ids of a snapshot to ids of the archive."""
        if snapshot not in self.maps:
            run = self.connection.execute
            people = run(
                "SELECT file_id, recipient_id, alias FROM snapshot_recipient WHERE snapshot_id = ?", (snapshot,)
            ).fetchall()
            chats = run(
                "SELECT file_id, chat_id, alias FROM snapshot_chat WHERE snapshot_id = ?", (snapshot,)
            ).fetchall()
            self.maps[snapshot] = (
                {file_id: person for file_id, person, _alias in people},
                {file_id: chat for file_id, chat, _alias in chats},
                {file_id: alias for file_id, person, alias in people if alias != person},
                {file_id: alias for file_id, _chat, alias in chats if self.recipient_map.is_weak(alias)},
            )
        return self.maps[snapshot]

    def store_version(  # noqa: PLR0917  # the version and its place
        self,
        item: Item,
        parsed: ChatItem,
        rows: Rows,
        number: int,
        rank: int,
        old: StoredMessage | None,
        version: Version,
    ) -> None:
        """Store a version: as a new message, or merged with the stored one."""
        item = with_place(item, number, rank, version[-2:])
        rich = parsed if item[FLAGS] & (RICH | PARTS) else None
        self.moved.add(number)
        if old is None:
            last_seen = self.snapshots.last_seen_value(version.last_seen)
            tail = (version.first_seen, -1 if last_seen is None else last_seen, version.block, version.at)
            rows.add(item, rich, tail)
        else:
            self.merge_version(item, rich, rows, old, version)
        self.store.flush()

    def merge_version(  # noqa: PLR0917  # the version, its place and the stored message
        self,
        item: Item,
        parsed: ChatItem | None,
        rows: Rows,
        old: StoredMessage,
        version: Version,
        kept: dict[int, Version] | None = None,
    ) -> bool:
        """Merge a version with the stored message; return whether it is the current one now."""
        snapshots, fingerprint = self.snapshots, item[ROW][FINGERPRINT]
        versions = self.versions_of(old) if kept is None else kept
        several = len(versions)
        same_version = versions.get(fingerprint)
        if same_version is not None:
            later = snapshots.later(same_version.last_seen, version.last_seen)
            order = same_version[-2:] if later == same_version.last_seen else version[-2:]
            first = snapshots.earlier(same_version.first_seen, version.first_seen)
            version = Version(first, later, same_version.block, same_version.at, *order)
        versions[fingerprint] = version
        # One snapshot can contain two versions, from two chats with one person.
        shown = max(versions, key=lambda candidate: (snapshots.order[versions[candidate].last_seen], candidate))
        first, last = version.first_seen, versions[shown].last_seen
        for other_version in versions.values():
            first = snapshots.earlier(first, other_version.first_seen)
        last_seen = snapshots.last_seen_value(last)
        order = versions[shown][-2:]
        replaced: bool = shown == fingerprint and fingerprint != old.fingerprint
        if replaced:
            self.store.replace(old.id)
            tail = (first, -1 if last_seen is None else last_seen, version.block, version.at)
            rows.add(with_place(item, old.id, old.rank, order), parsed, tail)
        elif (first, last_seen, order) != (old.first_seen, old.last_seen, old.order):
            # Nothing is written for an unchanged message that the latest snapshot contains.
            self.connection.execute(
                "UPDATE stored_message SET first_seen = ?1, last_seen = ?2, order_ms = ?3, order_n = ?4, "
                "sent_before = sent_before + ?3 - order_ms, received_before = received_before + ?3 - order_ms "
                "WHERE id = ?5",
                (first, last_seen, *order, old.id),
            )
        if same_version is not None and same_version.first_seen == version.first_seen:
            # Changes depend on first sightings only, so these rows stay.
            if several > 1 and version != same_version:
                self.connection.execute(
                    "UPDATE message_version SET last_seen = ?, order_ms = ?, order_n = ? "
                    "WHERE message_id = ? AND fingerprint = ?",
                    (version.last_seen, *version[-2:], old.id, fingerprint),
                )
        elif len(versions) > 1:
            self.save_versions(old.id, versions)
        return replaced

    def save_versions(self, number: int, versions: dict[int, Version]) -> None:
        """Store the versions of a message and the changes from each to the next."""
        run, snapshots = self.connection.execute, self.snapshots
        run("DELETE FROM message_version WHERE message_id = ?", (number,))
        run("DELETE FROM message_change WHERE message_id = ?", (number,))
        self.connection.executemany(
            "INSERT INTO message_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(number, fingerprint, *version) for fingerprint, version in versions.items()],
        )
        ordered = sorted(versions.items(), key=lambda pair: (snapshots.order[pair[1].first_seen], pair[0]))
        changes: list[tuple[object, ...]] = []
        for (_, before), (_, after) in pairwise(ordered):
            earlier, later = self.load_record(before), self.load_record(after)
            if content_fingerprint(*earlier) != content_fingerprint(*later):
                changes += [
                    (number, len(changes) + n, after.first_seen, *change)
                    for n, change in enumerate(
                        differences(
                            ChatItem.FromString(earlier[0]), earlier[1], ChatItem.FromString(later[0]), later[1]
                        )
                    )
                ]
        self.connection.executemany("INSERT INTO message_change VALUES (?, ?, ?, ?, ?, ?, ?)", changes)

    def content_differs(self, before: Version, raw: bytes) -> bool:
        """Return whether a record of this backup differs in content from a version with another fingerprint."""
        return content_fingerprint(*self.load_record(before)) != content_fingerprint(
            raw, self.recipient_map.people
        )

    def load_record(self, version: Version) -> tuple[bytes, dict[int, int]]:
        """Return the record of a version, and the map of people of its snapshot."""
        snapshot, raw = self.store.record(version)
        return raw, self.id_maps(snapshot)[0]

    def rederive(self, ids: Iterable[int]) -> None:
        """Read messages again from their records, after their people have changed."""
        self.store.flush()
        waiting: list[tuple[StoredMessage, dict[int, Version], set[int]]] = []
        stored = self.store.find(list(ids))
        # Duplicates are found through the one with the lowest rank, so all are read together.
        for message in [stored_message for stored_message in stored.values() if stored_message.rank]:
            stored |= self.store.find(self.store.duplicates(message))
        for message in stored.values():
            waiting.append((message, self.versions_of(message), self.current_fingerprints(message)))
            self.store.remove(message.id)
            self.forget_seen(message.id)
        for message, versions, seen_here in waiting:
            for fingerprint, version in versions.items():
                item, parsed, rows = self.read_version(version)
                number, rank, old = self.find_place_again(item, parsed, rows, abs(message.rank), version)
                self.store_version(item, parsed, rows, number, rank, old, version)
                if fingerprint in seen_here:
                    self.mark_seen(number, [fingerprint])

    def find_place_again(  # the version and its former rank
        self, item: Item, parsed: ChatItem, rows: Rows, rank: int, version: Version
    ) -> tuple[int, int, StoredMessage | None]:
        """Return id, rank and stored row for a version that is read again; `rank` is its former rank or 0."""
        identity = identity_of(item)
        number, old = self.store.find_id(identity, 0)
        if (old is None or old.rank == 0) and not (rank and self.has_duplicates(identity, version)):
            return number, 0, old
        if old is not None and old.rank == 0:
            self.split_duplicates(old, self.current_fingerprints(old))
        content = content_of(parsed, rows.people)
        n = next((n for n in range(MAX_EQUAL) if duplicate_rank(content, n) == rank), 0) if rank else 0
        return self.place_duplicate(identity, duplicate_rank(content, n))

    def has_duplicates(self, identity: Identity, version: Version) -> bool:
        """Return whether a backup contains several messages with this identity, by the same aliases."""
        return bool(
            self.connection.execute(
                "SELECT 1 FROM twin WHERE (chat_alias, author_alias, first_sent_ms, slot) = (?, ?, ?, ?)",
                (*self.aliases_of_version(version), *identity[2:]),
            ).fetchone()
        )
