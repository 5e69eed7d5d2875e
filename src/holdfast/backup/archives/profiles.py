"""Writes what shows of people, groups, lists, call links and chats: the columns of each kind."""

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


def ms(value: int) -> int | None:
    """Write a time that may be missing, kept inside what SQLite can hold."""
    return min(value, LATEST) if value else None


@redacted
@dataclass(slots=True)
class ProfileWriter:
    """Writes what a snapshot says, unless `dry`: then a later one says something else and only notes count."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    notes: Notes
    people: dict[int, int]
    dry: bool = False

    def put(self, statement: str, values: tuple[object, ...]) -> None:
        """Write, unless there is nothing to write."""
        if not self.dry:
            self.connection.execute(statement, values)

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

    def describe_chat(self, thing: int, chat: pb.Chat, mark: int) -> None:
        """Write what shows of a chat."""
        now = self.snapshots.current
        wallpaper, bubble = style_of(chat.style, self.notes) if chat.HasField("style") else (None, None)
        row = (
            thing,
            chat.archived,
            chat.pinnedOrder if chat.HasField("pinnedOrder") else None,
            ms(chat.expirationTimerMs) if chat.HasField("expirationTimerMs") else None,
            chat.expireTimerVersion,
            ms(chat.muteUntilMs) if chat.HasField("muteUntilMs") else None,
            chat.markedUnread,
            chat.dontNotifyForMentionsIfMuted,
            wallpaper,
            bubble,
            chat.style.dimWallpaperInDarkMode,
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
        self.put(
            f"INSERT INTO chat VALUES ({', '.join('?' * 14)}) ON CONFLICT (id) DO UPDATE SET {changed}",
            row,
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
