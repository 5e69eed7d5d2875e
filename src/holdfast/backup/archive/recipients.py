"""Brings people, groups, lists and call links of a backup into an archive, and chats with their settings.

Each keeps every version it was seen in, with the record it was read from; the version of the latest snapshot is
the one that shows.
"""

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.archive.identity import (
    UNKNOWN,
    Identity,
    avatar_color,
    identities,
    service_id,
    stable_id,
    uuid_text,
)
from holdfast.backup.archive.snapshots import Snapshots
from holdfast.backup.archive.tolerance import Notes
from holdfast.backup.names import joined, recipient_name
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import slot_of
from holdfast.backup.wire.entries import fingerprint_of

__all__ = ["Cast", "style_of"]

RECIPIENT: Final = tables.TARGETS[slot_of("Frame.recipient")]
CHAT: Final = tables.TARGETS[slot_of("Frame.chat")]
KINDS: Final = {
    "contact": "contact",
    "group": "group",
    "distributionList": "distribution_list",
    "self": "self",
    "releaseNotes": "release_notes",
    "callLink": "call_link",
}
# Two people who differ in one of these are two people, whatever else they share.
EXCLUSIVE: Final = ("aci", "pni")
LATEST: Final = (1 << 63) - 1


def ms(value: int) -> int | None:
    """Write a time that may be missing, kept inside what SQLite can hold."""
    return min(value, LATEST) if value else None


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
    unknown: int = 0
    dry: bool = False

    def put(self, statement: str, values: tuple[object, ...]) -> None:
        """Write, unless a later snapshot says something else and this one is read only for what is to note."""
        if not self.dry:
            self.connection.execute(statement, values)

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

    def find(self, marks: list[Identity]) -> int | None:
        """Find who is known in one of these ways and differs in none that counts."""
        for mark in marks:
            for candidate in sorted(self.known.get(mark, ())):
                if candidate not in self.seen and not self.conflicts(candidate, marks):
                    return candidate
        return None

    def conflicts(self, candidate: int, marks: list[Identity]) -> bool:
        """Tell whether somebody in the archive is surely somebody else."""
        theirs = self.marks[candidate]
        return any(
            any(mark[0] == kind for mark in marks)
            and any(mark[0] == kind for mark in theirs)
            and not any(mark[0] == kind and mark in theirs for mark in marks)
            for kind in EXCLUSIVE
        )

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
        if found is None:
            found = stable_id(self.snapshots.account, *marks[0])
            while found in self.marks and found not in self.seen:
                found += 1
        self.people[recipient.id] = found
        if found in self.seen:
            self.notes.skip("a second record of the same recipient")
            return
        self.seen.add(found)
        for mark in marks:
            if found not in self.known.get(mark, ()):
                self.learn(found, mark)
                self.connection.execute(
                    "INSERT INTO identity VALUES (?, ?, ?, ?)", (self.snapshots.account, *mark, found)
                )
        name = recipient_name(recipient)
        # The id is of this file only, and stands first in what apps write.
        local = pb.Recipient.FromString(raw)
        local.ClearField("id")
        members = local.distributionList.distributionList.memberRecipientIds
        if members:
            mapped = sorted(self.people.get(member, 0) for member in members)
            del members[:]
            members.extend(mapped)
        mark_of = fingerprint_of(local.SerializeToString(deterministic=True), {}, RECIPIENT)
        self.dry = not self.version("recipient", found, mark_of, raw, name)
        self.describe(found, recipient, mark_of, name)

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

    def describe(self, thing: int, recipient: pb.Recipient, fingerprint: int, name: str) -> None:
        """Write what shows of a recipient."""
        run, now, kind = self.put, self.snapshots.current, recipient.WhichOneof("destination") or ""
        color, computed = avatar_color(recipient)
        if computed:
            self.notes.default(f"avatarColor not set, computed as {color}")
        run(
            "INSERT INTO recipient VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "name = excluded.name, avatar_color = excluded.avatar_color, fingerprint = excluded.fingerprint",
            (thing, self.snapshots.account, KINDS[kind], name, color, fingerprint, now, self.snapshots.still(now)),
        )
        if kind == "contact":
            values = ", ".join("?" * 20)
            run(f"INSERT OR REPLACE INTO contact VALUES ({values})", (thing, *self.contact(recipient.contact)))
        elif kind == "group":
            self.group(thing, recipient.group)
        elif kind == "distributionList":
            self.distribution_list(thing, recipient.distributionList)
        elif kind == "callLink":
            link = recipient.callLink
            run(
                "INSERT OR REPLACE INTO call_link VALUES (?, ?, ?, ?, ?, ?)",
                (
                    thing,
                    link.rootKey,
                    link.adminKey if link.HasField("adminKey") else None,
                    link.name or None,
                    self.notes.enum(link, "restrictions"),
                    ms(link.expirationMs),
                ),
            )

    def contact(self, one: pb.Contact) -> tuple[object, ...]:
        """Make the columns of a person."""
        gone = one.WhichOneof("registration") == "notRegistered"
        return (
            uuid_text(one.aci),
            uuid_text(one.pni),
            ms(one.e164),
            one.username or None,
            joined(one.profileGivenName, one.profileFamilyName) or None,
            joined(one.systemGivenName, one.systemFamilyName) or None,
            one.systemNickname or None,
            joined(one.nickname.given, one.nickname.family) or None,
            one.note or None,
            one.blocked,
            ms(one.blockedAtTimestamp) if one.blocked else None,
            self.notes.enum(one, "visibility"),
            not gone,
            ms(one.notRegistered.unregisteredTimestamp) if gone else None,
            one.profileSharing,
            one.hideStory,
            self.notes.enum(one, "identityState"),
            one.profileKey or None,
            one.identityKey or None,
        )

    def group(self, thing: int, one: pb.Group) -> None:
        """Write a group and its members."""
        run, shot, access = self.put, one.snapshot, one.snapshot.accessControl
        timer = shot.disappearingMessagesTimer
        run("DELETE FROM group_member WHERE group_id = ?", (thing,))
        run(
            f'INSERT OR REPLACE INTO "group" VALUES ({", ".join("?" * 19)})',
            (
                thing,
                one.masterKey,
                shot.title.title if shot.title.WhichOneof("content") == "title" else None,
                shot.description.descriptionText
                if shot.description.WhichOneof("content") == "descriptionText"
                else None,
                shot.avatarUrl or None,
                timer.disappearingMessagesDuration
                if timer.WhichOneof("content") == "disappearingMessagesDuration"
                else None,
                shot.version,
                shot.announcements_only,
                shot.terminated,
                *(
                    self.notes.enum(access, name)
                    for name in ("attributes", "members", "addFromInviteLink", "memberLabel")
                ),
                shot.inviteLinkPassword or None,
                one.whitelisted,
                one.hideStory,
                self.notes.enum(one, "storySendMode"),
                one.blocked,
                ms(one.blockedAtTimestamp) if one.blocked else None,
            ),
        )
        for row in self.members(shot):
            run("INSERT OR REPLACE INTO group_member VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?, ?)", (thing, *row))

    def members(self, shot: pb.Group.GroupSnapshot) -> Iterator[tuple[object, ...]]:
        """Make the rows of everybody who has to do with a group."""
        for one in shot.members:
            yield (
                service_id(one.userId),
                "member",
                self.notes.enum(one, "role"),
                one.joinedAtVersion,
                one.labelString or None,
                one.labelEmoji or None,
                None,
                None,
            )
        for pending in shot.membersPendingProfileKey:
            one = pending.member
            by = service_id(pending.addedByUserId) or None
            role = self.notes.enum(one, "role")
            when = ms(pending.timestamp)
            yield service_id(one.userId), "invited", role, one.joinedAtVersion, None, None, by, when
        for asking in shot.membersPendingAdminApproval:
            yield service_id(asking.userId), "asking", None, None, None, None, None, ms(asking.timestamp)
        for banned in shot.members_banned:
            yield service_id(banned.userId), "banned", None, None, None, None, None, ms(banned.timestamp)

    def distribution_list(self, thing: int, item: pb.DistributionListItem) -> None:
        """Write a list and its members."""
        run, one = self.put, item.distributionList
        deleted = item.WhichOneof("item") == "deletionTimestamp"
        run("DELETE FROM distribution_list_member WHERE list_id = ?", (thing,))
        run(
            "INSERT OR REPLACE INTO distribution_list VALUES (?, ?, ?, ?, ?, ?)",
            (
                thing,
                uuid_text(item.distributionId) or "",
                one.name or None,
                min(item.deletionTimestamp, LATEST) if deleted else None,
                None if deleted else one.allowReplies,
                None if deleted else self.notes.enum(one, "privacyMode"),
            ),
        )
        members = {self.people.get(member, 0) for member in one.memberRecipientIds}
        for member in sorted(members):
            if member:
                run("INSERT INTO distribution_list_member VALUES (?, ?)", (thing, member))
            else:
                self.notes.skip("a member of a distribution list who is not in the file")

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
        now = self.snapshots.current
        wallpaper, bubble = style_of(one.style, self.notes) if one.HasField("style") else (None, None)
        if not self.version("chat", thing, mark, raw):
            return
        row = (
            thing,
            one.archived,
            one.pinnedOrder if one.HasField("pinnedOrder") else None,
            ms(one.expirationTimerMs) if one.HasField("expirationTimerMs") else None,
            one.expireTimerVersion,
            ms(one.muteUntilMs) if one.HasField("muteUntilMs") else None,
            one.markedUnread,
            one.dontNotifyForMentionsIfMuted,
            wallpaper,
            bubble,
            one.style.dimWallpaperInDarkMode,
            mark,
            now,
            self.snapshots.still(now),
        )
        columns = [
            "archived",
            "pinned_order",
            "timer_ms",
            "timer_version",
            "mute_until_ms",
            "marked_unread",
            "quiet_mentions",
            "wallpaper",
            "bubble_color",
            "dim_wallpaper",
            "fingerprint",
        ]
        changed = ", ".join(f"{column} = excluded.{column}" for column in columns)
        self.connection.execute(
            f"INSERT INTO chat VALUES ({', '.join('?' * 14)}) ON CONFLICT (id) DO UPDATE SET {changed}",
            row,
        )

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
            "UPDATE group_member SET recipient_id = (SELECT i.recipient_id FROM identity i WHERE "
            "i.account_id = ?1 "
            "AND (i.kind, i.value) = (CASE WHEN service_id LIKE 'PNI:%' THEN 'pni' ELSE 'aci' END, "
            "replace(service_id, 'PNI:', ''))) WHERE recipient_id IS NULL "
            "AND group_id IN (SELECT id FROM recipient WHERE account_id = ?1)",
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


def style_of(style: pb.ChatStyle, notes: Notes) -> tuple[str | None, str | None]:
    """Name the wallpaper and the bubble colour of a chat."""
    paper = style.WhichOneof("wallpaper")
    wallpaper = None
    if paper == "wallpaperPreset":
        wallpaper = notes.enum(style, "wallpaperPreset") or None
    elif paper == "wallpaperPhoto":
        wallpaper = "photo"
    color = style.WhichOneof("bubbleColor")
    if color == "bubbleColorPreset":
        return wallpaper, notes.enum(style, "bubbleColorPreset") or None
    return wallpaper, f"custom {style.customColorId}" if color == "customColorId" else "automatic"
