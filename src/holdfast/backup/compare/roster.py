"""Reads all records of a backup except messages; they are few, and needed before the first message."""

from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import RECORDS, BackupInfo, backup_pb2
from holdfast.backup.summary import normalized
from holdfast.backup.wire import Block
from holdfast.backup.wire.collect import Selection, collect_block
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.walk import walk
from holdfast.redacted_repr import redacted

__all__ = ["Roster", "read_roster"]

SELECTION: Final = Selection([f"Frame.{name}" for name in RECORDS[1:]])
NAMES: Final = {SELECTION.slots[f"Frame.{name}"]: name for name in RECORDS[1:]}


@redacted
@dataclass
class Roster:
    """The records of a backup other than messages, in file order.

    `recipients` and `chats` are by their ids in this file; of two with one id the first counts. `unknown_frames`
    are frames without a known record, without duplicates. `size` is the size of all frames in bytes, `digest`
    their hash.
    """

    header: BackupInfo
    account: backup_pb2.AccountData | None = None
    recipients: dict[int, backup_pb2.Recipient] = field(default_factory=dict)
    chats: dict[int, backup_pb2.Chat] = field(default_factory=dict)
    packs: list[backup_pb2.StickerPack] = field(default_factory=list)
    calls: list[backup_pb2.AdHocCall] = field(default_factory=list)
    profiles: list[backup_pb2.NotificationProfile] = field(default_factory=list)
    folders: list[backup_pb2.ChatFolder] = field(default_factory=list)
    unknown_frames: list[bytes] = field(default_factory=list)
    messages: int = 0
    size: int = 0
    digest: bytes = b""

    @property
    def sort_key(self) -> tuple[int, int, bytes]:
        """Sort key, oldest first; of two backups with the same time the smaller may be a part of the other."""
        return self.backup_time_ms, self.size, self.digest

    @property
    def backup_time_ms(self) -> int:
        """The time of the backup."""
        return self.header.backupTimeMs

    def name(self, recipient: int) -> str:
        """Return the name of a recipient of this file."""
        entry = self.recipients.get(recipient)
        return "Unknown" if entry is None else recipient_name(entry)

    def chat_name(self, chat: int) -> str:
        """Return the name of a chat of this file."""
        entry = self.chats.get(chat)
        return "Unknown" if entry is None else self.name(entry.recipientId)

    def add(self, name: str, raw: bytes) -> None:
        """Parse and add a record."""
        if name == "account":
            if self.account is None:
                self.account = backup_pb2.AccountData.FromString(raw)
        elif name == "recipient":
            recipient = backup_pb2.Recipient.FromString(raw)
            self.recipients.setdefault(recipient.id, recipient)
        elif name == "chat":
            chat = backup_pb2.Chat.FromString(raw)
            self.chats.setdefault(chat.id, chat)
        elif name == "stickerPack":
            self.packs.append(backup_pb2.StickerPack.FromString(raw))
        elif name == "adHocCall":
            self.calls.append(backup_pb2.AdHocCall.FromString(raw))
        elif name == "notificationProfile":
            self.profiles.append(backup_pb2.NotificationProfile.FromString(raw))
        else:
            self.folders.append(backup_pb2.ChatFolder.FromString(raw))


def read_roster(backup: Backup) -> Roster:
    """Read a whole backup and return its records except messages.

    All frames are checked for damage; messages are only parsed later, where they are needed.
    """
    roster = Roster(BackupInfo.FromString(backup.header))
    digest = blake2b(backup.header, digest_size=16)
    item = SELECTION.slots["Frame.chatItem"]
    for block in backup.blocks():
        digest.update(block.data)
        roster.size += len(block.data)
        result = walk(block.data, 0, NO_CAP)
        if result.fault:
            raise block.damaged(result.fault, result.frames, result.at)
        entries, count, _fault, _at = collect_block(block.data, NO_CAP, SELECTION)
        normalized_block = block
        if sum(depth == 0 for _slot, depth, _start, _end in entries) != count:
            normalized_block = normalized(block)
            entries, count, _fault, _at = collect_block(normalized_block.data, NO_CAP, SELECTION)
        records = [entry for entry in entries if entry[1] == 0]
        if len(records) != count:
            add_unknown_frames(roster, normalized_block)
        for slot, _depth, start, end in records:
            if slot == item:
                roster.messages += 1
                continue
            roster.add(NAMES[slot], normalized_block.data[start:end])
    roster.digest = digest.digest()
    if roster.account is None:
        raise UnreadableBackup(f"{backup.name} has no account record, so it is not a complete backup")
    return roster


def add_unknown_frames(roster: Roster, block: Block) -> None:
    """Add frames with unknown content, without duplicates."""
    for frame in block:
        if frame.raw and frame.kind == 0 and frame.raw not in roster.unknown_frames:
            roster.unknown_frames.append(frame.raw)
