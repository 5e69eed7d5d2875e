"""Imports the recipients of a backup (people, groups, lists, call links) and its chats.

Every version is stored, with the record it was read from; the version of the latest snapshot is the current one.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.identity import UNKNOWN, Identity, identities, stable_id
from holdfast.backup.archives.identity_resolution import STRENGTH, Alias, When, resolve_people
from holdfast.backup.archives.item_rows import fingerprint_of
from holdfast.backup.archives.profiles import ProfileWriter
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import slot_of
from holdfast.redacted_repr import redacted

__all__ = ["RecipientMap", "chat_fingerprint", "recipient_fingerprint"]

RECIPIENT: Final = tables.TARGETS[slot_of("Frame.recipient")]
CHAT: Final = tables.TARGETS[slot_of("Frame.chat")]
LATEST: Final = (1 << 63) - 1

# The alias of a version, and its first and last snapshot.
Sighting = tuple[int, int, int]


@redacted
@dataclass(slots=True)
class RecipientMap:
    """The recipients of a backup: `people` and `chats` map its ids to those of the archive.

    `aliases` has the recipients whose alias belongs to another person, `chat_aliases` the chats of all weak
    aliases.
    """

    connection: sqlite3.Connection
    snapshots: Snapshots
    notes: Notes
    people: dict[int, int] = field(default_factory=dict)
    chats: dict[int, int] = field(default_factory=dict)
    aliases: dict[int, int] = field(default_factory=dict)
    chat_aliases: dict[int, int] = field(default_factory=dict)
    by_aci: dict[str, int] = field(default_factory=dict)
    # The aliases of this backup, and those with a record or chat that was imported.
    current_aliases: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    seen_chats: set[int] = field(default_factory=set)
    # All aliases of the account, and the person of each.
    known_aliases: dict[int, Alias] = field(default_factory=dict)
    owners: dict[int, int] = field(default_factory=dict)
    unsaved: set[int] = field(default_factory=set)
    snapshots_by_alias: dict[int, set[int]] | None = None
    profiles: ProfileWriter = field(init=False)
    placeholder_alias: int = 0

    def __post_init__(self) -> None:
        self.profiles = ProfileWriter(self.connection, self.snapshots, self.notes, self.people)

    def load(self) -> None:
        """Load the aliases of the account."""
        rows = self.connection.execute(
            "SELECT kind, value, alias, recipient_id, first_seen FROM identity WHERE account_id = ?",
            (self.snapshots.account,),
        )
        for kind, value, number, person, first in rows:
            self.owners[number] = person
            alias = self.known_aliases.get(number)
            if alias is None:
                alias = self.known_aliases[number] = Alias(number, (kind, value))
            elif kind in STRENGTH and STRENGTH.index(kind) < alias.strength:
                alias.key = (kind, value)
            alias.identifiers[kind, value] = first
            if kind == "aci":
                self.by_aci[value] = number

    def register(self, recipients: Iterable[pb.Recipient]) -> dict[int, tuple[int, int]]:
        """Register recipients before they are imported; return the aliases that move to another person."""
        for recipient in recipients:
            if not missing_part(recipient):
                self.register_alias(identities(recipient))
        return self.resolve_people()

    def register_alias(self, identifiers: list[Identity]) -> int:
        """Register an alias of this backup with its identifiers, and return its id."""
        number = stable_id(self.snapshots.account, *identifiers[0])
        alias = self.known_aliases.setdefault(number, Alias(number, identifiers[0]))
        for identifier in identifiers:
            first = alias.identifiers.get(identifier)
            current = self.snapshots.current
            if first is None or self.snapshots.earlier(first, current) != first:
                alias.identifiers[identifier] = current
                self.unsaved.add(number)
        if identifiers[0][0] == "aci":
            self.by_aci[identifiers[0][1]] = number
        self.current_aliases.add(number)
        return number

    def common_snapshots(self, first: int, second: int) -> list[int]:
        """Return the snapshots that contain both aliases."""
        if self.snapshots_by_alias is None:
            self.snapshots_by_alias = {}
            rows = self.connection.execute(
                "SELECT r.alias, r.snapshot_id FROM snapshot s JOIN snapshot_recipient r ON r.snapshot_id = s.id "
                "WHERE s.account_id = ?",
                (self.snapshots.account,),
            )
            for number, snapshot in rows:
                self.snapshots_by_alias.setdefault(number, set()).add(snapshot)
        common = self.snapshots_by_alias.get(first, set()) & self.snapshots_by_alias.get(second, set())
        return [*common, self.snapshots.current] if {first, second} <= self.current_aliases else list(common)

    def resolve_people(self) -> dict[int, tuple[int, int]]:
        """Resolve identities again; return the aliases that move to another person, from whom and to whom."""
        before, self.owners = (
            self.owners,
            resolve_people(self.known_aliases, self.snapshots.order, self.common_snapshots),
        )
        moved = {
            number: (person, self.owners[number])
            for number, person in before.items()
            if self.owners[number] != person
        }
        if moved:
            for file_id, person in list(self.people.items()):
                self.people[file_id] = self.owner_of(file_id, self.aliases.get(file_id, person))
            for file_id, chat in self.chats.items():
                alias = self.chat_aliases.get(file_id, chat)
                self.chats[file_id] = self.owners.get(alias, alias)
            self.unsaved |= moved.keys()
        return moved

    def owner_of(self, file_id: int, alias: int) -> int:
        """Return the person of an alias of this backup, and update `aliases` if the two differ."""
        person = self.owners.get(alias, alias)
        if person == alias:
            self.aliases.pop(file_id, None)
        else:
            self.aliases[file_id] = alias
        return person

    def is_weak(self, alias: int) -> bool:
        """Return whether an alias may belong to another person."""
        return alias in self.known_aliases and self.known_aliases[alias].is_weak

    def add(self, recipient: pb.Recipient, raw: bytes) -> None:
        """Import one registered recipient."""
        missing = missing_part(recipient)
        if missing:
            self.notes.skip(f"{missing} not set")
            return
        alias = stable_id(self.snapshots.account, *identities(recipient)[0])
        person = self.people[recipient.id] = self.owner_of(recipient.id, alias)
        if alias in self.seen:
            self.notes.skip("a second record of the same recipient")
            return
        self.seen.add(alias)
        name = recipient_name(recipient)
        fingerprint = recipient_fingerprint(raw, self.people, self.aliases)
        self.profiles.dry = not self.record_version("recipient", person, alias, fingerprint, raw, name)
        self.profiles.describe(person, recipient, fingerprint, name)

    def save(self) -> None:
        """Store new and changed identities."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO identity VALUES (?, ?, ?, ?, ?, ?)",
            [
                (self.snapshots.account, *identifier, number, self.owners.get(number, number), first)
                for number in self.unsaved
                for identifier, first in self.known_aliases[number].identifiers.items()
            ],
        )
        self.unsaved.clear()

    def placeholder_id(self) -> int:
        """Return the id of the placeholder recipient, which need not exist."""
        return stable_id(self.snapshots.account, *UNKNOWN)

    def placeholder(self) -> int:
        """Return the placeholder recipient for references to missing ones, created if needed."""
        if not self.placeholder_alias:
            self.placeholder_alias = self.register_alias([UNKNOWN])
            self.owners[self.placeholder_alias] = self.placeholder_alias
            self.save()
            self.write_placeholder("recipient")
            self.record_version("recipient", self.placeholder_alias, self.placeholder_alias, 0, b"", "Unknown")
            self.seen.add(self.placeholder_alias)
        return self.placeholder_alias

    def placeholder_chat(self) -> int:
        """Return the placeholder chat for references to missing ones, created if needed."""
        chat = self.placeholder()
        if chat not in self.seen_chats:
            self.seen_chats.add(chat)
            self.write_placeholder("chat")
            self.record_version("chat", chat, chat, 0, b"")
        return chat

    def write_placeholder(self, table: str) -> None:
        """Insert the current row of the placeholder recipient or chat, if it is missing."""
        now, account = self.snapshots.current, self.snapshots.account
        chat = table == "chat"
        self.connection.execute(
            "INSERT OR IGNORE INTO chat VALUES (?, 0, NULL, NULL, 0, NULL, 0, 0, NULL, NULL, 0, 0, ?, ?)"
            if chat
            else "INSERT OR IGNORE INTO recipient VALUES (?, ?, 'unknown', 'Unknown', NULL, 0, ?, ?)",
            (self.placeholder_id(), *(() if chat else (account,)), now, self.snapshots.last_seen_value(now)),
        )

    def record_version(  # noqa: PLR0917  # the columns of a version
        self, table: str, item_id: int, alias: int, fingerprint: int, raw: bytes, name: str | None = None
    ) -> bool:
        """Store a version of a recipient or chat; return whether its current row must be written."""
        current, snapshots = self.snapshots.current, self.snapshots
        run = self.connection.execute
        versions = self.versions(table, item_id)
        existing = versions.get(fingerprint)
        span = (
            (current, current)
            if existing is None
            else (snapshots.earlier(existing[1], current), snapshots.later(existing[2], current))
        )
        versions[fingerprint] = (alias, *span)
        if existing is not None:
            run(
                f"UPDATE {table}_version SET first_seen = ?, last_seen = ? WHERE {table}_id = ? AND "
                f"fingerprint = ?",
                (*span, item_id, fingerprint),
            )
        elif name is None:
            row = (item_id, fingerprint, alias, current, current, current, raw)
            run("INSERT INTO chat_version VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        else:
            named = (item_id, fingerprint, alias, name, current, current, current, raw)
            run("INSERT INTO recipient_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)", named)
        shown, first, last = self.latest(versions)
        run(
            f"UPDATE {table} SET first_seen = ?, last_seen = ? WHERE id = ?",
            (first, snapshots.last_seen_value(last), item_id),
        )
        written = run(f"SELECT fingerprint FROM {table} WHERE id = ?", (item_id,)).fetchone()
        return shown == fingerprint and written != (fingerprint,)

    def versions(self, table: str, item_id: int) -> dict[int, Sighting]:
        """Return the versions of a recipient or chat, by fingerprint."""
        rows = self.connection.execute(
            f"SELECT fingerprint, alias, first_seen, last_seen FROM {table}_version "  # constants
            f"WHERE {table}_id = ?",
            (item_id,),
        )
        return {fingerprint: (alias, first, last) for fingerprint, alias, first, last in rows}

    def latest(self, versions: Mapping[int, Sighting]) -> tuple[int, int, int]:
        """Return the fingerprint of the current version, and the first and last snapshot of all versions.

        The current version is that of the latest snapshot; if that contains a person twice, the one with the
        stronger alias.
        """
        order = self.snapshots.order

        def priority(fingerprint: int) -> tuple[When, int, int]:
            alias, _first, last = versions[fingerprint]
            known_alias = self.known_aliases.get(alias)
            return order[last], -known_alias.strength if known_alias and known_alias.is_weak else 0, fingerprint

        shown = max(versions, key=priority)
        first = min((first for _alias, first, _last in versions.values()), key=order.__getitem__)
        return shown, first, versions[shown][2]

    def add_chat(self, chat: pb.Chat, raw: bytes) -> None:
        """Import one chat; it has the id of its recipient."""
        recipient_id = self.people.get(chat.recipientId)
        if recipient_id is None:
            self.notes.default("a chat with somebody who is not in the file, kept as Unknown")
            recipient_id = self.placeholder_chat()
            self.chats[chat.id] = recipient_id
            return
        alias = self.aliases.get(chat.recipientId, recipient_id)
        self.chats[chat.id] = recipient_id
        if self.is_weak(alias):
            self.chat_aliases[chat.id] = alias
        if alias in self.seen_chats:
            self.notes.skip("a second chat with the same recipient")
            return
        self.seen_chats.add(alias)
        fingerprint = chat_fingerprint(raw, alias, weak=self.is_weak(alias))
        self.profiles.dry = not self.record_version("chat", recipient_id, alias, fingerprint, raw)
        self.profiles.describe_chat(recipient_id, chat, fingerprint)

    def finish(self) -> None:
        """Store the ids of the backup, link group members, and mark vanished recipients and chats."""
        snapshots, run = self.snapshots, self.connection.execute
        many = self.connection.executemany
        many(
            "INSERT OR IGNORE INTO snapshot_recipient VALUES (?, ?, ?, ?)",
            [
                (snapshots.current, min(file_id, LATEST), archive_id, self.aliases.get(file_id, archive_id))
                for file_id, archive_id in self.people.items()
            ],
        )
        many(
            "INSERT OR IGNORE INTO snapshot_chat VALUES (?, ?, ?, ?)",
            [
                (snapshots.current, min(file_id, LATEST), archive_id, self.chat_aliases.get(file_id, archive_id))
                for file_id, archive_id in self.chats.items()
            ],
        )
        self.link_members()
        if not snapshots.is_newest or snapshots.newest is None:
            return
        present = json.dumps(sorted({self.owners.get(alias, alias) for alias in self.seen}))
        chats = json.dumps(sorted({self.owners.get(alias, alias) for alias in self.seen_chats}))
        run(
            "UPDATE recipient SET last_seen = ? WHERE account_id = ? AND last_seen IS NULL "
            "AND id NOT IN (SELECT value FROM json_each(?))",
            (snapshots.newest, snapshots.account, present),
        )
        run(
            "UPDATE chat SET last_seen = ? WHERE last_seen IS NULL "
            "AND id IN (SELECT id FROM recipient WHERE account_id = ?) "
            "AND id NOT IN (SELECT value FROM json_each(?))",
            (snapshots.newest, snapshots.account, chats),
        )

    def link_members(self) -> None:
        """Resolve the members of groups and the mentioned people to recipients."""
        snapshots, run = self.snapshots, self.connection.execute
        run(
            "UPDATE group_member SET recipient_id = (SELECT min(i.recipient_id) FROM identity i WHERE "
            "i.account_id = ?1 "
            "AND (i.kind, i.value) = (CASE WHEN service_id LIKE 'PNI:%' THEN 'pni' ELSE 'aci' END, "
            "replace(service_id, 'PNI:', ''))) "
            "WHERE group_id IN (SELECT id FROM recipient WHERE account_id = ?1)",
            (snapshots.account,),
        )
        run(
            "UPDATE text_range SET mention_id = (SELECT i.recipient_id FROM identity i WHERE i.account_id = ?1 "
            "AND (i.kind, i.value) = ('aci', mention_aci)) "
            "WHERE mention_aci IS NOT NULL AND mention_id IS NULL AND EXISTS (SELECT 1 FROM message m "
            "JOIN recipient r ON r.id = m.chat_id WHERE m.id = message_id AND r.account_id = ?1)",
            (snapshots.account,),
        )


def missing_part(recipient: pb.Recipient) -> str | None:
    """Return the required field that a recipient lacks, or None."""
    if recipient.WhichOneof("destination") is None:
        return "Recipient.destination"
    is_list = recipient.WhichOneof("destination") == "distributionList"
    return "DistributionListItem.item" if is_list and not recipient.distributionList.WhichOneof("item") else None


def chat_fingerprint(raw: bytes, alias: int, *, weak: bool) -> int:
    """Compute the fingerprint of a chat; it depends on the alias only if that is weak."""
    record = pb.Chat.FromString(raw)
    record.ClearField("id")
    record.recipientId = alias if weak else 0
    return fingerprint_of(record.SerializeToString(deterministic=True), {}, CHAT)


def recipient_fingerprint(raw: bytes, people: Mapping[int, int], aliases: Mapping[int, int]) -> int:
    """Compute the fingerprint of a recipient, without the ids of its backup."""
    record = pb.Recipient.FromString(raw)
    record.ClearField("id")
    members = record.distributionList.distributionList.memberRecipientIds
    if members:
        # Aliases do not change when identities are resolved again.
        mapped = sorted(aliases.get(member, people.get(member, 0)) for member in members)
        del members[:]
        members.extend(mapped)
    return fingerprint_of(record.SerializeToString(deterministic=True), {}, RECIPIENT)
