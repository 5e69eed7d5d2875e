"""Renumbering: copies with other ids and otherwise equal content, and their fingerprints."""

from collections.abc import Iterator

import pytest
from google.protobuf.message import Message

from holdfast.backup.compare.recipient_pairs import PLAN
from holdfast.backup.errors import DamagedRecord
from holdfast.backup.order import RECIPIENT_IDS
from holdfast.backup.schema import Frame
from holdfast.backup.schema.backup_pb2 import ChatItem
from holdfast.backup.wire.collect import name_of
from tests.backup.streams import record, sample, stream_of
from tests.backup.wire.core import Core

CAP = (1 << 32) - 1
COLORS = ("ChatStyle.customColorId", "ChatStyle.CustomChatColor.id")


class Shifted(dict[int, int]):
    """A mapping that adds a fixed number to every id."""

    def __init__(self, distance: int) -> None:
        super().__init__()
        self.distance = distance

    def __missing__(self, key: int) -> int:
        """Return the shifted id."""
        return key + self.distance


def shift(message: Message, distances: dict[str, int]) -> None:
    """Shift the ids of protobuf objects."""
    for field, value in message.ListFields():
        name = name_of(field)
        if name in distances and field.is_repeated:
            value[:] = [entry + distances[name] for entry in value]
        elif name in distances:
            setattr(message, field.name, value + distances[name])
        elif field.message_type is not None:
            for below in value if field.is_repeated else (value,):
                shift(below, distances)


@pytest.mark.parametrize("distance", [0, 1, 100_000, 1 << 40])
def test_a_copy_differs_in_ids_only(core: Core, distance: int) -> None:
    """Every kind of record keeps all but its ids, also if the new ids take more bytes."""
    distances = {
        **dict.fromkeys(RECIPIENT_IDS, distance),
        **dict.fromkeys(("Chat.id", "ChatItem.chatId"), 2 * distance),
        **dict.fromkeys(COLORS, 3 * distance),
    }
    for raw in sample(400)[1:]:
        copy = core.renumber.renumber(raw, PLAN, Shifted(distance), Shifted(2 * distance), Shifted(3 * distance))
        expected = Frame.FromString(raw)
        shift(expected, distances)
        assert Frame.FromString(copy) == expected
        assert distance or copy == raw


def test_what_the_schema_does_not_know_is_copied(core: Core) -> None:
    """Unknown fields are copied at every depth, in their place."""
    inside = b"\x98\x06\x05" + b"\x08\x07" + b"\x9a\x06\x02hi" + b"\x10\x03"
    raw = b"\x22" + bytes([len(inside)]) + inside + b"\x9a\x06\x01x"
    copy = core.renumber.renumber(raw, PLAN, {3: 300}, {7: 8}, {})
    moved = inside.replace(b"\x08\x07", b"\x08\x08").replace(b"\x10\x03", b"\x10\xac\x02")
    assert copy == b"\x22" + bytes([len(moved)]) + moved + b"\x9a\x06\x01x"


def test_an_id_that_is_nowhere_raises_what_the_mapping_raises(core: Core) -> None:
    """An id that is not in the mapping raises the KeyError of the mapping."""
    raw = Frame(chatItem=ChatItem(chatId=1, authorId=2)).SerializeToString()
    with pytest.raises(KeyError):
        core.renumber.renumber(raw, PLAN, {}, {1: 1}, {})


def items(core: Core, data: bytes) -> Iterator[tuple[int, int, int, int, int, int, bytes]]:
    """Take the messages of a block that must be whole."""
    output, others, _frames, fault, _at = core.renumber.renumber_items(data, CAP, PLAN, Shifted(10), Shifted(20))
    assert not others
    assert not fault
    yield from output


def test_messages_come_with_what_tells_them_apart(core: Core) -> None:
    """Each message has its new chat and author and the times it was sent, first sent and received."""
    raws = sample(400)[1:]
    expected = []
    for index, raw in enumerate(raws):
        item = Frame.FromString(raw).chatItem
        if Frame.FromString(raw).HasField("chatItem"):
            first = min(version.dateSent for version in (item, *item.revisions))
            received = item.incoming.dateReceived or item.outgoing.dateReceived
            expected.append((index, item.chatId + 20, item.authorId + 10, item.dateSent, first, received))
    assert [entry[:6] for entry in items(core, stream_of(raws))] == expected


def test_the_chat_of_a_revision_is_that_of_its_message(core: Core) -> None:
    """A revision gets the chat of its message, and its own chat id is ignored."""
    item = ChatItem(chatId=1, authorId=2, revisions=[ChatItem(chatId=99, authorId=2)])
    raw = Frame(chatItem=item).SerializeToString()
    copy = Frame.FromString(core.renumber.renumber(raw, PLAN, {2: 5}, {1: 4}, {})).chatItem
    assert (copy.chatId, copy.revisions[0].chatId) == (4, 4)


def test_frames_with_anything_but_one_record_are_left_to_others(core: Core) -> None:
    """Empty frames, frames with two records and frames with unknown fields are returned as others."""
    item = Frame(chatItem=ChatItem(chatId=1, authorId=2)).SerializeToString()
    frames = [item, b"", item + item, item + b"\x9a\x06\x01x", b"\x9a\x06\x01x", item]
    output, others, count, fault, _at = core.renumber.renumber_items(
        b"".join(map(record, frames)), CAP, PLAN, {2: 2}, {1: 1}
    )
    assert ([entry[0] for entry in output], others, count, fault) == ([0, 5], [1, 2, 3, 4], 6, 0)


def test_damage_is_found_and_named(core: Core) -> None:
    """Every truncated frame is a DamagedRecord."""
    raw = next(raw for raw in sample(400) if b"image/" in raw and raw.startswith(b"\x22"))
    for end in range(1, len(raw)):
        with pytest.raises(DamagedRecord):
            core.renumber.renumber(raw[:end], PLAN, Shifted(1), Shifted(1), Shifted(1))
