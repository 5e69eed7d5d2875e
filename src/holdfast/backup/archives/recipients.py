"""Brings people, groups, lists and call links of a backup into an archive, and chats with their settings.

Each keeps every version it was seen in, with the record it was read from; the version of the latest snapshot is
the one that shows.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archives.identity import UNKNOWN, Identity, identities, stable_id
from holdfast.backup.archives.identity_resolution import STRENGTH, Alias, When, people_of
from holdfast.backup.archives.item_rows import fingerprint_of
from holdfast.backup.archives.profiles import ProfileWriter
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import slot_of
from holdfast.redacted_repr import redacted

__all__ = ["RecipientMap", "chat_mark", "recipient_mark"]

RECIPIENT: Final = tables.TARGETS[slot_of("Frame.recipient")]
CHAT: Final = tables.TARGETS[slot_of("Frame.chat")]
LATEST: Final = (1 << 63) - 1

# The alias a version was read from, and the first and the last snapshot that have it.
Sighting = tuple[int, int, int]


@redacted
@dataclass(slots=True)
class RecipientMap:
    """Who and what a backup speaks of: `people` and `chats` lead from its ids to those of the archive.

    `aliases` has whom the file knows by an alias that belongs to somebody else, `chat_aliases` the chats of all
    who go by a weak one.
    """

    connection: sqlite3.Connection
    snapshots: Snapshots
    notes: Notes
    people: dict[int, int] = field(default_factory=dict)
    chats: dict[int, int] = field(default_factory=dict)
    aliases: dict[int, int] = field(default_factory=dict)
    chat_aliases: dict[int, int] = field(default_factory=dict)
    by_aci: dict[str, int] = field(default_factory=dict)
    # The aliases of this file, and those whose chats it has.
    here: set[int] = field(default_factory=set)
    seen: set[int] = field(default_factory=set)
    seen_chats: set[int] = field(default_factory=set)
    # All aliases of the account, and the person each belongs to.
    known: dict[int, Alias] = field(default_factory=dict)
    owners: dict[int, int] = field(default_factory=dict)
    unsaved: set[int] = field(default_factory=set)
    presence: dict[int, set[int]] | None = None
    profiles: ProfileWriter = field(init=False)
    unknown: int = 0

    def __post_init__(self) -> None:
        self.profiles = ProfileWriter(self.connection, self.snapshots, self.notes, self.people)

    def load(self) -> None:
        """Read how everybody of the account is known."""
        rows = self.connection.execute(
            "SELECT kind, value, alias, recipient_id, first_seen FROM identity WHERE account_id = ?",
            (self.snapshots.account,),
        )
        for kind, value, number, person, first in rows:
            self.owners[number] = person
            alias = self.known.get(number)
            if alias is None:
                alias = self.known[number] = Alias(number, (kind, value))
            elif kind in STRENGTH and STRENGTH.index(kind) < alias.strength:
                alias.key = (kind, value)
            alias.marks[kind, value] = first
            if kind == "aci":
                self.by_aci[value] = number

    def meet(self, recipients: Iterable[pb.Recipient]) -> dict[int, tuple[int, int]]:
        """Learn of some recipients before they are taken in; return the aliases that change hands by that."""
        for recipient in recipients:
            if not missing_part(recipient):
                self.learn(identities(recipient))
        return self.regroup()

    def learn(self, marks: list[Identity]) -> int:
        """Remember that this file has somebody who is known so, and return the alias."""
        number = stable_id(self.snapshots.account, *marks[0])
        alias = self.known.setdefault(number, Alias(number, marks[0]))
        for mark in marks:
            first = alias.marks.get(mark)
            now = self.snapshots.current
            if first is None or self.snapshots.earlier(first, now) != first:
                alias.marks[mark] = now
                self.unsaved.add(number)
        if marks[0][0] == "aci":
            self.by_aci[marks[0][1]] = number
        self.here.add(number)
        return number

    def together(self, one: int, other: int) -> list[int]:
        """List the snapshots in which two aliases stand side by side."""
        if self.presence is None:
            self.presence = {}
            rows = self.connection.execute(
                "SELECT r.alias, r.snapshot_id FROM snapshot s JOIN snapshot_recipient r ON r.snapshot_id = s.id "
                "WHERE s.account_id = ?",
                (self.snapshots.account,),
            )
            for number, snapshot in rows:
                self.presence.setdefault(number, set()).add(snapshot)
        found = self.presence.get(one, set()) & self.presence.get(other, set())
        return [*found, self.snapshots.current] if {one, other} <= self.here else list(found)

    def regroup(self) -> dict[int, tuple[int, int]]:
        """Decide who is who anew; return the aliases that change hands, from whom and to whom."""
        before, self.owners = self.owners, people_of(self.known, self.snapshots.order, self.together)
        moved = {
            number: (person, self.owners[number])
            for number, person in before.items()
            if self.owners[number] != person
        }
        if moved:
            for file_id, person in list(self.people.items()):
                self.people[file_id] = self.owner(file_id, self.aliases.get(file_id, person))
            for file_id, chat in self.chats.items():
                alias = self.chat_aliases.get(file_id, chat)
                self.chats[file_id] = self.owners.get(alias, alias)
            self.unsaved |= moved.keys()
        return moved

    def owner(self, file_id: int, alias: int) -> int:
        """Return the person an alias of the file belongs to, and note where the two differ."""
        person = self.owners.get(alias, alias)
        if person == alias:
            self.aliases.pop(file_id, None)
        else:
            self.aliases[file_id] = alias
        return person

    def weak(self, alias: int) -> bool:
        """Return whether an alias may turn out to be somebody else's."""
        return alias in self.known and self.known[alias].weak

    def add(self, recipient: pb.Recipient, raw: bytes) -> None:
        """Take in one recipient that the map has an id for."""
        missing = missing_part(recipient)
        if missing:
            self.notes.skip(f"{missing} not set")
            return
        alias = stable_id(self.snapshots.account, *identities(recipient)[0])
        found = self.people[recipient.id] = self.owner(recipient.id, alias)
        if alias in self.seen:
            self.notes.skip("a second record of the same recipient")
            return
        self.seen.add(alias)
        name = recipient_name(recipient)
        mark_of = recipient_mark(raw, self.people, self.aliases)
        self.profiles.dry = not self.version("recipient", found, alias, mark_of, raw, name)
        self.profiles.describe(found, recipient, mark_of, name)

    def save(self) -> None:
        """Write down how people are known, where that is new."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO identity VALUES (?, ?, ?, ?, ?, ?)",
            [
                (self.snapshots.account, *mark, number, self.owners.get(number, number), first)
                for number in self.unsaved
                for mark, first in self.known[number].marks.items()
            ],
        )
        self.unsaved.clear()

    def nobody(self) -> int:
        """Return the id of the placeholder, which need not be in this file."""
        return stable_id(self.snapshots.account, *UNKNOWN)

    def placeholder(self) -> int:
        """Return who stands for everybody that a record names and the file does not have."""
        if not self.unknown:
            self.unknown = self.learn([UNKNOWN])
            self.owners[self.unknown] = self.unknown
            self.save()
            self.show_nobody("recipient")
            self.version("recipient", self.unknown, self.unknown, 0, b"", "Unknown")
            self.seen.add(self.unknown)
        return self.unknown

    def placeholder_chat(self) -> int:
        """Return the chat for everything whose chat is not in the file."""
        chat = self.placeholder()
        if chat not in self.seen_chats:
            self.seen_chats.add(chat)
            self.show_nobody("chat")
            self.version("chat", chat, chat, 0, b"")
        return chat

    def show_nobody(self, table: str) -> None:
        """Write what shows of the placeholder or its chat, where it is not there."""
        now, account = self.snapshots.current, self.snapshots.account
        chat = table == "chat"
        self.connection.execute(
            "INSERT OR IGNORE INTO chat VALUES (?, 0, NULL, NULL, 0, NULL, 0, 0, NULL, NULL, 0, 0, ?, ?)"
            if chat
            else "INSERT OR IGNORE INTO recipient VALUES (?, ?, 'unknown', 'Unknown', NULL, 0, ?, ?)",
            (self.nobody(), *(() if chat else (account,)), now, self.snapshots.still(now)),
        )

    def version(  # noqa: PLR0917  # of what, whose, and what it says
        self, table: str, thing: int, alias: int, fingerprint: int, raw: bytes, name: str | None = None
    ) -> bool:
        """Record a version of a recipient or chat; tell whether it is the one that shows and has to be written."""
        now, shots = self.snapshots.current, self.snapshots
        run = self.connection.execute
        versions = self.versions(table, thing)
        there = versions.get(fingerprint)
        seen = (now, now) if there is None else (shots.earlier(there[1], now), shots.later(there[2], now))
        versions[fingerprint] = (alias, *seen)
        if there is not None:
            run(
                f"UPDATE {table}_version SET first_seen = ?, last_seen = ? WHERE {table}_id = ? AND "
                f"fingerprint = ?",
                (*seen, thing, fingerprint),
            )
        elif name is None:
            row = (thing, fingerprint, alias, now, now, now, raw)
            run("INSERT INTO chat_version VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        else:
            named = (thing, fingerprint, alias, name, now, now, now, raw)
            run("INSERT INTO recipient_version VALUES (?, ?, ?, ?, ?, ?, ?, ?)", named)
        shown, first, last = self.latest(versions)
        run(
            f"UPDATE {table} SET first_seen = ?, last_seen = ? WHERE id = ?",
            (first, shots.still(last), thing),
        )
        written = run(f"SELECT fingerprint FROM {table} WHERE id = ?", (thing,)).fetchone()
        return shown == fingerprint and written != (fingerprint,)

    def versions(self, table: str, thing: int) -> dict[int, Sighting]:
        """Return the versions of a recipient or chat, by fingerprint."""
        rows = self.connection.execute(
            f"SELECT fingerprint, alias, first_seen, last_seen FROM {table}_version "  # two names
            f"WHERE {table}_id = ?",
            (thing,),
        )
        return {mark: (alias, first, last) for mark, alias, first, last in rows}

    def latest(self, versions: Mapping[int, Sighting]) -> tuple[int, int, int]:
        """Return which of several versions shows, and the first and the last snapshot of all.

        It is the one of the latest snapshot; where that has a person twice, the one by the stronger alias.
        """
        order = self.snapshots.order

        def merit(mark: int) -> tuple[When, int, int]:
            alias, _first, last = versions[mark]
            known = self.known.get(alias)
            return order[last], -known.strength if known and known.weak else 0, mark

        shown = max(versions, key=merit)
        first = min((first for _alias, first, _last in versions.values()), key=order.__getitem__)
        return shown, first, versions[shown][2]

    def chat(self, one: pb.Chat, raw: bytes) -> None:
        """Take in one chat; it has the id of its recipient."""
        thing = self.people.get(one.recipientId)
        if thing is None:
            self.notes.default("a chat with somebody who is not in the file, kept as Unknown")
            thing = self.placeholder_chat()
            self.chats[one.id] = thing
            return
        alias = self.aliases.get(one.recipientId, thing)
        self.chats[one.id] = thing
        if self.weak(alias):
            self.chat_aliases[one.id] = alias
        if alias in self.seen_chats:
            self.notes.skip("a second chat with the same recipient")
            return
        self.seen_chats.add(alias)
        mark = chat_mark(raw, alias, weak=self.weak(alias))
        self.profiles.dry = not self.version("chat", thing, alias, mark, raw)
        self.profiles.describe_chat(thing, one, mark)

    def finish(self) -> None:
        """Write down the ids of the file, name the members of groups, and mark who is no longer there."""
        shots, run = self.snapshots, self.connection.execute
        many = self.connection.executemany
        many(
            "INSERT OR IGNORE INTO snapshot_recipient VALUES (?, ?, ?, ?)",
            [
                (shots.current, min(local, LATEST), here, self.aliases.get(local, here))
                for local, here in self.people.items()
            ],
        )
        many(
            "INSERT OR IGNORE INTO snapshot_chat VALUES (?, ?, ?, ?)",
            [
                (shots.current, min(local, LATEST), here, self.chat_aliases.get(local, here))
                for local, here in self.chats.items()
            ],
        )
        self.link_members()
        if not shots.is_newest or shots.newest is None:
            return
        seen = json.dumps(sorted({self.owners.get(alias, alias) for alias in self.seen}))
        chats = json.dumps(sorted({self.owners.get(alias, alias) for alias in self.seen_chats}))
        run(
            "UPDATE recipient SET last_seen = ? WHERE account_id = ? AND last_seen IS NULL "
            "AND id NOT IN (SELECT value FROM json_each(?))",
            (shots.newest, shots.account, seen),
        )
        run(
            "UPDATE chat SET last_seen = ? WHERE last_seen IS NULL "
            "AND id IN (SELECT id FROM recipient WHERE account_id = ?) "
            "AND id NOT IN (SELECT value FROM json_each(?))",
            (shots.newest, shots.account, chats),
        )

    def link_members(self) -> None:
        """Write down who of the archive the members of groups and the mentioned people are."""
        shots, run = self.snapshots, self.connection.execute
        run(
            "UPDATE group_member SET recipient_id = (SELECT min(i.recipient_id) FROM identity i WHERE "
            "i.account_id = ?1 "
            "AND (i.kind, i.value) = (CASE WHEN service_id LIKE 'PNI:%' THEN 'pni' ELSE 'aci' END, "
            "replace(service_id, 'PNI:', ''))) "
            "WHERE group_id IN (SELECT id FROM recipient WHERE account_id = ?1)",
            (shots.account,),
        )
        run(
            "UPDATE text_range SET mention_id = (SELECT i.recipient_id FROM identity i WHERE i.account_id = ?1 "
            "AND (i.kind, i.value) = ('aci', mention_aci)) "
            "WHERE mention_aci IS NOT NULL AND mention_id IS NULL AND EXISTS (SELECT 1 FROM message m "
            "JOIN recipient r ON r.id = m.chat_id WHERE m.id = message_id AND r.account_id = ?1)",
            (shots.account,),
        )


def missing_part(recipient: pb.Recipient) -> str | None:
    """Name what a recipient lacks without which the archive cannot hold it."""
    if recipient.WhichOneof("destination") is None:
        return "Recipient.destination"
    is_list = recipient.WhichOneof("destination") == "distributionList"
    return "DistributionListItem.item" if is_list and not recipient.distributionList.WhichOneof("item") else None


def chat_mark(raw: bytes, alias: int, *, weak: bool) -> int:
    """Make the fingerprint of a chat: whose it is counts where it may turn out to be somebody else's."""
    local = pb.Chat.FromString(raw)
    local.ClearField("id")
    local.recipientId = alias if weak else 0
    return fingerprint_of(local.SerializeToString(deterministic=True), {}, CHAT)


def recipient_mark(raw: bytes, people: Mapping[int, int], aliases: Mapping[int, int]) -> int:
    """Make the fingerprint of a recipient: its id is of its file only, and so are those of a list's members."""
    local = pb.Recipient.FromString(raw)
    local.ClearField("id")
    members = local.distributionList.distributionList.memberRecipientIds
    if members:
        # Aliases stay what they are, whoever they turn out to belong to.
        mapped = sorted(aliases.get(member, people.get(member, 0)) for member in members)
        del members[:]
        members.extend(mapped)
    return fingerprint_of(local.SerializeToString(deterministic=True), {}, RECIPIENT)
