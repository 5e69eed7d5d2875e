"""The conversations of a sample: who talks in them, how their chats are set up, what was said last."""

from collections import deque
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from holdfast.backup.schema.backup_pb2 import Chat, ChatItem, Quote, SendStatus
from holdfast_demo.sample.groups import Circle
from holdfast_demo.sample.media import Library
from holdfast_demo.sample.people import DAY, SamplePerson, Standing
from holdfast_demo.sample.phrases import Tongue
from holdfast_demo.sample.seeded_random import Dice
from holdfast_demo.sample.styles import decorate

__all__ = ["FOUR_WEEKS", "Kind", "Room", "Said", "arrange", "chat"]

Kind = Literal["friend", "group", "self", "news", "number", "stranger"]

# An invitee cannot be written to yet.
KINDS: dict[Standing, Kind] = {"friend": "friend", "gone": "friend", "number": "number", "stranger": "stranger"}

FOUR_WEEKS = 28 * DAY
FOREVER = (1 << 63) - 1
REMEMBERED = 12


class Said(NamedTuple):
    """What a later message needs to quote an earlier one."""

    sent: int
    author: int
    text: str
    kind: Quote.Type.ValueType = Quote.NORMAL
    content_type: str = ""
    file_name: str = ""


@dataclass(slots=True)
class Room:
    """One conversation.

    `people` are those besides the account's owner, `deliveries` the usual outcomes of a message sent here, ready
    but for their times, and `recent` what was said last.
    """

    id: int
    recipient: int
    kind: Kind
    title: str
    people: tuple[SamplePerson, ...]
    tongues: tuple[Tongue, ...]
    place: int
    timer: int = 0
    deliveries: tuple[ChatItem.OutgoingMessageDetails, ...] = ()
    recent: deque[Said] = field(default_factory=lambda: deque(maxlen=REMEMBERED))


def arrange(me: SamplePerson, news: SamplePerson, people: list[SamplePerson], circles: list[Circle]) -> list[Room]:
    """Set up a room for each group and for each person one can write to, the liveliest first."""
    rooms: list[Room] = []

    def add(
        kind: Kind, recipient: int, title: str, members: tuple[SamplePerson, ...], tongues: tuple[Tongue, ...]
    ) -> None:
        place = len(rooms)
        timer = FOUR_WEEKS if place % 6 == 1 else 0
        rooms.append(Room(place + 1, recipient, kind, title, members, tongues, place, timer))

    groups = iter(circles)
    for place, person in enumerate(people):
        circle = next(groups, None) if place % 2 == 0 else None
        if circle is not None:
            add("group", circle.id, circle.title, circle.members, circle.club.tongues)
        kind = KINDS.get(person.standing)
        if kind is not None:
            add(kind, person.id, person.name, (person,), (person.tongue,))
    add("self", me.id, "Notes", (), ("en", "de"))
    add("news", news.id, news.name, (), ("en",))
    for room in rooms:
        room.deliveries = deliveries(room, me)
    return rooms


def deliveries(room: Room, me: SamplePerson) -> tuple[ChatItem.OutgoingMessageDetails, ...]:
    """Prepare the usual outcomes of a message sent in a room: most are read, some only delivered or sent."""
    read = SendStatus(read=SendStatus.Read(sealedSender=True))
    viewed = SendStatus(viewed=SendStatus.Viewed(sealedSender=True))
    delivered = SendStatus(delivered=SendStatus.Delivered(sealedSender=True))
    sent = SendStatus(sent=SendStatus.Sent(sealedSender=room.kind != "number"))
    usual = ((read,), (read, read, delivered), (read, viewed), (delivered,), (sent, delivered, read))
    prepared = []
    for outcome in ((sent,),) if room.kind == "number" else usual:
        details = ChatItem.OutgoingMessageDetails()
        for number, person in enumerate(room.people or (me,)):
            status = details.sendStatus.add()
            status.CopyFrom(outcome[number % len(outcome)])
            status.recipientId = person.id
        prepared.append(details)
    return tuple(prepared)


def chat(room: Room, library: Library, dice: Dice, now: int) -> Chat:
    """Write the chat record of a room."""
    place = room.place
    record = Chat(id=room.id, recipientId=room.recipient)
    record.archived = place % 9 == 8 or room.kind == "stranger"
    if place < 4:
        record.pinnedOrder = place + 1
    if room.timer:
        record.expirationTimerMs = room.timer
        record.expireTimerVersion = 2
    if place % 8 == 5:
        record.muteUntilMs = FOREVER if place % 16 == 5 else now + 30 * DAY
        record.dontNotifyForMentionsIfMuted = True
    record.markedUnread = place % 10 == 6
    # Every fourth chat looks like the account's default.
    if place % 4 != 3:
        decorate(record.style, place - place // 4, library, dice, now)
    return record
