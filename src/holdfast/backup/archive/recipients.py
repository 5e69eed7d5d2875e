"""Brings people, groups, lists and call links of a backup into an archive, and chats with their settings.

Each keeps every version it was seen in, with the record it was read from; the version of the latest snapshot is
the one that shows.
"""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archive.identity import UNKNOWN, Identity, identities, stable_id
from holdfast.backup.archive.portraits import Portraits
from holdfast.backup.archive.snapshots import Snapshots
from holdfast.backup.archive.tolerance import Notes
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import slot_of
from holdfast.backup.wire.entries import fingerprint_of

__all__ = ["Cast", "recipient_mark"]

RECIPIENT: Final = tables.TARGETS[slot_of("Frame.recipient")]
CHAT: Final = tables.TARGETS[slot_of("Frame.chat")]
# Two people who differ in the first of these that both have are two people, whatever else they share.
EXCLUSIVE: Final = ("aci", "pni")
STRENGTH: Final = ("aci", "pni", "e164", "username")
LATEST: Final = (1 << 63) - 1


@dataclass(slots=True)
class Cast:
    """Who and what a backup speaks of: `people` and `chats` lead from its ids to those of the archive."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    notes: Notes
    people: dict[int, int] = field(default_factory=dict)
    chats: dict[int, int] = field(default_factory=dict)
    by_aci: dict[str, int] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    seen_chats: set[int] = field(default_factory=set)
    known: dict[Identity, list[int]] = field(default_factory=dict)
    marks: dict[int, list[Identity]] = field(default_factory=dict)
    portraits: Portraits = field(init=False)
    # People whose id was another one before more became known of them.
    renamed: dict[int, int] = field(default_factory=dict)
    unknown: int = 0

    def __post_init__(self) -> None:
        self.portraits = Portraits(self.connection, self.snapshots, self.notes, self.people)

    def load(self) -> None:
        """Read how everybody of the account is known."""
        rows = self.connection.execute(
            "SELECT kind, value, recipient_id FROM identity WHERE account_id = ?", (self.snapshots.account,)
        )
        for kind, value, recipient in rows:
            self.learn(recipient, (kind, value))

    def learn(self, recipient: int, identity: Identity) -> None:
        """Remember how somebody is known."""
        self.known.setdefault(identity, []).append(recipient)
        self.marks.setdefault(recipient, []).append(identity)
        if identity[0] == "aci":
            self.by_aci[identity[1]] = recipient

    def find(self, marks: list[Identity]) -> int:
        """Find who is known in one of these ways and differs in none that counts, and give them one id.

        It is made of the strongest of all the ways they are known in. Whoever had another one is renamed.
        """
        found: list[int] = []
        together = list(marks)
        for mark in marks:
            for candidate in sorted(self.known.get(mark, ())):
                if (
                    candidate not in self.seen
                    and candidate not in found
                    and not self.conflicts(candidate, together)
                ):
                    found.append(candidate)
                    together += self.marks[candidate]
        strongest = min(together, key=lambda mark: (STRENGTH.index(mark[0]) if mark[0] in STRENGTH else -1, mark))
        number = stable_id(self.snapshots.account, *strongest)
        while number in self.marks and number not in self.seen and number not in found:
            number += 1
        for one in found:
            if one != number:
                self.rename(one, number)
        return number

    def rename(self, before: int, after: int) -> None:
        """Give somebody another id; what was written of them follows when all was read."""
        self.renamed[before] = after
        for mark in self.marks.pop(before):
            self.known[mark].remove(before)
            if after not in self.known[mark]:
                self.learn(after, mark)

    def conflicts(self, candidate: int, marks: list[Identity]) -> bool:
        """Tell whether somebody in the archive is surely somebody else."""
        theirs = self.marks[candidate]
        for kind in EXCLUSIVE:
            mine = {mark for mark in marks if mark[0] == kind}
            other = {mark for mark in theirs if mark[0] == kind}
            if mine and other:
                # The same ACI is the same person, also with another number and therefore another PNI.
                return not mine & other
        return False

    def add(self, recipient: pb.Recipient, raw: bytes) -> None:
        """Take in one recipient."""
        marks = identities(recipient)
        if not marks:
            self.notes.skip("Recipient.destination not set")
            return
        if recipient.WhichOneof("destination") == "distributionList" and not recipient.distributionList.WhichOneof(
            "item"
        ):
            self.notes.skip("DistributionListItem.item not set")
            return
        found = self.find(marks)
        self.people[recipient.id] = found
        if found in self.seen:
            self.notes.skip("a second record of the same recipient")
            return
        self.seen.add(found)
        for mark in marks:
            if found not in self.known.get(mark, ()):
                self.learn(found, mark)
        # Those of whoever was renamed among them.
        self.connection.executemany(
            "INSERT OR IGNORE INTO identity VALUES (?, ?, ?, ?)",
            [(self.snapshots.account, *mark, found) for mark in self.marks[found]],
        )
        name = recipient_name(recipient)
        mark_of = recipient_mark(raw, self.people)
        self.portraits.dry = not self.version("recipient", found, mark_of, raw, name)
        self.portraits.describe(found, recipient, mark_of, name)

    def placeholder(self) -> int:
        """Return who stands for everybody that a record names and the file does not have."""
        if not self.unknown:
            self.unknown = stable_id(self.snapshots.account, *UNKNOWN)
            if self.unknown not in self.marks:
                self.learn(self.unknown, UNKNOWN)
                account, now = self.snapshots.account, self.snapshots.current
                self.connection.execute(
                    "INSERT INTO identity VALUES (?, ?, ?, ?)", (account, *UNKNOWN, self.unknown)
                )
                self.connection.execute(
                    "INSERT INTO recipient VALUES (?, ?, 'unknown', 'Unknown', NULL, 0, ?, ?)",
                    (self.unknown, account, now, self.snapshots.still(now)),
                )
            self.version("recipient", self.unknown, 0, b"", "Unknown")
            self.seen.add(self.unknown)
        return self.unknown

    def placeholder_chat(self) -> int:
        """Return the chat for everything whose chat is not in the file."""
        chat = self.placeholder()
        if chat not in self.seen_chats:
            self.seen_chats.add(chat)
            self.connection.execute(
                "INSERT OR IGNORE INTO chat VALUES (?, 0, NULL, NULL, 0, NULL, 0, 0, NULL, NULL, 0, 0, ?, ?)",
                (chat, self.snapshots.current, self.snapshots.still(self.snapshots.current)),
            )
            self.version("chat", chat, 0, b"")
        return chat

    def version(self, table: str, thing: int, fingerprint: int, raw: bytes, name: str | None = None) -> bool:
        """Record a version of a recipient or chat; tell whether it is the one that shows and has to be written."""
        now, shots = self.snapshots.current, self.snapshots
        run = self.connection.execute
        rows = run(
            f"SELECT fingerprint, first_seen, last_seen FROM {table}_version WHERE {table}_id = ?",  # two names
            (thing,),
        ).fetchall()
        versions = {mark: (first, last) for mark, first, last in rows}
        if fingerprint in versions:
            first, last = versions[fingerprint]
            run(
                f"UPDATE {table}_version SET first_seen = ?, last_seen = ? WHERE {table}_id = ? AND "
                f"fingerprint = ?",
                (shots.earlier(first, now), shots.later(last, now), thing, fingerprint),
            )
        elif name is None:
            run("INSERT INTO chat_version VALUES (?, ?, ?, ?, ?, ?)", (thing, fingerprint, now, now, now, raw))
        else:
            row = (thing, fingerprint, name, now, now, now, raw)
            run("INSERT INTO recipient_version VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        if not versions:
            return True
        last = now
        first = now
        for one_first, one_last in versions.values():
            last, first = shots.later(last, one_last), shots.earlier(first, one_first)
        run(
            f"UPDATE {table} SET first_seen = ?, last_seen = ? WHERE id = ?",
            (first, shots.still(last), thing),
        )
        (shown,) = run(f"SELECT fingerprint FROM {table} WHERE id = ?", (thing,)).fetchone()
        return last == now and shown != fingerprint

    def chat(self, one: pb.Chat, raw: bytes) -> None:
        """Take in one chat; it has the id of its recipient."""
        thing = self.people.get(one.recipientId)
        if thing is None:
            self.notes.default("a chat with somebody who is not in the file, kept as Unknown")
            thing = self.placeholder_chat()
            self.chats[one.id] = thing
            return
        self.chats[one.id] = thing
        if thing in self.seen_chats:
            self.notes.skip("a second chat with the same recipient")
            return
        self.seen_chats.add(thing)
        local = pb.Chat.FromString(raw)
        local.ClearField("id")
        local.ClearField("recipientId")
        mark = fingerprint_of(local.SerializeToString(deterministic=True), {}, CHAT)
        self.portraits.dry = not self.version("chat", thing, mark, raw)
        self.portraits.describe_chat(thing, one, mark)

    def finish(self) -> None:
        """Write down the ids of the file, name the members of groups, and mark who is no longer there."""
        shots, run = self.snapshots, self.connection.execute
        many = self.connection.executemany
        many(
            "INSERT OR IGNORE INTO snapshot_recipient VALUES (?, ?, ?)",
            [(shots.current, min(local, LATEST), here) for local, here in self.people.items()],
        )
        many(
            "INSERT OR IGNORE INTO snapshot_chat VALUES (?, ?, ?)",
            [(shots.current, min(local, LATEST), here) for local, here in self.chats.items()],
        )
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
        if not shots.is_newest or shots.newest is None:
            return
        seen = json.dumps(sorted(self.seen))
        run(
            "UPDATE recipient SET last_seen = ? WHERE account_id = ? AND last_seen IS NULL "
            "AND id NOT IN (SELECT value FROM json_each(?))",
            (shots.newest, shots.account, seen),
        )
        run(
            "UPDATE chat SET last_seen = ? WHERE last_seen IS NULL "
            "AND id IN (SELECT id FROM recipient WHERE account_id = ?) "
            "AND id NOT IN (SELECT value FROM json_each(?))",
            (shots.newest, shots.account, json.dumps(sorted(self.seen_chats))),
        )


def recipient_mark(raw: bytes, people: Mapping[int, int]) -> int:
    """Make the fingerprint of a recipient: its id is of its file only, and so are those of a list's members."""
    local = pb.Recipient.FromString(raw)
    local.ClearField("id")
    members = local.distributionList.distributionList.memberRecipientIds
    if members:
        mapped = sorted(people.get(member, 0) for member in members)
        del members[:]
        members.extend(mapped)
    return fingerprint_of(local.SerializeToString(deterministic=True), {}, RECIPIENT)
