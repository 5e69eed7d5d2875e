"""Summary of a backup: counts, chats, dates and attachments."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Final

from google.protobuf.message import DecodeError

from holdfast.backup.backup_reader import Backup, BackupSource, opened
from holdfast.backup.dates import moment
from holdfast.backup.names import account_name, recipient_name
from holdfast.backup.public import public
from holdfast.backup.schema import RECORDS, BackupInfo, backup_pb2
from holdfast.backup.wire import Block, StreamLimits
from holdfast.backup.wire.collect import Selection, collect_block
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint
from holdfast.redacted_repr import redacted

if TYPE_CHECKING:
    from holdfast.backup.container.material import KeyMaterial
    from holdfast.backup.media import MediaCheck

__all__ = ["ChatCount", "Header", "Info", "info"]

LARGEST: Final = 10
DAY: Final = 86_400_000
# Dates outside of the calendar count as one day, which is shown as unknown: each its own would exhaust memory.
LAST_DAY: Final = 4_000_000
MESSAGE_KINDS: Final = tuple(item.name for item in backup_pb2.ChatItem.DESCRIPTOR.oneofs_by_name["item"].fields)
PICKED: Final = Selection(
    [
        *(f"Frame.{name}" for name in RECORDS[1:]),
        *("ChatItem.chatId", "ChatItem.dateSent", "FilePointer.locatorInfo", "FilePointer.LocatorInfo.size"),
        *(f"ChatItem.{name}" for name in MESSAGE_KINDS),
    ]
)


@public
@redacted
@dataclass(frozen=True, slots=True)
class Header:
    """The header of a backup, without its key and its debug data."""

    version: int
    made_at_ms: int
    app_version: str
    first_app_version: str

    @property
    def made_at(self) -> datetime | None:
        """The creation time, or None if it is not a valid date."""
        return moment(self.made_at_ms)


@public
@redacted
@dataclass(frozen=True, slots=True)
class ChatCount:
    """How many messages a chat has."""

    name: str
    messages: int


@public
@redacted
@dataclass(frozen=True, slots=True)
class Info:
    """The summary of a backup.

    `counts` has every record type by name, also those that do not occur; `recipients` and `messages` only the
    kinds that occur. `attachments` is the number of attachments of messages, with the size that the sender gave.
    `media` is the result of checking their files, if the backup has a place for them. `months` has the number of
    messages by month, as in `2026-01`.
    """

    form: str
    header: Header
    account: str
    counts: Mapping[str, int]
    empty_frames: int
    bytes: int
    recipients: Mapping[str, int]
    messages: Mapping[str, int]
    first_ms: int | None
    last_ms: int | None
    attachments: int
    attachment_bytes: int
    media: "MediaCheck | None"
    largest_chats: tuple[ChatCount, ...]
    months: Mapping[str, int]

    @property
    def frames(self) -> int:
        """The number of frames, without the header."""
        return sum(self.counts.values()) + self.empty_frames


@public
def info(
    source: BackupSource,
    key: "KeyMaterial | str | None" = None,
    *,
    limits: StreamLimits | None = None,
    progress: Callable[[int], None] | None = None,
    verify_media: bool = False,
) -> Info:
    """Return the summary of a backup, in any form that `open` accepts.

    With `verify_media`, every attachment of a local folder or export is decrypted and its hash verified; otherwise
    the files must only exist.

    >>> found = hb.info("chats.binproto")
    >>> found.counts["chatItem"], found.header.made_at.year
    (200, 2025)
    """
    with opened(source, key, limits=limits, progress=progress) as backup:
        digest = Digest(backup)
        for block in backup.blocks():
            digest.add(block)
        return digest.info(verify_media=verify_media)


@redacted
@dataclass
class Digest:
    """Computes the summary from frames."""

    backup: Backup
    records: Counter[int] = field(default_factory=Counter)
    frames: int = 0
    account: str = ""
    names: dict[int, str] = field(default_factory=dict)
    chats: dict[int, int] = field(default_factory=dict)
    recipients: Counter[str] = field(default_factory=Counter)
    messages: Counter[int] = field(default_factory=Counter)
    by_chat: Counter[int] = field(default_factory=Counter)
    by_day: Counter[int] = field(default_factory=Counter)
    first: int | None = None
    last: int | None = None
    attachments: int = 0
    attachment_bytes: int = 0
    pointers: set[tuple[bytes, bytes, int]] = field(default_factory=set)

    def add(self, block: Block) -> None:
        """Add the frames of a block."""
        entries, count, fault, at = collect_block(block.data, NO_CAP, PICKED)
        if fault:
            raise block.damaged(fault, count, at)
        if sum(depth == 0 for _slot, depth, _start, _end in entries) != count:
            block = normalized(block)
            entries, count, _fault, _at = collect_block(block.data, NO_CAP, PICKED)
        self.frames += count
        slots = PICKED.slots
        chat_id, date_sent = slots["ChatItem.chatId"], slots["ChatItem.dateSent"]
        locator, size = slots["FilePointer.locatorInfo"], slots["FilePointer.LocatorInfo.size"]
        records, messages, by_chat, by_day = self.records, self.messages, self.by_chat, self.by_day
        dates: list[int] = []
        for slot, depth, start, end in entries:
            if depth == 0:
                records[slot] += 1
                if slot in RARE:
                    try:
                        RARE[slot](self, block.data[start:end])
                    except DecodeError:
                        _ = block.frame_at(start).message  # raises, with the place
                        raise
            elif slot == locator:
                if end > start:
                    self.attachments += 1
                    if self.backup.media is not None:
                        self.add_pointers(block.data[start:end])
            elif slot == size:
                self.attachment_bytes += start
            elif depth > 1:
                continue  # an earlier revision
            elif slot == chat_id:
                by_chat[start] += 1
            elif slot == date_sent:
                dates.append(start)
            else:
                messages[slot] += 1
        real = [date for date in dates if date]
        if real:
            self.first = min(real) if self.first is None else min(self.first, *real)
            self.last = max(real) if self.last is None else max(self.last, *real)
            by_day.update(min(date // DAY, LAST_DAY) for date in real)

    def add_account(self, raw: bytes) -> None:
        """Store the name of the owner."""
        self.account = account_name(backup_pb2.AccountData.FromString(raw))

    def add_recipient(self, raw: bytes) -> None:
        """Store the name of a recipient."""
        recipient = backup_pb2.Recipient.FromString(raw)
        self.names[recipient.id] = recipient_name(recipient)
        self.recipients[recipient.WhichOneof("destination") or "unknown"] += 1

    def add_chat(self, raw: bytes) -> None:
        """Store the recipient of a chat."""
        chat = backup_pb2.Chat.FromString(raw)
        self.chats[chat.id] = chat.recipientId

    def add_pointers(self, locator: bytes) -> None:
        """Store the attachment file that a locator refers to."""
        from holdfast.backup.media import pointers_of  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        self.pointers.update(pointers_of(locator))

    def media_check(self, *, verify: bool) -> "MediaCheck | None":
        """Check the files of the attachments, if the backup has a place for them."""
        if self.backup.media is None:
            return None
        from holdfast.backup.media import check_media  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        return check_media(self.backup.media, self.pointers, verify=verify)

    def info(self, *, verify_media: bool) -> Info:
        """Return the summary."""
        header = BackupInfo.FromString(self.backup.header)
        counts = {name: self.records[PICKED.slots[f"Frame.{name}"]] for name in RECORDS[1:]}
        messages = {name: self.messages[PICKED.slots[f"ChatItem.{name}"]] for name in MESSAGE_KINDS}
        months: Counter[str] = Counter()
        for day, count in self.by_day.items():
            date = moment(day * DAY)
            months[f"{date:%Y-%m}" if date else "unknown"] += count
        return Info(
            form=self.backup.form.value,
            header=Header(header.version, header.backupTimeMs, header.currentAppVersion, header.firstAppVersion),
            account=self.account,
            counts=counts,
            empty_frames=self.frames - sum(counts.values()),
            bytes=self.backup.size,
            recipients=dict(self.recipients),
            messages={name: count for name, count in messages.items() if count},
            first_ms=self.first,
            last_ms=self.last,
            attachments=self.attachments,
            attachment_bytes=self.attachment_bytes,
            media=self.media_check(verify=verify_media),
            largest_chats=tuple(
                ChatCount(self.names.get(self.chats.get(chat, 0), "Unknown"), count)
                for chat, count in self.by_chat.most_common(LARGEST)
            ),
            months=dict(sorted(months.items())),
        )


def normalized(block: Block) -> Block:
    """Normalize a block in which some frames have no record or more than one, as protobuf reads them."""
    raws = (frame.message.SerializeToString() for frame in block)
    return Block(block.index, block.offset, b"".join(encode_varint(len(raw)) + raw for raw in raws))


# Records that are parsed to message objects: there are few of them.
RARE: Final = {
    PICKED.slots["Frame.account"]: Digest.add_account,
    PICKED.slots["Frame.recipient"]: Digest.add_recipient,
    PICKED.slots["Frame.chat"]: Digest.add_chat,
}
