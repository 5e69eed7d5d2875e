"""Writes part of a backup as a valid backup: some chats, a time range, with or without media.

A selection of chats drops the other chats, and recipients without a reference in what is kept. A time range drops
messages and calls, and keeps all chats and recipients. The account is always kept.
"""

import tempfile
from collections.abc import Collection, MutableSequence, Set
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

from google.protobuf.message import Message

from holdfast.backup import backup_reader
from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.compare.roster import Roster, read_roster
from holdfast.backup.compare.selection import Window, find_chats
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import (
    BackupTarget,
    Conversion,
    OutputFormat,
    chosen_form,
    convert,
    path_or_file,
    refuse_weak_key,
)
from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.public import public
from holdfast.backup.schema import RECORDS, Frame
from holdfast.backup.schema.backup_pb2 import FilePointer, MessageAttachment, Recipient
from holdfast.backup.target_check import check_target
from holdfast.backup.wire import Names, tables
from holdfast.backup.wire.collect import Selection, collect, name_of
from holdfast.backup.writer import BackupWriter, write_stream
from holdfast.redacted_repr import redacted

__all__ = ["CropResult", "crop"]

# Fields that refer to a recipient by service id: mentions, group members, and authors of group changes.
SERVICE_IDS: Final = tuple(
    name_of(field)
    for field in tables.FIELDS.values()
    if field.type == field.TYPE_BYTES
    and field.name.endswith(("Aci", "aci", "Pni", "ServiceId", "UserId", "userId"))
    and not name_of(field).startswith("Contact.")
)
MESSAGE_FIELDS: Final = (
    "ChatItem.chatId",
    "ChatItem.dateSent",
    "Quote.targetSentTimestamp",
    "FilePointer.locatorInfo",
)
SELECTION: Final = Selection([*MESSAGE_FIELDS, *RECIPIENT_IDS, *SERVICE_IDS])
NAMES: Final = {slot: name for name, slot in SELECTION.slots.items()}
LONG_TEXTS: Final = ("StandardMessage.longText", "DirectStoryReplyMessage.TextReply.longText")
ITEM: Final = RECORDS.index("chatItem")
# Type byte of a PNI in fields that can hold an ACI as well.
PNI: Final = b"\x01"


@public
@redacted
@dataclass(frozen=True, slots=True)
class CropResult:
    """The result of a crop: chats, recipients and messages that were kept, and their numbers before."""

    chats: int
    chats_before: int
    recipients: int
    recipients_before: int
    messages: int
    messages_before: int
    written: Conversion


@public
def crop(
    source: BackupSource,
    target: BackupTarget,
    key: KeyMaterial | str | None = None,
    *,
    to: OutputFormat | str | None = None,
    chats: Collection[str] = (),
    without_chats: Collection[str] = (),
    window: Window = Window(),  # noqa: B008  # it cannot change
    without_media: bool = False,
    keys: KeyMaterial | None = None,
    names: Names = "spec",
    replace: bool = False,
) -> CropResult:
    """Write part of a backup, in any form that `convert` writes.

    Keeps the messages of `chats` (by default all) except `without_chats` that were sent within `window`. Without
    media, attachments are listed but marked as not available; the text of long messages is kept. A quote of a
    dropped message keeps its text, but not its target. With `replace` an existing file is replaced, but never the
    source.

    >>> recent = hb.Window.between("2025", None)
    >>> hb.crop("chats.binproto", "recent.binproto", chats=["Bryony Dale"], window=recent).messages
    2
    """
    with opened(source, key) as backup:
        return crop_open(
            backup,
            target,
            to=to,
            chats=chats,
            without_chats=without_chats,
            window=window,
            without_media=without_media,
            keys=keys,
            names=names,
            replace=replace,
        )


def crop_open(
    source: Backup,
    target: BackupTarget,
    *,
    to: OutputFormat | str | None,
    chats: Collection[str],
    without_chats: Collection[str],
    window: Window,
    without_media: bool,
    keys: KeyMaterial | None,
    names: Names,
    replace: bool,
) -> CropResult:
    """Write part of an open backup."""
    if isinstance(target, str | PathLike):
        check_target(source, Path(target))
    refuse_weak_key(chosen_form(path_or_file(target), to), keys, [source])
    roster = read_roster(source)
    kept = find_chats(roster, chats) if chats else set(roster.chats)
    kept -= find_chats(roster, without_chats)
    plan = CropPlan(roster, kept, window, without_media=without_media, some_chats=bool(chats or without_chats))
    plan.find_recipients(source)
    with tempfile.TemporaryFile() as file:
        with write_stream(file, source.header, unchecked=True) as out:
            plan.write(source, out)
        file.seek(0)
        with backup_reader.open(file) as plain:
            plain.media, plain.recovery_keys = source.media, source.recovery_keys
            written = convert(plain, target, to=to, keys=keys, names=names, replace=replace)
    return CropResult(
        chats=len(kept),
        chats_before=len(roster.chats),
        recipients=len(plan.people),
        recipients_before=len(roster.recipients),
        messages=plan.messages,
        messages_before=roster.messages,
        written=written,
    )


class CropPlan:
    """Selects the records to keep in one pass, and writes them in another."""

    def __init__(
        self, roster: Roster, chats: Set[int], window: Window, *, without_media: bool, some_chats: bool
    ) -> None:
        self._roster = roster
        self._chats = chats
        self._window = window
        self._without_media = without_media
        self._some_chats = some_chats
        self.messages = 0
        self.people: set[int] = set() if some_chats else set(roster.recipients)

    def find_recipients(self, source: Backup) -> None:
        """Collect the recipients that kept records refer to."""
        if not self._some_chats:
            return
        ids: set[bytes] = set()
        recipients = self._roster.recipients
        for chat in self._chats:
            self.people.add(self._roster.chats[chat].recipientId)
        self.people |= {
            recipient_id for recipient_id, recipient in recipients.items() if recipient.HasField("self")
        }
        for frame in source:
            if frame.kind == ITEM:
                item = MessageReferences(frame.raw)
                if self._is_kept(item):
                    self.people |= item.people
                    ids |= item.ids
        for recipient_id in tuple(self.people):
            if recipient_id in recipients and recipients[recipient_id].HasField("group"):
                ids |= MessageReferences(Frame(recipient=recipients[recipient_id]).SerializeToString()).ids
        self.people |= {
            recipient_id for recipient_id, recipient in recipients.items() if service_ids_of(recipient) & ids
        }
        self.people &= recipients.keys()

    def _is_kept(self, item: "MessageReferences") -> bool:
        """Return whether a message is kept."""
        return item.chat in self._chats and self._window.holds(item.origin)

    def write(self, source: Backup, out: BackupWriter) -> None:
        """Write the kept records in order."""
        for frame in source:
            raw: bytes | None = frame.raw
            if frame.kind == ITEM:
                raw = self._crop_item(frame.raw)
                self.messages += raw is not None
            elif frame.kind:
                raw = self._crop_record(frame.raw, frame.message)
            if raw is not None:
                out.write(raw)

    def _crop_item(self, raw: bytes) -> bytes | None:
        """Return a kept message without references to dropped ones; None for a dropped message."""
        item = MessageReferences(raw)
        if not self._is_kept(item):
            return None
        has_dangling_quote = any(not self._window.holds(time) for time in item.quoted_times)
        if not has_dangling_quote and not (self._without_media and item.files):
            return raw
        frame = Frame.FromString(raw)
        for version in (frame.chatItem, *frame.chatItem.revisions):
            quote = version.standardMessage.quote
            if quote.HasField("targetSentTimestamp") and not self._window.holds(quote.targetSentTimestamp):
                quote.ClearField("targetSentTimestamp")
            if self._without_media:
                drop_files(version)
        return frame.SerializeToString(deterministic=True)

    def _crop_record(self, raw: bytes, frame: Frame) -> bytes | None:
        """Return a record other than a message without references to dropped recipients; None if it is dropped."""
        kind = frame.WhichOneof("item")
        if kind == "recipient":
            if frame.recipient.id not in self.people or (
                self._some_chats and frame.recipient.HasField("distributionList")
            ):
                return None
        elif kind == "chat":
            if frame.chat.id not in self._chats:
                return None
        elif kind == "adHocCall":
            call = frame.adHocCall
            return raw if call.recipientId in self.people and self._window.holds(call.callTimestamp) else None
        elif kind == "notificationProfile":
            self._filter_ids(frame.notificationProfile.allowedMembers)
        elif kind == "chatFolder":
            self._filter_ids(frame.chatFolder.includedRecipientIds)
            self._filter_ids(frame.chatFolder.excludedRecipientIds)
        if self._without_media:
            drop_files(frame)
        # An unchanged record keeps its bytes.
        return raw if Frame.FromString(raw) == frame else frame.SerializeToString(deterministic=True)

    def _filter_ids(self, ids: MutableSequence[int]) -> None:
        """Remove dropped recipients from a list of ids."""
        kept = [recipient_id for recipient_id in ids if recipient_id in self.people]
        if len(kept) != len(ids):
            ids[:] = kept


class MessageReferences:
    """Chat, time, files and quotes of a message, and the recipients it refers to."""

    def __init__(self, raw: bytes) -> None:
        self.chat = 0
        self.origin = 0
        self.files = False
        self.quoted_times: list[int] = []
        self.people: set[int] = set()
        self.ids: set[bytes] = set()
        for slot, depth, start, end in collect(raw, SELECTION):
            name = NAMES[slot]
            if name == "ChatItem.chatId":
                self.chat = start if depth == 1 else self.chat
            elif name == "ChatItem.dateSent":
                self.origin = min(start, self.origin or start)
            elif name == "Quote.targetSentTimestamp":
                self.quoted_times.append(start)
            elif name == "FilePointer.locatorInfo":
                self.files = True
            elif end == -1:
                self.people.add(start)
            else:
                self.ids.add(raw[start:end])


def service_ids_of(recipient: Recipient) -> set[bytes]:
    """Return the service ids of a contact, as group members, mentions and updates refer to them."""
    contact = recipient.contact
    service_ids = {contact.aci, contact.pni}
    return (service_ids | {PNI + contact.pni} if contact.pni else service_ids) - {b""}


def drop_files(message: Message) -> None:
    """Mark all files of a record as not available, except the text of long messages."""
    for field, value in message.ListFields():
        if field.message_type is None or name_of(field) in LONG_TEXTS:
            continue
        for child in value if field.is_repeated else (value,):
            if isinstance(child, FilePointer):
                for name in ("incrementalMac", "incrementalMacChunkSize", "locatorInfo"):
                    child.ClearField(name)
                child.locatorInfo.SetInParent()
            else:
                if isinstance(child, MessageAttachment):
                    child.wasDownloaded = False
                drop_files(child)
