"""The chats of a sample: participants, settings and recent messages."""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from holdfast.backup.schema.backup_pb2 import Chat, ChatItem, Quote, SendStatus
from holdfast_demo.sample.groups import SampleGroup
from holdfast_demo.sample.media import Library
from holdfast_demo.sample.people import DAY, ContactKind, SamplePerson
from holdfast_demo.sample.phrases import Language
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.styles import fill_style

__all__ = ["FOUR_WEEKS", "ChatKind", "QuotableMessage", "SampleChat", "chat_record", "make_chats"]

ChatKind = Literal["friend", "group", "self", "news", "number", "stranger"]

# There is no chat with an invitee.
KINDS: dict[ContactKind, ChatKind] = {
    "friend": "friend",
    "gone": "friend",
    "number": "number",
    "stranger": "stranger",
}

FOUR_WEEKS = 28 * DAY
FOREVER = (1 << 63) - 1
REMEMBERED = 12


class QuotableMessage(NamedTuple):
    """What a later message needs to quote an earlier one."""

    sent: int
    author: int
    text: str
    kind: Quote.Type.ValueType = Quote.NORMAL
    content_type: str = ""
    file_name: str = ""


@dataclass(slots=True)
class SampleChat:
    """A chat.

    `people` are the participants other than the account's owner, `deliveries` common send statuses of an outgoing
    message, without their times, and `recent` the last messages.
    """

    id: int
    recipient: int
    kind: ChatKind
    title: str
    people: tuple[SamplePerson, ...]
    languages: tuple[Language, ...]
    index: int
    timer: int = 0
    deliveries: tuple[ChatItem.OutgoingMessageDetails, ...] = ()
    recent: deque[QuotableMessage] = field(default_factory=lambda: deque(maxlen=REMEMBERED))


def make_chats(
    me: SamplePerson, news: SamplePerson, people: list[SamplePerson], groups: list[SampleGroup]
) -> list[SampleChat]:
    """Create a chat for each group and each person who can be written to, the most active ones first."""
    chats: list[SampleChat] = []

    def add(
        kind: ChatKind,
        recipient: int,
        title: str,
        members: tuple[SamplePerson, ...],
        languages: tuple[Language, ...],
    ) -> None:
        index = len(chats)
        timer = FOUR_WEEKS if index % 6 == 1 else 0
        chats.append(SampleChat(index + 1, recipient, kind, title, members, languages, index, timer))

    remaining = iter(groups)
    for index, person in enumerate(people):
        group = next(remaining, None) if index % 2 == 0 else None
        if group is not None:
            add("group", group.id, group.title, group.members, group.template.languages)
        kind = KINDS.get(person.kind)
        if kind is not None:
            add(kind, person.id, person.name, (person,), (person.language,))
    add("self", me.id, "Notes", (), ("en", "de"))
    add("news", news.id, news.name, (), ("en",))
    for chat in chats:
        chat.deliveries = deliveries(chat, me)
    return chats


def deliveries(chat: SampleChat, me: SamplePerson) -> tuple[ChatItem.OutgoingMessageDetails, ...]:
    """Return common send statuses of a message in a chat: most are read, some only delivered or sent."""
    read = SendStatus(read=SendStatus.Read(sealedSender=True))
    viewed = SendStatus(viewed=SendStatus.Viewed(sealedSender=True))
    delivered = SendStatus(delivered=SendStatus.Delivered(sealedSender=True))
    sent = SendStatus(sent=SendStatus.Sent(sealedSender=chat.kind != "number"))
    usual = ((read,), (read, read, delivered), (read, viewed), (delivered,), (sent, delivered, read))
    prepared = []
    for outcome in ((sent,),) if chat.kind == "number" else usual:
        details = ChatItem.OutgoingMessageDetails()
        for number, person in enumerate(chat.people or (me,)):
            status = details.sendStatus.add()
            status.CopyFrom(outcome[number % len(outcome)])
            status.recipientId = person.id
        prepared.append(details)
    return tuple(prepared)


def chat_record(chat: SampleChat, library: Library, rng: SeededRandom, now: int) -> Chat:
    """Return the record of a chat."""
    index = chat.index
    record = Chat(id=chat.id, recipientId=chat.recipient)
    record.archived = index % 9 == 8 or chat.kind == "stranger"
    if index < 4:
        record.pinnedOrder = index + 1
    if chat.timer:
        record.expirationTimerMs = chat.timer
        record.expireTimerVersion = 2
    if index % 8 == 5:
        record.muteUntilMs = FOREVER if index % 16 == 5 else now + 30 * DAY
        record.dontNotifyForMentionsIfMuted = True
    record.markedUnread = index % 10 == 6
    # Every fourth chat has the default style of the account.
    if index % 4 != 3:
        fill_style(record.style, index - index // 4, library, rng, now)
    return record
