"""Brings the rest of a backup into an archive: calls by link, stickers, notification profiles, chat folders."""

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
    """Write a colour as CSS would; a gradient as its angle and its stops, and `default` for none."""
    kind = color.WhichOneof("color")
    if kind == "solid":
        return argb(color.solid)
    if kind == "gradient":
        stops = zip(color.gradient.colors, color.gradient.positions, strict=False)
        return f"{color.gradient.angle}deg " + ", ".join(f"{argb(value)} {place:.0%}" for value, place in stops)
    notes.default("CustomChatColor.color not set, read as the default colour")
    return "default"


def argb(value: int) -> str:
    """Write a colour."""
    return f"#{value & 0xFFFFFF:06x}{value >> 24:02x}"


@redacted
@dataclass(slots=True)
class Extras:
    """Takes in what there is of each kind; the latest snapshot decides what shows."""

    connection: sqlite3.Connection
    snapshots: Snapshots
    people: Mapping[int, int]
    aliases: Mapping[int, int]
    notes: Notes
    profiles: int = 0
    folders: int = 0

    def upsert(self, table: str, key: tuple[object, ...], keys: str, values: tuple[object, ...]) -> None:
        """Write a row that all snapshots share, unless a later one has written it."""
        now, shots, run = self.snapshots.current, self.snapshots, self.connection.execute
        row = run(f"SELECT seen_in FROM {table} WHERE {keys}", key).fetchone()  # names of ours
        if row is None or shots.later(row[0], now) == now:
            places = ", ".join("?" * (len(key) + len(values) + 1))
            run(f"INSERT OR REPLACE INTO {table} VALUES ({places})", (*key, *values, now))

    def call(self, one: pb.AdHocCall) -> None:
        """Take in a call by link."""
        link = self.people.get(one.recipientId)
        if link is None:
            self.notes.skip("a call by a link that is not in the file")
            return
        key = (self.snapshots.account, str(one.callId), link)
        values = (self.notes.enum(one, "state"), min(one.callTimestamp, LATEST))
        self.upsert("ad_hoc_call", key, "account_id = ? AND call_id = ? AND call_link_id = ?", values)

    def pack(self, one: pb.StickerPack) -> None:
        """Take in a sticker pack."""
        key = (self.snapshots.account, one.packId.hex())
        self.upsert("sticker_pack", key, "account_id = ? AND pack_id = ?", (one.packKey,))

    def profile(self, one: pb.NotificationProfile) -> None:
        """Take in a notification profile."""
        day = one.DESCRIPTOR.fields_by_name["scheduleDaysEnabled"].enum_type
        assert day is not None  # noqa: S101  # it is an enum
        days = sorted(
            {
                day.values_by_name[self.notes.value(day, number, "scheduleDaysEnabled")].number
                for number in one.scheduleDaysEnabled
            }
        )
        place = (self.snapshots.current, self.profiles)
        self.connection.execute(
            f"INSERT INTO notification_profile VALUES ({', '.join('?' * 13)})",
            (
                *place,
                uuid_text(one.id),
                one.name,
                one.emoji if one.HasField("emoji") else None,
                argb(one.color),
                min(one.createdAtMs, LATEST),
                one.allowAllCalls,
                one.allowAllMentions,
                one.scheduleEnabled,
                one.scheduleStartTime,
                one.scheduleEndTime,
                " ".join(day.values_by_number[number].name for number in days),
            ),
        )
        self.members("notification_profile_member", place, one.allowedMembers)
        self.profiles += 1

    def folder(self, one: pb.ChatFolder) -> None:
        """Take in a chat folder."""
        place = (self.snapshots.current, self.folders)
        self.connection.execute(
            "INSERT INTO chat_folder VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *place,
                uuid_text(one.id),
                one.name,
                self.notes.enum(one, "folderType"),
                one.showOnlyUnread,
                one.showMutedChats,
                one.includeAllIndividualChats,
                one.includeAllGroupChats,
            ),
        )
        self.members("chat_folder_member", place, one.includedRecipientIds, 1)
        self.members("chat_folder_member", place, one.excludedRecipientIds, 0)
        self.folders += 1

    def members(self, table: str, place: tuple[int, int], ids: "pb.ChatFolder | object", *more: int) -> None:
        """Write who belongs to a profile or folder."""
        marks = ", ".join("?" * (4 + len(more)))
        for local in set(ids):  # type: ignore[call-overload]  # a repeated field
            here = self.people.get(local)
            if here is None:
                self.notes.skip("somebody who is not in the file")
            else:
                row = (*place, self.aliases.get(local, here), *more, here)
                self.connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)

    def colors(self, account: pb.AccountData) -> None:
        """Take in the colours the owner has mixed."""
        for one in account.accountSettings.customChatColors:
            self.connection.execute(
                "INSERT OR IGNORE INTO chat_color VALUES (?, ?, ?)",
                (self.snapshots.current, str(one.id), custom_color(one, self.notes)),
            )
