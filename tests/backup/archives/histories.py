"""Snapshots of one generated history: later ones and those of other devices, with the changes between them."""

import random
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from google.protobuf.message import Message

from holdfast import backup
from holdfast.backup import archives
from holdfast.backup.archives import ImportResult
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import ChatItem, Contact
from holdfast.backup.wire.varint import encode_varint, varint_at
from tests.backup.streams import sample

PEOPLE_FIELDS = {
    ("Recipient", "id"),
    ("Chat", "recipientId"),
    ("ChatItem", "authorId"),
    ("SendStatus", "recipientId"),
    ("Reaction", "authorId"),
    ("Quote", "authorId"),
    ("PollVote", "voterId"),
    ("AdminDeletedMessage", "adminId"),
    ("PinMessageUpdate", "authorId"),
    ("GroupCall", "ringerRecipientId"),
    ("GroupCall", "startedCallRecipientId"),
    ("AdHocCall", "recipientId"),
    ("DistributionList", "memberRecipientIds"),
    ("NotificationProfile", "allowedMembers"),
    ("ChatFolder", "includedRecipientIds"),
    ("ChatFolder", "excludedRecipientIds"),
}
# Of archives that are encrypted in tests.
PASSPHRASE = "correct horse battery staple"
CHAT_FIELDS = {("Chat", "id"), ("ChatItem", "chatId")}


@cache
def frames(messages: int = 60, seed: int = 1) -> tuple[BackupInfo, tuple[Frame, ...]]:
    """Parse a sample."""
    header, *records = sample(messages, seed)
    return BackupInfo.FromString(header), tuple(Frame.FromString(raw) for raw in records)


def copies(messages: int = 60, seed: int = 1) -> tuple[BackupInfo, list[Frame]]:
    """Return a copy of a sample that may be changed."""
    header, parsed = frames(messages, seed)
    copy = BackupInfo()
    copy.CopyFrom(header)
    return copy, [Frame.FromString(frame.SerializeToString()) for frame in parsed]


def items(parsed: list[Frame]) -> Iterator[ChatItem]:
    """Yield the messages."""
    return (frame.chatItem for frame in parsed if frame.WhichOneof("item") == "chatItem")


def renumber(message: Message, people: Callable[[int], int], chats: Callable[[int], int]) -> None:
    """Replace the ids of recipients and chats, at every depth."""
    for field, value in message.ListFields():
        key = (message.DESCRIPTOR.name, field.name)
        if key in PEOPLE_FIELDS or key in CHAT_FIELDS:
            change = people if key in PEOPLE_FIELDS else chats
            if field.is_repeated:
                numbers = [change(number) for number in value]
                del value[:]
                value.extend(numbers)
            else:
                setattr(message, field.name, change(value))
        elif field.message_type is not None:
            for inner in value if field.is_repeated else (value,):
                renumber(inner, people, chats)


def write(path: Path, header: BackupInfo, parsed: list[Frame]) -> Path:
    """Write a backup."""
    records = [header.SerializeToString(), *(frame.SerializeToString() for frame in parsed)]
    path.write_bytes(b"".join(encode_varint(len(raw)) + raw for raw in records))
    return path


def read(path: Path) -> tuple[BackupInfo, list[Frame]]:
    """Read a backup that `write` has written."""
    records, data, offset = [], path.read_bytes(), 0
    while offset < len(data):
        size, offset = varint_at(data, offset)
        records.append(data[offset : offset + size])
        offset += size
    return BackupInfo.FromString(records[0]), [Frame.FromString(raw) for raw in records[1:]]


def reduce_identifiers(contact: Contact, rng: random.Random) -> None:
    """Remove identifiers of a contact at random: the ACI, the PNI or the phone number, or none."""
    if contact.e164 and contact.pni and contact.aci:
        for field in rng.choice((("aci", "pni"), ("aci", "e164"), ("aci",), ("pni",), ())):
            contact.ClearField(field)
        if not contact.aci:
            contact.ClearField("username")


def add_duplicates(parsed: list[Frame], rng: random.Random) -> list[Frame]:
    """Add copies of some messages with the same author and timestamp, and another text."""
    result: list[Frame] = []
    for frame in parsed:
        result.append(frame)
        if frame.chatItem.HasField("standardMessage") and not frame.chatItem.revisions:
            for number in range(2):
                duplicate = Frame.FromString(frame.SerializeToString())
                duplicate.chatItem.standardMessage.text.body = f"twin {number}"
                if rng.random() < 0.4:
                    result.insert(len(result) - rng.randrange(2), duplicate)
    return result


def write_later(
    path: Path,
    rng: random.Random,
    *,
    days: int,
    messages: int = 60,
    seed: int = 1,
    half_known: bool = False,
    duplicates: bool = False,
) -> Path:
    """Write a later snapshot of the sample, with changed messages and other ids."""
    header, parsed = copies(messages, seed)
    if half_known:
        for frame in parsed:
            if frame.HasField("recipient") and frame.recipient.HasField("contact"):
                reduce_identifiers(frame.recipient.contact, rng)
    if duplicates:
        parsed = add_duplicates(parsed, rng)
    header.backupTimeMs += days * 86_400_000
    remaining: list[Frame] = []
    for frame in parsed:
        if frame.WhichOneof("item") == "chatItem":
            if rng.random() < 0.15:
                continue
            change_item(frame.chatItem, rng)
        elif frame.HasField("recipient") and frame.recipient.HasField("contact") and rng.random() < 0.2:
            frame.recipient.contact.nickname.given = f"Nick {rng.randrange(3)}"
        elif frame.HasField("recipient") and frame.recipient.HasField("group") and rng.random() < 0.3:
            frame.recipient.group.snapshot.title.title = f"Group {rng.randrange(3)}"
        elif frame.HasField("chat") and rng.random() < 0.3:
            frame.chat.archived = not frame.chat.archived
        remaining.append(frame)
    shift, factor = rng.randrange(1, 50), rng.choice((1, 2, 7))
    for frame in remaining:
        renumber(frame, lambda number: number * factor + shift, lambda number: number * factor + 3 * shift)
    return write(path, header, remaining)


def change_item(item: ChatItem, rng: random.Random) -> None:
    """Change a message at random, for example by an edit, a reaction or a deletion, or leave it unchanged."""
    action = rng.randrange(8)
    if action == 0 and item.HasField("standardMessage") and item.standardMessage.HasField("text"):
        before = ChatItem()
        before.CopyFrom(item)
        before.ClearField("revisions")
        first = item.revisions[0] if item.revisions else before
        item.standardMessage.text.body = f"edited {rng.randrange(3)}"
        if not item.revisions:
            item.revisions.add().CopyFrom(first)
    elif action == 1 and item.HasField("standardMessage"):
        item.standardMessage.reactions.add(
            emoji="🎉", authorId=item.authorId, sentTimestamp=item.dateSent, sortOrder=9
        )
    elif action == 2:
        for status in item.outgoing.sendStatus:
            status.read.sealedSender = True
    elif action == 3 and item.HasField("standardMessage") and not item.revisions:
        item.remoteDeletedMessage.SetInParent()
    elif action == 4 and item.HasField("incoming"):
        item.incoming.read = not item.incoming.read


def import_backups(archive: Path, *sources: Path) -> list[ImportResult]:
    """Import backups into an archive."""
    results: list[ImportResult] = []
    with archives.open(archive, create=True) as opened:
        for source in sources:
            with backup.open(source) as reader:
                results.append(opened.add(reader))
    return results
