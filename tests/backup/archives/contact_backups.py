"""Backups of one account in which the same few people have different combinations of identifiers."""

import random
from pathlib import Path

from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import Contact
from tests.backup.archives.histories import copies, write

Way = dict[str, object]

START = 1_600_000_000_000
ADA, BEN = b"a" * 16, b"b" * 16
LINE: Way
OTHER_LINE: Way
LINE, OTHER_LINE = {"e164": 15550101, "pni": b"p" * 16}, {"e164": 15550102, "pni": b"q" * 16}
HANDLE: Way = {"username": "heron.01"}
# Ways to be known: by less and by more, with a number that was somebody else's, with a new one.
WAYS: tuple[Way, ...] = (
    {"e164": LINE["e164"]},
    {"pni": LINE["pni"]},
    LINE,
    HANDLE,
    {"e164": LINE["e164"], **HANDLE},
    {"aci": ADA},
    {"aci": ADA, "e164": LINE["e164"]},
    {"aci": ADA, **LINE},
    {"aci": ADA, **OTHER_LINE},
    {"aci": ADA, **HANDLE},
    {"aci": BEN},
    {"aci": BEN, "e164": LINE["e164"]},
    {"aci": BEN, **LINE, **HANDLE},
    {"e164": OTHER_LINE["e164"]},
    {"pni": OTHER_LINE["pni"], "e164": LINE["e164"]},
)


def choose_identifiers(rng: random.Random, most: int) -> list[Way]:
    """Choose the identifiers of the contacts of a backup; no two contacts share one."""
    chosen: dict[object, Way] = {}
    for identifier in rng.sample(WAYS, rng.randint(1, most)):
        key = next(identifier[kind] for kind in ("aci", "pni", "e164", "username") if kind in identifier)
        chosen.setdefault(key, identifier)
    return list(chosen.values())


def write_backup(  # noqa: PLR0917  # what happens in it
    path: Path, days: int, ways: list[Way], rng: random.Random, messages: int = 4, profile_key: bytes = b""
) -> Path:
    """Write a backup of contacts with the given identifiers, each with a chat, and all in a group and a list."""
    header, frames = copies(20)
    header.backupTimeMs = START + days * 86_400_000
    account = next(frame for frame in frames if frame.HasField("account"))
    account.account.profileKey = profile_key or account.account.profileKey
    group = next(frame for frame in frames if frame.recipient.HasField("group"))
    first = rng.randrange(10, 50)
    own, club = first, first + 1
    written = [account, Frame(), group]
    written[1].recipient.id = own
    written[1].recipient.self.SetInParent()
    group.recipient.id = club
    people = [first + 5 + n for n in range(len(ways))]
    for number, identifier in zip(people, ways, strict=True):
        frame = Frame()
        frame.recipient.id = number
        frame.recipient.contact.CopyFrom(Contact(**identifier, profileGivenName=f"Name {rng.randrange(2)}"))  # type: ignore[arg-type]  # the identifiers are bytes or a number
        written.append(frame)
    all_people = Frame()
    all_people.recipient.id = first + 2
    all_people.recipient.distributionList.distributionId = b"d" * 16
    all_people.recipient.distributionList.distributionList.name = "all"
    all_people.recipient.distributionList.distributionList.memberRecipientIds.extend(people)
    written.append(all_people)
    chats = [club, *people]
    for chat in chats:
        frame = Frame()
        frame.chat.id, frame.chat.recipientId = chat + 1000, chat
        frame.chat.archived = rng.random() < 0.3
        written.append(frame)
    for second in sorted(rng.sample(range(messages * 2), messages)):
        written += [message(second, chat, own, people, rng) for chat in chats if rng.random() < 0.7]
    folder = Frame()
    folder.chatFolder.name = "friends"
    folder.chatFolder.folderType = folder.chatFolder.CUSTOM
    folder.chatFolder.includedRecipientIds.extend(person for person in people if rng.random() < 0.5)
    written.append(folder)
    return write(path, header, written)


def message(second: int, chat: int, own: int, people: list[int], rng: random.Random) -> Frame:
    """Return a message of a given second: outgoing at even seconds, otherwise incoming."""
    frame = Frame()
    item = frame.chatItem
    item.chatId, item.dateSent = chat + 1000, START - 1_000_000 + second * 1000
    # Outgoing at even moments, so that it is the same message in every file.
    if second % 2 == 0 or not people:
        item.authorId = own
        item.outgoing.dateReceived = item.dateSent
        for person in [chat] if chat in people else people:
            status = item.outgoing.sendStatus.add(recipientId=person, timestamp=item.dateSent + 5)
            (status.read if rng.random() < 0.5 else status.delivered).sealedSender = True
    else:
        item.authorId = chat if chat in people else rng.choice(people)
        item.incoming.dateReceived = item.dateSent + 1
        item.incoming.read = True
    item.standardMessage.text.body = f"word{second}"
    if people and rng.random() < 0.4:
        author = rng.choice(people)
        item.standardMessage.reactions.add(emoji="🎉", authorId=author, sentTimestamp=item.dateSent, sortOrder=1)
    if people and rng.random() < 0.3:
        item.standardMessage.quote.authorId = rng.choice(people)
        item.standardMessage.quote.text.body = "quoted"
        item.standardMessage.quote.type = item.standardMessage.quote.NORMAL
    return frame
