"""Writes the current rows of contacts, groups, distribution lists, call links and chats."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from holdfast.backup.archives.identity import avatar_color, service_id, uuid_text
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.names import joined
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.redacted_repr import redacted

__all__ = ["ProfileWriter", "style_of"]

KINDS: Final = {
    "contact": "contact",
    "group": "group",
    "distributionList": "distribution_list",
    "self": "self",
    "releaseNotes": "release_notes",
    "callLink": "call_link",
}
LATEST: Final = (1 << 63) - 1


def optional_ms(value: int) -> int | None:
    """Return a time, clamped to what SQLite can store; None for 0."""
    return min(value, LATEST) if value else None


@redacted
@dataclass(slots=True)
class ProfileWriter:
    """Writes the rows of a snapshot; with `dry` it only records notes, as a later snapshot takes precedence."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    notes: Notes
    people: dict[int, int]
    dry: bool = False

    def execute(self, statement: str, values: tuple[object, ...]) -> None:
        """Execute a statement, unless `dry`."""
        if not self.dry:
            self.connection.execute(statement, values)

    def describe(self, recipient_id: int, recipient: pb.Recipient, fingerprint: int, name: str) -> None:
        """Write the rows of a recipient."""
        run, now, kind = self.execute, self.snapshots.current, recipient.WhichOneof("destination") or ""
        color, computed = avatar_color(recipient)
        if computed:
            self.notes.default(f"avatarColor not set, computed as {color}")
        run(
            "INSERT INTO recipient VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET "
            "name = excluded.name, avatar_color = excluded.avatar_color, fingerprint = excluded.fingerprint",
            (
                recipient_id,
                self.snapshots.account,
                KINDS[kind],
                name,
                color,
                fingerprint,
                now,
                self.snapshots.last_seen_value(now),
            ),
        )
        if kind == "contact":
            values = ", ".join("?" * 20)
            run(
                f"INSERT OR REPLACE INTO contact VALUES ({values})",
                (recipient_id, *self.contact_columns(recipient.contact)),
            )
        elif kind == "group":
            self.write_group(recipient_id, recipient.group)
        elif kind == "distributionList":
            self.write_distribution_list(recipient_id, recipient.distributionList)
        elif kind == "callLink":
            link = recipient.callLink
            run(
                "INSERT OR REPLACE INTO call_link VALUES (?, ?, ?, ?, ?, ?)",
                (
                    recipient_id,
                    link.rootKey,
                    link.adminKey if link.HasField("adminKey") else None,
                    link.name or None,
                    self.notes.enum(link, "restrictions"),
                    optional_ms(link.expirationMs),
                ),
            )

    def contact_columns(self, contact: pb.Contact) -> tuple[object, ...]:
        """Return the columns of a contact."""
        is_unregistered = contact.WhichOneof("registration") == "notRegistered"
        return (
            uuid_text(contact.aci),
            uuid_text(contact.pni),
            optional_ms(contact.e164),
            contact.username or None,
            joined(contact.profileGivenName, contact.profileFamilyName) or None,
            joined(contact.systemGivenName, contact.systemFamilyName) or None,
            contact.systemNickname or None,
            joined(contact.nickname.given, contact.nickname.family) or None,
            contact.note or None,
            contact.blocked,
            optional_ms(contact.blockedAtTimestamp) if contact.blocked else None,
            self.notes.enum(contact, "visibility"),
            not is_unregistered,
            optional_ms(contact.notRegistered.unregisteredTimestamp) if is_unregistered else None,
            contact.profileSharing,
            contact.hideStory,
            self.notes.enum(contact, "identityState"),
            contact.profileKey or None,
            contact.identityKey or None,
        )

    def write_group(self, group_id: int, group: pb.Group) -> None:
        """Write a group and its members."""
        run, snapshot, access = self.execute, group.snapshot, group.snapshot.accessControl
        timer = snapshot.disappearingMessagesTimer
        run("DELETE FROM group_member WHERE group_id = ?", (group_id,))
        run(
            f'INSERT OR REPLACE INTO "group" VALUES ({", ".join("?" * 19)})',
            (
                group_id,
                group.masterKey,
                snapshot.title.title if snapshot.title.WhichOneof("content") == "title" else None,
                snapshot.description.descriptionText
                if snapshot.description.WhichOneof("content") == "descriptionText"
                else None,
                snapshot.avatarUrl or None,
                timer.disappearingMessagesDuration
                if timer.WhichOneof("content") == "disappearingMessagesDuration"
                else None,
                snapshot.version,
                snapshot.announcements_only,
                snapshot.terminated,
                *(
                    self.notes.enum(access, name)
                    for name in ("attributes", "members", "addFromInviteLink", "memberLabel")
                ),
                snapshot.inviteLinkPassword or None,
                group.whitelisted,
                group.hideStory,
                self.notes.enum(group, "storySendMode"),
                group.blocked,
                optional_ms(group.blockedAtTimestamp) if group.blocked else None,
            ),
        )
        for row in self.member_rows(snapshot):
            run("INSERT OR REPLACE INTO group_member VALUES (?, ?, ?, NULL, ?, ?, ?, ?, ?, ?)", (group_id, *row))

    def member_rows(self, snapshot: pb.Group.GroupSnapshot) -> Iterator[tuple[object, ...]]:
        """Yield the rows of members, invited people, requesting and banned people of a group."""
        for member in snapshot.members:
            yield (
                service_id(member.userId),
                "member",
                self.notes.enum(member, "role"),
                member.joinedAtVersion,
                member.labelString or None,
                member.labelEmoji or None,
                None,
                None,
            )
        for pending in snapshot.membersPendingProfileKey:
            member = pending.member
            added_by = service_id(pending.addedByUserId) or None
            role = self.notes.enum(member, "role")
            when = optional_ms(pending.timestamp)
            yield service_id(member.userId), "invited", role, member.joinedAtVersion, None, None, added_by, when
        for asking in snapshot.membersPendingAdminApproval:
            yield service_id(asking.userId), "asking", None, None, None, None, None, optional_ms(asking.timestamp)
        for banned in snapshot.members_banned:
            yield service_id(banned.userId), "banned", None, None, None, None, None, optional_ms(banned.timestamp)

    def write_distribution_list(self, list_id: int, item: pb.DistributionListItem) -> None:
        """Write a distribution list and its members."""
        run, distribution_list = self.execute, item.distributionList
        deleted = item.WhichOneof("item") == "deletionTimestamp"
        run("DELETE FROM distribution_list_member WHERE list_id = ?", (list_id,))
        run(
            "INSERT OR REPLACE INTO distribution_list VALUES (?, ?, ?, ?, ?, ?)",
            (
                list_id,
                uuid_text(item.distributionId) or "",
                distribution_list.name or None,
                min(item.deletionTimestamp, LATEST) if deleted else None,
                None if deleted else distribution_list.allowReplies,
                None if deleted else self.notes.enum(distribution_list, "privacyMode"),
            ),
        )
        members = {self.people.get(member, 0) for member in distribution_list.memberRecipientIds}
        for member in sorted(members):
            if member:
                run("INSERT INTO distribution_list_member VALUES (?, ?)", (list_id, member))
            else:
                self.notes.skip("a member of a distribution list who is not in the file")

    def describe_chat(self, chat_id: int, chat: pb.Chat, fingerprint: int) -> None:
        """Write the row of a chat."""
        now = self.snapshots.current
        wallpaper, bubble = style_of(chat.style, self.notes) if chat.HasField("style") else (None, None)
        row = (
            chat_id,
            chat.archived,
            chat.pinnedOrder if chat.HasField("pinnedOrder") else None,
            optional_ms(chat.expirationTimerMs) if chat.HasField("expirationTimerMs") else None,
            chat.expireTimerVersion,
            optional_ms(chat.muteUntilMs) if chat.HasField("muteUntilMs") else None,
            chat.markedUnread,
            chat.dontNotifyForMentionsIfMuted,
            wallpaper,
            bubble,
            chat.style.dimWallpaperInDarkMode,
            fingerprint,
            now,
            self.snapshots.last_seen_value(now),
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
        self.execute(
            f"INSERT INTO chat VALUES ({', '.join('?' * 14)}) ON CONFLICT (id) DO UPDATE SET {changed}",
            row,
        )


def style_of(style: pb.ChatStyle, notes: Notes) -> tuple[str | None, str | None]:
    """Return the names of the wallpaper and the bubble color of a chat."""
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
