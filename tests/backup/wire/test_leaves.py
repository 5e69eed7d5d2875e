"""Offsets of values equal those of protobuf, and overwriting a value changes nothing else."""

import random
from collections import Counter

from google.protobuf.message import Message

from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema import Frame as FrameMessage
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import slot_of
from tests.backup.streams import record, sample
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, group, number
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frames, random_header

ALL = bytes(
    slot != 0 and tables.SHAPES[slot] & tables.KIND in {tables.STRING, tables.BYTES}
    for slot in range(tables.SLOTS)
)


def values_of(message: Message) -> Counter[bytes]:
    """Count the strings and bytes of a message that protobuf lists as set."""
    values: Counter[bytes] = Counter()
    for field, content in message.ListFields():
        for value in content if field.is_repeated else (content,):
            if isinstance(value, Message):
                values += values_of(value)
            elif isinstance(value, str | bytes):
                values[value.encode() if isinstance(value, str) else value] += 1
    return values


def test_every_text_and_all_bytes_are_found(core: Core) -> None:
    """All strings and bytes that protobuf reads in random frames and headers are found."""
    rng = random.Random(1)
    for raw in [*random_frames(200, 1), *sample()[1:]]:
        leaves = core.leaves.leaves_of(raw, ALL)
        assert Counter(raw[begin:end] for _slot, begin, end in leaves) == values_of(FrameMessage.FromString(raw))
    for _ in range(20):
        raw = random_header(rng)
        leaves = core.leaves.leaves_of(raw, ALL, tables.BACKUP_INFO)
        assert Counter(raw[begin:end] for _slot, begin, end in leaves) == values_of(BackupInfo.FromString(raw))


def test_a_block_gives_what_its_frames_give(core: Core) -> None:
    """Positions count from the start of the block, and only records between start and stop are searched."""
    frames = random_frames(50, 2)
    parts = [record(raw) for raw in frames]
    data = b"".join(parts)
    expected = []
    offset = 0
    for raw, part in zip(frames, parts, strict=True):
        body = offset + len(part) - len(raw)
        expected += [(slot, body + begin, body + end) for slot, begin, end in core.leaves.leaves_of(raw, ALL)]
        offset += len(part)
    assert core.leaves.leaves(data, 0, len(data), ALL) == expected
    start, stop = len(parts[0]), len(data) - len(parts[-1])
    assert core.leaves.leaves(data, start, stop, ALL) == [
        leaf for leaf in expected if start <= leaf[1] and leaf[2] <= stop and leaf[1] > start
    ]


def test_numbers_are_found_by_the_bytes_they_take(core: Core) -> None:
    """A selected number is found with the span of its varint."""
    slot = slot_of("Recipient.id")
    chosen = bytes(index == slot for index in range(tables.SLOTS))
    raw = delimited(2, number(1, 300) + delimited(2, number(4, 300)))
    assert core.leaves.leaves_of(raw, chosen) == [(slot, 3, 5)]


def test_unknown_fields_are_found_whole(core: Core) -> None:
    """Unknown fields are found whole, also groups and fields of another wire type."""
    nothing = bytes(tables.SLOTS)
    unknown = (number(77, 5), group(8, number(1, 1)), delimited(99, b"abc"))
    raw = b"".join(unknown) + delimited(1, number(4, 3) + delimited(4, b"Jo"))
    assert [raw[begin:end] for slot, begin, end in core.leaves.leaves_of(raw, nothing) if slot == 0] == [
        *unknown,
        number(4, 3),
    ]


def test_odd_frames_are_searched_like_any_other(core: Core) -> None:
    """The leaves of mutated frames are in order, do not overlap, and include all unknown fields."""
    rng = random.Random(3)
    pool = random_frames(50, 3)
    for _ in range(500):
        raw = mutate(rng, rng.choice(pool))
        if core.walk.walk_record(raw).fault:
            continue
        leaves = core.leaves.leaves_of(raw, ALL)
        positions = [position for _slot, begin, end in leaves for position in (begin, end)]
        assert positions == sorted(positions)
        assert sum(slot == 0 for slot, _begin, _end in leaves) == core.walk.walk_record(raw).unknown_fields
