"""Merges messages with what an archive has of them, so that the order of imports does not matter.

Of each message every version is kept by its fingerprint, with the earliest and the latest snapshot that has it;
the version last seen latest is the one that shows. What is put together or told apart later (twins, two people
who are one) is read again from its records, version by version.
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

__all__ = ["Merger", "identity_of", "placed"]

# Where an item has what is special about it, and where its row has what.
WHAT: Final = 2
CHAT, AUTHOR, FIRST_SENT, ORDER, SLOT, RANK, FINGERPRINT = 1, 2, 4, 7, 16, 17, 18
# The tag before a message in a frame.
CHAT_ITEM: Final = encode_varint(4 << 3 | 2)
LATEST: Final = (1 << 63) - 1
# So many duplicates that say the same keep their order when they are read again.
MOST_ALIKE: Final = 1000

# What leads from the ids of a file to those of the archive, see `RecipientMap`: people, chats, aliases of both.
Maps = tuple[dict[int, int], dict[int, int], dict[int, int], dict[int, int]]


def identity_of(item: Item) -> Identity:
    """Return what makes a message the same in two backups."""
    row = item[ROW]
    return row[CHAT], row[AUTHOR], row[FIRST_SENT], row[SLOT]


def said(raw: bytes, people: dict[int, int]) -> int:
    """Make a fingerprint by people instead of aliases: who only becomes better known changes no message."""
    return fingerprint_of(raw, people)


def placed(item: Item, number: int, rank: int, order: tuple[int, int] | None = None) -> Item:
    """Give an item another id, rank and place."""
    row = item[ROW]
    order = row[ORDER : ORDER + 2] if order is None else order
    row = (number, *row[1:ORDER], *order, *row[ORDER + 2 : RANK], rank, *row[RANK + 1 :])
    reactions = [(number, *one[1:]) for one in item[4] or ()]
    return (*item[:4], reactions, item[5], row)


# By which aliases a file has the chat and the author of a message.
AliasPair = tuple[int, int]


@redacted
@dataclass(slots=True)
class Merger:
    """Decides where messages go, and what they say when several snapshots have them."""

    connection: sqlite3.Connection
    store: MessageStore
    snapshots: Snapshots
    recipient_map: RecipientMap
    maps: dict[int, Maps] = field(default_factory=dict)
    # Ids that no longer are what the block began with: whoever finds one looks again.
    moved: set[int] = field(default_factory=set)
    # The messages of this block, and what each says; and what else a second chat with the same person says.
    here: dict[int, int] = field(default_factory=dict)
    besides: dict[int, set[int]] = field(default_factory=dict)
    # How many twins of one chat of this file say the same.
    alike: Counter[tuple[Identity, int, AliasPair]] = field(default_factory=Counter)
    # Where among twins this file has spoken.
    spoken: set[tuple[Identity, AliasPair]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.forget_maps()
        run = self.connection.execute
        run(
            "CREATE TEMP TABLE IF NOT EXISTS seen (id INTEGER, fingerprint INTEGER, PRIMARY KEY (id, fingerprint))"
        )
        run("DELETE FROM temp.seen")
        self.store.follow = self.follow

    def forget_maps(self) -> None:
        """Read anew who is who in other files, when that has changed."""
        recipient_map = self.recipient_map
        self.maps = {
            self.snapshots.current: (
                recipient_map.people,
                recipient_map.chats,
                recipient_map.aliases,
                recipient_map.chat_aliases,
            )
        }

    def follow(self, before: int, after: int) -> None:
        """Remember by its new id what this file said of a message."""
        said = self.said(before)
        self.unsee(before)
        self.moved |= {before, after}
        self.see(after, said)

    def keep_seen(self) -> None:
        """Remember what this block had, at its end."""
        if not self.snapshots.only:
            rows = [
                *self.here.items(),
                *((number, mark) for number in self.besides for mark in self.besides[number]),
            ]
            self.connection.executemany("INSERT OR IGNORE INTO temp.seen VALUES (?, ?)", rows)
        self.here.clear()
        self.besides.clear()
        self.moved.clear()

    def said(self, number: int) -> set[int]:
        """Return what this file says in the place of a message, nothing when it has not spoken of it yet."""
        rows = self.connection.execute("SELECT fingerprint FROM temp.seen WHERE id = ?", (number,))
        here = {self.here[number]} if number in self.here else set()
        return here | self.besides.get(number, set()) | {mark for (mark,) in rows}

    def seen(self, message: StoredMessage) -> set[int]:
        """Return what this file says of a message that is in the archive."""
        said = self.said(message.id)
        if self.snapshots.only:
            said |= {message.fingerprint, *self.store.versions([message.id]).get(message.id, ())}
        return said

    def see(self, number: int, said: Iterable[int]) -> None:
        """Remember what this file says of a message."""
        for mark in said:
            if self.here.setdefault(number, mark) != mark:
                self.besides.setdefault(number, set()).add(mark)

    def met(self, ids: Collection[int]) -> Collection[int]:
        """Tell which of some messages of the archive this file has spoken of in an earlier block."""
        if self.snapshots.only or not ids:
            return ids
        rows = self.connection.execute(
            "SELECT id FROM temp.seen WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
        )
        return [number for (number,) in rows]

    def unsee(self, number: int) -> None:
        """Forget that this file has spoken of a message, as its id no longer means it."""
        self.here.pop(number, None)
        self.besides.pop(number, None)
        self.connection.execute("DELETE FROM temp.seen WHERE id = ?", (number,))

    def last_of(self, message: StoredMessage) -> int:
        """Return the latest snapshot that has a message."""
        shots = self.snapshots
        if message.last_seen is not None:
            return message.last_seen
        if shots.newest is None or (shots.is_newest and self.seen(message)):
            return shots.current
        return shots.newest

    def versions_of(self, message: StoredMessage) -> dict[int, Version]:
        """Return the versions of a message by fingerprint, also when there is one only."""
        kept = self.store.versions([message.id]).get(message.id)
        return kept or self.one_version(message, self.last_of(message))

    def one_version(self, message: StoredMessage, last: int) -> dict[int, Version]:
        """Return the only version of a message."""
        return {message.fingerprint: Version(message.first_seen, last, *message.place, *message.order)}

    def settle(self, item: Item, parsed: ChatItem) -> tuple[int, int, StoredMessage | None]:
        """Find the place and rank of a message of this file: its own, that of a twin, or one that is free."""
        identity = identity_of(item)
        number, old = self.store.locate(identity, 0)
        if old is None:
            return number, 0, None
        alias_pair = self.aliases_of_item(self.snapshots.current, parsed)
        if old.rank == 0:
            said = self.seen(old)
            versions = self.versions_of(old)
            # What two chats with one person have in the same moment is one message.
            if alias_pair not in {self.aliases_of_version(versions[mark]) for mark in said}:
                return number, 0, old
            self.split(old, said)
        if (identity, alias_pair) in self.spoken:
            # Which aliases have duplicates is kept: should they be parted, the others have none.
            self.connection.execute("INSERT OR IGNORE INTO twin VALUES (?, ?, ?, ?)", (*alias_pair, *identity[2:]))
        self.spoken.add((identity, alias_pair))
        content = content_of(parsed, self.recipient_map.people)
        rank = duplicate_rank(content, self.alike[identity, content, alias_pair])
        self.alike[identity, content, alias_pair] += 1
        return self.among_duplicates(identity, rank)

    def aliases_of_item(self, snapshot: int, parsed: ChatItem) -> AliasPair:
        """Return by which aliases a file has the chat and the author of a message."""
        people, chats, aliases, chat_aliases = self.map_of(snapshot)
        chat, author, nobody = parsed.chatId, parsed.authorId, self.recipient_map.nobody()
        return chat_aliases.get(chat, chats.get(chat, nobody)), aliases.get(author, people.get(author, nobody))

    def aliases_of_version(self, version: Version) -> AliasPair:
        """Return by which aliases a version has them."""
        snapshot, raw = self.store.record(version)
        return self.aliases_of_item(snapshot, ChatItem.FromString(raw))

    def among_duplicates(self, identity: Identity, rank: int) -> tuple[int, int, StoredMessage | None]:
        """Find the place of a message that has duplicates."""
        number, lowest = self.store.locate(identity, 0)
        if lowest is None or rank == -lowest.rank:
            return number, -rank, lowest
        if rank > -lowest.rank:
            number, message = self.store.locate(identity, rank)
            return number, rank, message
        self.relocate(lowest)
        return number, -rank, None

    def relocate(self, lowest: StoredMessage) -> None:
        """Move the twin that stood for all to a place of its own: a lower one has come."""
        place, _none = self.store.locate(lowest.identity, -lowest.rank)
        self.store.move(lowest, place, -lowest.rank)

    def split(self, old: StoredMessage, said: Collection[int]) -> None:
        """Turn a message of which a twin has come up into twins: one for each content it was seen with."""
        versions = self.versions_of(old)
        self.store.remove(old.id)
        self.unsee(old.id)
        self.moved.add(old.id)
        for mark, version in versions.items():
            item, parsed, rows = self.read(version)
            content = content_of(parsed, rows.people)
            identity = identity_of(item)
            number, rank, message = self.among_duplicates(identity, duplicate_rank(content, 0))
            self.put(item, parsed, rows, number, rank, message, version)
            if mark in said:
                alias_pair = self.aliases_of_version(version)
                self.alike[identity, content, alias_pair] = 1
                self.spoken.add((identity, alias_pair))
                self.see(number, [mark])

    def read(self, version: Version) -> tuple[Item, ChatItem, Rows]:
        """Read a version again from its record, with the ids its file had."""
        snapshot, raw = self.store.record(version)
        people, chats, aliases, chat_aliases = self.map_of(snapshot)
        parsed = ChatItem.FromString(raw)
        frame = CHAT_ITEM + encode_varint(len(raw)) + raw
        data = encode_varint(len(frame)) + frame
        ((item,), *_rest) = read_items(data, NO_CAP, people, chats, 0, -1, LATEST, aliases, chat_aliases)
        row = item[ROW]
        if not (row[CHAT] and row[AUTHOR]):
            chat, author = row[CHAT] or self.recipient_map.nobody(), row[AUTHOR] or self.recipient_map.nobody()
            item = (*item[:ROW], (0, chat, author, *row[AUTHOR + 1 :]))
        return (
            item,
            parsed,
            replace(self.store.rows, people=people, notes=Notes(), stranger=self.recipient_map.nobody),
        )

    def map_of(self, snapshot: int) -> Maps:
        """Return what leads from the ids of a file to those of the archive."""
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
                {file_id: alias for file_id, _chat, alias in chats if self.recipient_map.weak(alias)},
            )
        return self.maps[snapshot]

    def put(  # noqa: PLR0917  # where it goes, and what
        self,
        item: Item,
        parsed: ChatItem,
        rows: Rows,
        number: int,
        rank: int,
        old: StoredMessage | None,
        version: Version,
    ) -> None:
        """Put a version where it belongs."""
        item = placed(item, number, rank, version[-2:])
        rich = parsed if item[WHAT] & (RICH | PARTS) else None
        self.moved.add(number)
        if old is None:
            still = self.snapshots.still(version.last_seen)
            tail = (version.first_seen, -1 if still is None else still, version.block, version.at)
            rows.add(item, rich, tail)
        else:
            self.join(item, rich, rows, old, version)
        self.store.flush()

    def join(  # noqa: PLR0917  # what it is, where it goes, and what is there
        self,
        item: Item,
        parsed: ChatItem | None,
        rows: Rows,
        old: StoredMessage,
        version: Version,
        kept: dict[int, Version] | None = None,
    ) -> bool:
        """Merge a version with what the archive has of its message; tell whether it is the one that shows now."""
        shots, mark = self.snapshots, item[ROW][FINGERPRINT]
        versions = self.versions_of(old) if kept is None else kept
        several = len(versions)
        known = versions.get(mark)
        if known is not None:
            later = shots.later(known.last_seen, version.last_seen)
            order = known[-2:] if later == known.last_seen else version[-2:]
            first = shots.earlier(known.first_seen, version.first_seen)
            version = Version(first, later, known.block, known.at, *order)
        versions[mark] = version
        # One snapshot can have two, of two chats with one person.
        shown = max(versions, key=lambda one: (shots.order[versions[one].last_seen], one))
        first, last = version.first_seen, versions[shown].last_seen
        for other in versions.values():
            first = shots.earlier(first, other.first_seen)
        still = shots.still(last)
        order = versions[shown][-2:]
        replaced: bool = shown == mark and mark != old.fingerprint
        if replaced:
            self.store.replace(old.id)
            tail = (first, -1 if still is None else still, version.block, version.at)
            rows.add(placed(item, old.id, old.rank, order), parsed, tail)
        elif (first, still, order) != (old.first_seen, old.last_seen, old.order):
            # Of an unchanged message that a later snapshot still has, nothing is written.
            self.connection.execute(
                "UPDATE stored_message SET first_seen = ?1, last_seen = ?2, order_ms = ?3, order_n = ?4, "
                "sent_before = sent_before + ?3 - order_ms, received_before = received_before + ?3 - order_ms "
                "WHERE id = ?5",
                (first, still, *order, old.id),
            )
        if known is not None and known.first_seen == version.first_seen:
            # What changed and when is told by first sightings: it stays.
            if several > 1 and version != known:
                self.connection.execute(
                    "UPDATE message_version SET last_seen = ?, order_ms = ?, order_n = ? "
                    "WHERE message_id = ? AND fingerprint = ?",
                    (version.last_seen, *version[-2:], old.id, mark),
                )
        elif len(versions) > 1:
            self.record(old.id, versions)
        return replaced

    def record(self, number: int, versions: dict[int, Version]) -> None:
        """Write down the versions of a message and what changed from each to the next."""
        run, shots = self.connection.execute, self.snapshots
        run("DELETE FROM message_version WHERE message_id = ?", (number,))
        run("DELETE FROM message_change WHERE message_id = ?", (number,))
        self.connection.executemany(
            "INSERT INTO message_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [(number, mark, *version) for mark, version in versions.items()],
        )
        ordered = sorted(versions.items(), key=lambda one: (shots.order[one[1].first_seen], one[0]))
        changes: list[tuple[object, ...]] = []
        for (_, before), (_, after) in pairwise(ordered):
            one, other = self.load(before), self.load(after)
            if said(*one) != said(*other):
                changes += [
                    (number, len(changes) + n, after.first_seen, *change)
                    for n, change in enumerate(
                        differences(ChatItem.FromString(one[0]), one[1], ChatItem.FromString(other[0]), other[1])
                    )
                ]
        self.connection.executemany("INSERT INTO message_change VALUES (?, ?, ?, ?, ?, ?, ?)", changes)

    def differ(self, before: Version, raw: bytes) -> bool:
        """Return whether a record of this file says something else than a version with another fingerprint."""
        return said(*self.load(before)) != said(raw, self.recipient_map.people)

    def load(self, version: Version) -> tuple[bytes, dict[int, int]]:
        """Read the record of a version again, and who is who in its file."""
        snapshot, raw = self.store.record(version)
        return raw, self.map_of(snapshot)[0]

    def rederive(self, ids: Iterable[int]) -> None:
        """Read messages again from their records, after people in them have turned out to be others."""
        self.store.flush()
        waiting: list[tuple[StoredMessage, dict[int, Version], set[int]]] = []
        known = self.store.find(list(ids))
        # Twins know of each other by the lowest, so they go together.
        for message in [stored_message for stored_message in known.values() if stored_message.rank]:
            known |= self.store.find(self.store.duplicates(message))
        for message in known.values():
            waiting.append((message, self.versions_of(message), self.seen(message)))
            self.store.remove(message.id)
            self.unsee(message.id)
        for message, versions, said in waiting:
            for mark, version in versions.items():
                item, parsed, rows = self.read(version)
                number, rank, old = self.place(item, parsed, rows, abs(message.rank), version)
                self.put(item, parsed, rows, number, rank, old, version)
                if mark in said:
                    self.see(number, [mark])

    def place(  # what it is, and where it stood
        self, item: Item, parsed: ChatItem, rows: Rows, rank: int, version: Version
    ) -> tuple[int, int, StoredMessage | None]:
        """Find the place of a version that is read again; `rank` is what it had among twins, or 0."""
        identity = identity_of(item)
        number, old = self.store.locate(identity, 0)
        if (old is None or old.rank == 0) and not (rank and self.has_duplicates(identity, version)):
            return number, 0, old
        if old is not None and old.rank == 0:
            self.split(old, self.seen(old))
        content = content_of(parsed, rows.people)
        n = next((n for n in range(MOST_ALIKE) if duplicate_rank(content, n) == rank), 0) if rank else 0
        return self.among_duplicates(identity, duplicate_rank(content, n))

    def has_duplicates(self, identity: Identity, version: Version) -> bool:
        """Return whether some file has several of a message by the same aliases."""
        return bool(
            self.connection.execute(
                "SELECT 1 FROM twin WHERE (chat_alias, author_alias, first_sent_ms, slot) = (?, ?, ?, ?)",
                (*self.aliases_of_version(version), *identity[2:]),
            ).fetchone()
        )
