"""Selected fields are collected at any depth, with the values that protobuf reads."""

import random
from collections import Counter
from collections.abc import Iterator

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.media import PICKED as OF_MEDIA
from holdfast.backup.order import PICKED as OF_ORDER
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema import Frame as FrameMessage
from holdfast.backup.summary import PICKED as OF_INFO
from holdfast.backup.wire import tables, walk
from holdfast.backup.wire.collect import Selection
from holdfast.backup.wire.varint import encode_varint
from tests.backup.streams import record, sample
from tests.backup.wire.core import Core

CAP = (1 << 32) - 1


def expected(message: Message, slots: dict[int, str], depth: int = 0) -> Iterator[tuple[int, int, object]]:
    """Pick fields out of a message object: slot, depth, and the number or the bytes."""
    names = {name: slot for slot, name in slots.items()}
    for descriptor, content in message.ListFields():
        parent = descriptor.containing_type
        assert parent is not None
        name = f"{parent.full_name.removeprefix('holdfast.backup.')}.{descriptor.name}"
        for value in content if descriptor.is_repeated else (content,):
            if name in names:
                yield names[name], depth, plain(value)
            if isinstance(value, Message):
                yield from expected(value, slots, depth + 1)


def plain(value: object) -> object:
    """Make a value comparable: messages and texts by their bytes, numbers by themselves."""
    if isinstance(value, Message):
        return value.SerializeToString()
    if isinstance(value, str):
        return value.encode()
    return int(value) if isinstance(value, int) else value


def found_in(core: Core, raw: bytes, selection: Selection) -> Counter[tuple[int, int, object]]:
    """Collect from one record, with bytes in place of spans."""
    return Counter(
        (slot, depth, start if end == -1 else raw[start:end])
        for slot, depth, start, end in core.collect.collect(raw, selection)
    )


def by_slot(selection: Selection) -> dict[int, str]:
    """Invert the names of a selection."""
    return {slot: name for name, slot in selection.slots.items()}


@pytest.mark.parametrize("selection", [OF_INFO, OF_MEDIA, OF_ORDER], ids=["info", "media", "order"])
def test_what_protobuf_finds_in_a_sample_is_found(core: Core, selection: Selection) -> None:
    """Every selection that the program uses finds in every kind of record what protobuf finds."""
    chosen = core.collect.Selection(selection.slots)
    for raw in sample(450)[1:]:
        message = FrameMessage.FromString(raw)
        assert Counter(expected(message, by_slot(selection))) == found_in(core, raw, chosen)


def test_a_block_gives_what_its_frames_give(core: Core) -> None:
    """A block gives the values of its frames, with positions from the start of the block."""
    raws = sample(60)[1:]
    data = b"".join(map(record, raws))
    chosen = core.collect.Selection(OF_ORDER.slots)
    collected, frames, fault, offset = core.collect.collect_block(data, CAP, chosen)
    items = [item for raw in raws for item in found_in(core, raw, chosen).elements()]
    together = [(slot, depth, start if end == -1 else data[start:end]) for slot, depth, start, end in collected]
    assert Counter(items) == Counter(together)
    assert (frames, fault, offset) == (len(raws), 0, len(data))


def test_a_block_says_which_frame_is_broken(core: Core) -> None:
    """The number of frames before a broken one and a position inside it are returned."""
    data = record(b"\x0a\x00") * 2 + record(b"\x22\x05abc") + record(b"\x0a\x00")
    chosen = core.collect.Selection(["Frame.chatItem"])
    _found, frames, fault, offset = core.collect.collect_block(data, CAP, chosen)
    assert (frames, fault != 0) == (2, True)
    assert 6 <= offset <= 12


def test_unpacked_and_packed_numbers_are_the_same(core: Core) -> None:
    """Packed and unpacked lists of numbers give the same values."""
    chosen = core.collect.Selection(["DistributionList.memberRecipientIds"])
    numbers = FrameMessage()
    numbers.recipient.distributionList.distributionList.memberRecipientIds.extend([1, 300, 7])
    packed = numbers.SerializeToString()
    field = next(iter(chosen.slots))
    number = tables.FIELDS[chosen.slots[field]].number
    inner = b"".join(encode_varint(number << 3) + encode_varint(value) for value in (1, 300, 7))
    unpacked = wrapped(FrameMessage.DESCRIPTOR, ("recipient", "distributionList", "distributionList"), inner)
    assert FrameMessage.FromString(unpacked) == FrameMessage.FromString(packed)
    assert found_in(core, packed, chosen) == found_in(core, unpacked, chosen)
    assert [value for _slot, _depth, value, _end in core.collect.collect(unpacked, chosen)] == [1, 300, 7]


def wrapped(message: Descriptor, path: tuple[str, ...], body: bytes) -> bytes:
    """Wrap bytes in the messages of a path."""
    if not path:
        return body
    field: FieldDescriptor = message.fields_by_name[path[0]]
    assert field.message_type is not None
    return encode_varint(field.number << 3 | 2) + record(wrapped(field.message_type, path[1:], body))


def test_a_header_can_be_searched_too(core: Core) -> None:
    """Fields of a header are found if its message is given as the root."""
    raw = BackupInfo(version=3, currentAppVersion="x").SerializeToString()
    chosen = core.collect.Selection(["BackupInfo.version", "BackupInfo.currentAppVersion"])
    collected = core.collect.collect(raw, chosen, tables.BACKUP_INFO)
    assert [(raw[start:end] if end >= 0 else start) for _slot, _depth, start, end in collected] == [3, b"x"]


def test_a_name_the_schema_does_not_have_is_refused(core: Core) -> None:
    """An unknown field name is a KeyError."""
    with pytest.raises(KeyError, match=r"no field ChatItem\.chatID"):
        core.collect.Selection(["ChatItem.chatID"])


@pytest.mark.parametrize("levels", [99, 100, 101, 10_000])
def test_nesting_is_bounded(core: Core, levels: int) -> None:
    """Nested revisions are refused at the same depth as by protobuf."""
    raw = b""
    for _ in range(levels):
        raw = b"\x32" + record(raw)
    raw = b"\x22" + record(raw)
    chosen = core.collect.Selection(["ChatItem.chatId"])
    try:
        FrameMessage.FromString(raw)
    except DecodeError:
        with pytest.raises(DamagedRecord, match="nested too deep"):
            core.collect.collect(raw, chosen)
    else:
        assert core.collect.collect(raw, chosen) == []


def test_no_damage_brings_out_anything_but_an_error_in_words(core: Core) -> None:
    """A mutated frame that protobuf reads gives the same values, and any other is a DamagedRecord at most.

    Only canonical frames are compared, since protobuf merges duplicate fields and a collector lists both.
    """
    rng = random.Random(5)
    raws = sample(450)[1:]
    chosen = core.collect.Selection(OF_ORDER.slots)
    compared = 0
    for _ in range(3000):
        raw = mutated(rng, rng.choice(raws))
        try:
            message = FrameMessage.FromString(raw)
        except DecodeError:
            message = None
        try:
            collected = found_in(core, raw, chosen)
        except DamagedRecord:
            assert message is None
            continue
        if message is not None and walk.walk_record(raw).canonical:
            compared += 1
            assert Counter(expected(message, by_slot(OF_ORDER))) == collected
    assert compared > 50


def mutated(rng: random.Random, raw: bytes) -> bytes:
    """Change a few bytes."""
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 2, 3))):
        offset = rng.randrange(len(data) + 1)
        match rng.randrange(4):
            case 0 if offset < len(data):
                data[offset] ^= 1 << rng.randrange(8)
            case 1:
                del data[offset : offset + rng.randrange(1, 4)]
            case 2:
                data[offset:offset] = rng.randbytes(rng.randrange(1, 4))
            case _:
                del data[offset:]
    return bytes(data)
