"""Imports the remaining records: calls by link, sticker packs, notification profiles, chat folders, colors."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.backup.archives.identity import uuid_text
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema import backup_pb2 as pb
from holdfast.redacted_repr import redacted

__all__ = ["Extras", "custom_color"]

LATEST = (1 << 63) - 1


def custom_color(color: pb.ChatStyle.CustomChatColor, notes: Notes) -> str:
    """Return a chat color in CSS syntax: a color, a gradient as its angle and stops, or `default`."""
    kind = color.WhichOneof("color")
    if kind == "solid":
        return css_color(color.solid)
    if kind == "gradient":
        stops = zip(color.gradient.colors, color.gradient.positions, strict=False)
        return f"{color.gradient.angle}deg " + ", ".join(
            f"{css_color(value)} {place:.0%}" for value, place in stops
        )
    notes.default("CustomChatColor.color not set, read as the default colour")
    return "default"


def css_color(value: int) -> str:
    """Convert an ARGB value to CSS notation."""
    return f"#{value & 0xFFFFFF:06x}{value >> 24:02x}"


@redacted
@dataclass(slots=True)
class Extras:
    """Imports records other than recipients, chats and messages; the values of the latest snapshot are kept."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    people: Mapping[int, int]
    aliases: Mapping[int, int]
    notes: Notes
    profiles: int = 0
    folders: int = 0

    def upsert(self, table: str, key: tuple[object, ...], keys: str, values: tuple[object, ...]) -> None:
        """Insert or replace a row shared by all snapshots, unless a later snapshot has written it."""
        current, snapshots, run = self.snapshots.current, self.snapshots, self.connection.execute
        row = run(f"SELECT seen_in FROM {table} WHERE {keys}", key).fetchone()  # constants
        if row is None or snapshots.later(row[0], current) == current:
            placeholders = ", ".join("?" * (len(key) + len(values) + 1))
            run(f"INSERT OR REPLACE INTO {table} VALUES ({placeholders})", (*key, *values, current))

    def add_call(self, ad_hoc_call: pb.AdHocCall) -> None:
        """Import a call through a call link."""
        link = self.people.get(ad_hoc_call.recipientId)
        if link is None:
            self.notes.skip("a call by a link that is not in the file")
            return
        key = (self.snapshots.account, str(ad_hoc_call.callId), link)
        values = (self.notes.enum(ad_hoc_call, "state"), min(ad_hoc_call.callTimestamp, LATEST))
        self.upsert("ad_hoc_call", key, "account_id = ? AND call_id = ? AND call_link_id = ?", values)

    def add_sticker_pack(self, sticker_pack: pb.StickerPack) -> None:
        """Import a sticker pack."""
        key = (self.snapshots.account, sticker_pack.packId.hex())
        self.upsert("sticker_pack", key, "account_id = ? AND pack_id = ?", (sticker_pack.packKey,))

    def add_notification_profile(self, notification_profile: pb.NotificationProfile) -> None:
        """Import a notification profile."""
        day = notification_profile.DESCRIPTOR.fields_by_name["scheduleDaysEnabled"].enum_type
        assert day is not None  # noqa: S101  # it is an enum
        days = sorted(
            {
                day.values_by_name[self.notes.value(day, number, "scheduleDaysEnabled")].number
                for number in notification_profile.scheduleDaysEnabled
            }
        )
        key = (self.snapshots.current, self.profiles)
        self.connection.execute(
            f"INSERT INTO notification_profile VALUES ({', '.join('?' * 13)})",
            (
                *key,
                uuid_text(notification_profile.id),
                notification_profile.name,
                notification_profile.emoji if notification_profile.HasField("emoji") else None,
                css_color(notification_profile.color),
                min(notification_profile.createdAtMs, LATEST),
                notification_profile.allowAllCalls,
                notification_profile.allowAllMentions,
                notification_profile.scheduleEnabled,
                notification_profile.scheduleStartTime,
                notification_profile.scheduleEndTime,
                " ".join(day.values_by_number[number].name for number in days),
            ),
        )
        self.add_members("notification_profile_member", key, notification_profile.allowedMembers)
        self.profiles += 1

    def add_chat_folder(self, chat_folder: pb.ChatFolder) -> None:
        """Import a chat folder."""
        key = (self.snapshots.current, self.folders)
        self.connection.execute(
            "INSERT INTO chat_folder VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *key,
                uuid_text(chat_folder.id),
                chat_folder.name,
                self.notes.enum(chat_folder, "folderType"),
                chat_folder.showOnlyUnread,
                chat_folder.showMutedChats,
                chat_folder.includeAllIndividualChats,
                chat_folder.includeAllGroupChats,
            ),
        )
        self.add_members("chat_folder_member", key, chat_folder.includedRecipientIds, 1)
        self.add_members("chat_folder_member", key, chat_folder.excludedRecipientIds, 0)
        self.folders += 1

    def add_members(self, table: str, key: tuple[int, int], ids: "pb.ChatFolder | object", *extra: int) -> None:
        """Insert the members of a notification profile or chat folder."""
        placeholders = ", ".join("?" * (4 + len(extra)))
        for file_id in set(ids):  # type: ignore[call-overload]  # a repeated field
            recipient_id = self.people.get(file_id)
            if recipient_id is None:
                self.notes.skip("somebody who is not in the file")
            else:
                row = (*key, self.aliases.get(file_id, recipient_id), *extra, recipient_id)
                self.connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({placeholders})", row)

    def add_custom_colors(self, account: pb.AccountData) -> None:
        """Import the custom chat colors of the account."""
        for custom_chat_color in account.accountSettings.customChatColors:
            self.connection.execute(
                "INSERT OR IGNORE INTO chat_color VALUES (?, ?, ?)",
                (self.snapshots.current, str(custom_chat_color.id), custom_color(custom_chat_color, self.notes)),
            )
