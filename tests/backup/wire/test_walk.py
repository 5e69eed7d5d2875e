"""The walk accepts what protobuf accepts, detects canonical encodings, and counts fields."""

import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from google.protobuf.message import DecodeError

from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import faults, tables
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, fixed32, fixed64, group, nested_items, number, tag, varint
from tests.backup.wire.random_frames import random_frames, random_header

CAP = 1 << 28
NINE = b"\xff" * 9

# A chat frame is a place for any of its fields: id 1, archived 3, pinnedOrder 4, style 9.
REFUSED = {
    "field number 0": (number(0, 1), faults.BAD_TAG),
    "a tag of six bytes": (varint(8, size=6) + b"\x01", faults.BAD_TAG),
    "a tag over 32 bits": (varint(1 << 32 | 8) + b"\x01", faults.BAD_TAG),
    "a tag that is cut off": (b"\x88", faults.CUT),
    "a number that is cut off": (b"\x08\x80", faults.CUT),
    "a number of eleven bytes": (b"\x08" + b"\x80" * 10 + b"\x00", faults.LONG_VARINT),
    "a number that never ends": (b"\x08" + b"\xff" * 50, faults.LONG_VARINT),
    "a length beyond the end": (b"\x4a\x01", faults.CUT),
    "a length of six bytes": (tag(9, 2) + varint(0, size=6), faults.TOO_LONG),
    "a length of 2^31": (tag(9, 2) + varint(1 << 31), faults.TOO_LONG),
    "a length of 2^31 - 1": (tag(9, 2) + varint((1 << 31) - 1), faults.CUT),
    "four bytes that are three": (tag(99, 5) + b"abc", faults.CUT),
    "eight bytes that are seven": (tag(99, 1) + b"abcdefg", faults.CUT),
    "wire type 6": (tag(1, 6), faults.BAD_WIRE_TYPE),
    "wire type 7": (tag(1, 7), faults.BAD_WIRE_TYPE),
    "wire type 7 in an unknown field": (varint((1 << 31) - 1), faults.BAD_WIRE_TYPE),
    "wire type 6 in a group": (group(99, tag(1, 6)), faults.BAD_WIRE_TYPE),
    "the end of no group": (tag(99, 4), faults.BAD_GROUP),
    "the end of another group": (tag(99, 3) + tag(98, 4), faults.BAD_GROUP),
    "a group without end": (tag(99, 3) + number(1, 1), faults.CUT),
}


def chat(body: bytes) -> bytes:
    """Write a frame that holds a chat."""
    return delimited(3, body)


def accepted(raw: bytes) -> bool:
    """Return whether protobuf parses a frame."""
    try:
        Frame.FromString(raw)
    except DecodeError:
        return False
    return True


@pytest.mark.parametrize("name", REFUSED)
def test_malformed_fields_are_refused(core: Core, name: str) -> None:
    """Malformed fields have the right fault at any depth, and protobuf refuses them too."""
    body, fault = REFUSED[name]
    for raw in (body, chat(body), chat(delimited(9, body)), nested_items(50, body)):
        walk = core.walk.walk_record(raw)
        assert (walk.fault, walk.canonical) == (fault, False)
        assert 0 <= walk.at <= len(raw)
        assert not accepted(raw)


WELL_FORMED = {
    "a tag padded to five bytes": varint(8, size=5) + b"\x01",
    "a length padded to five bytes": tag(9, 2) + varint(0, size=5),
    "bits beyond the 64th": b"\x08" + NINE + b"\x7f",
    "another wire type": fixed32(1, b"abcd") + fixed64(3, b"abcdefgh") + number(9, 1) + delimited(1, b"\xff"),
    "an unknown field of each wire type": number(99, 1)
    + fixed64(99, b"abcdefgh")
    + delimited(99, b"\xff")
    + fixed32(99, b"abcd"),
    "a group": group(99, number(1, 1) + group(98, delimited(97, b"abc"))),
    "a group with a known number": group(9, b""),
    "field number 0 inside a group": group(99, number(0, 1) + group(0, b"")),
    "text that is none inside a group": group(99, delimited(1, b"\xff")),
    "the largest field number": number((1 << 29) - 1, 1),
}


@pytest.mark.parametrize("name", WELL_FORMED)
def test_odd_fields_are_accepted_but_not_canonical(core: Core, name: str) -> None:
    """Noncanonical fields that protobuf reads have no fault, and the record is not canonical."""
    for raw in (chat(WELL_FORMED[name]), chat(delimited(9, WELL_FORMED[name]))):
        assert accepted(raw)
        walk = core.walk.walk_record(raw)
        assert (walk.fault, walk.at, walk.canonical) == (0, len(raw), False)


def test_only_a_message_without_fields_may_hold_field_number_0(core: Core) -> None:
    """Field number 0 is accepted in a message without fields, as by protobuf, and a fault elsewhere."""
    for body in (number(0, 1), fixed32(0, b"abcd"), group(0, b""), varint(0, size=3) + b"\x01"):
        raw = delimited(2, delimited(6, body))
        assert accepted(raw)
        walk = core.walk.walk_record(raw)
        assert (walk.fault, walk.unknown_fields) == (0, 1)
        assert core.walk.walk_record(delimited(2, body)).fault == faults.BAD_TAG


@pytest.mark.parametrize("levels", [1, 2, 50, 99, 100])
def test_nesting_ends_where_protobuf_ends_it(core: Core, levels: int) -> None:
    """A hundred nested messages and groups are accepted together, and one more is a fault."""
    assert core.walk.walk_record(nested_items(levels)).canonical
    groups = b""
    for _ in range(100 - levels):
        groups = group(99, groups)
    deepest = nested_items(levels, groups)
    assert accepted(deepest)
    assert core.walk.walk_record(deepest).fault == 0
    for raw in (nested_items(levels, group(99, groups)), nested_items(101)):
        assert not accepted(raw)
        assert core.walk.walk_record(raw).fault == faults.TOO_DEEP


def text_frame(text: bytes) -> bytes:
    """Write a frame with a text in it."""
    return delimited(8, delimited(1, text))


def test_text_must_be_utf8(core: Core) -> None:
    """The walk and Python agree on every lead byte and its neighbours, at the end of a text and before more."""
    seconds = [0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF]
    for lead in range(0x80, 0x100):
        for tail in ([], *([second] for second in seconds), *([second, 0x80] for second in seconds)):
            for rest in (b"", b"\x80", b"\x80\x80", b"a"):
                text = bytes([lead, *tail]) + rest
                try:
                    text.decode()
                    expected = 0
                except UnicodeDecodeError:
                    expected = faults.BAD_TEXT
                assert core.walk.walk_record(text_frame(text)).fault == expected, text.hex()


def test_the_place_of_bad_text_is_known(core: Core) -> None:
    """The position of invalid text is that of the first byte of the character."""
    walk = core.walk.walk_record(text_frame(b"good \xc3\xa9 \xe2\x82"))
    assert (walk.fault, walk.at) == (faults.BAD_TEXT, 12)


# A gradient lies in account settings, a notification profile and a folder in frames of their own.
def gradient(body: bytes) -> bytes:
    """Write a frame that holds a gradient: angle 1, colors 2, positions 3."""
    return delimited(1, delimited(9, delimited(19, delimited(3, body))))


def profile(body: bytes) -> bytes:
    """Write a frame that holds a notification profile: color 3, allowedMembers 7, scheduleDaysEnabled 11."""
    return delimited(7, body)


def pin(body: bytes) -> bytes:
    """Write a frame that holds the pin of an item: a time 1, and a oneof of 2 and 3."""
    return delimited(4, delimited(21, body))


CANONICAL = {
    "nothing": b"",
    "an empty message": chat(b""),
    "fields in order": chat(number(1, 5) + number(2, 1 << 63) + number(3, 1)),
    "an optional default": chat(number(4, 0)),
    "a oneof's default": pin(number(3, 0)),
    "a number below 0": profile(delimited(11, varint((1 << 64) - 1))),
    "a packed list": profile(delimited(7, varint(0) + varint(300))),
    "a packed list of four bytes": gradient(delimited(2, b"abcd0123")),
    "a list of messages": nested_items(1, delimited(6, b"") + delimited(6, b"")),
    "four bytes": profile(fixed32(3, b"abcd")),
    "an odd NaN": gradient(delimited(3, b"\x01\x00\xc0\x7f")),
}
NOT_CANONICAL = {
    "fields out of order": chat(number(2, 5) + number(1, 5)),
    "a field twice": chat(number(1, 5) + number(1, 5)),
    "a message twice": chat(delimited(9, b"") + delimited(9, b"")),
    "two of a oneof": pin(number(2, 1) + number(3, 1)),
    "a default": chat(number(1, 0)),
    "an empty text": delimited(8, delimited(1, b"")),
    "empty bytes": delimited(8, delimited(9, b"")),
    "four zero bytes": profile(fixed32(3, bytes(4))),
    "a padded number": chat(b"\x08" + varint(5, size=2)),
    "a padded tag": chat(varint(8, size=2) + b"\x05"),
    "a padded length": tag(3, 2) + varint(0, size=2),
    "a padded number in a list": profile(delimited(7, varint(5, size=2))),
    "a number over 32 bits": chat(number(4, 1 << 32 | 1)),
    "a truth of 2": chat(number(3, 2)),
    "an enum over 32 bits": profile(delimited(11, varint(1 << 32 | 1))),
    "an enum below 0 in five bytes": profile(delimited(11, varint((1 << 32) - 1))),
    "a list that is not packed": profile(number(7, 5)),
    "a list of four bytes that is not packed": gradient(fixed32(2, b"abcd")),
    "a list in two parts": profile(delimited(7, b"\x05") + delimited(7, b"\x06")),
    "an empty list": profile(delimited(7, b"")),
    "an unknown field at the end": chat(number(1, 5) + number(99, 1)),
}


@pytest.mark.parametrize("name", CANONICAL)
def test_what_protobuf_writes_is_canonical(core: Core, name: str) -> None:
    """Frames that protobuf writes unchanged are canonical."""
    raw = CANONICAL[name]
    assert Frame.FromString(raw).SerializeToString() == raw
    assert core.walk.walk_record(raw).canonical


@pytest.mark.parametrize("name", NOT_CANONICAL)
def test_what_protobuf_would_write_differently_is_not_canonical(core: Core, name: str) -> None:
    """The bytes are well-formed, but protobuf would write others or does not know what they mean."""
    raw = NOT_CANONICAL[name]
    message = Frame.FromString(raw)
    message.DiscardUnknownFields()
    assert message.SerializeToString() != raw
    walk = core.walk.walk_record(raw)
    assert (walk.fault, walk.canonical) == (0, False)


def test_a_packed_list_of_four_bytes_has_a_whole_number_of_them(core: Core) -> None:
    """A packed list of floats with five bytes is a fault."""
    raw = gradient(delimited(3, b"abcde"))
    assert not accepted(raw)
    assert core.walk.walk_record(raw).fault == faults.BAD_LIST


def test_four_bytes_of_a_known_field_may_be_cut_off(core: Core) -> None:
    """A known fixed32 field with three bytes is a truncated record."""
    assert core.walk.walk_record(profile(tag(3, 5) + b"abc")).fault == faults.CUT


def test_a_packed_number_may_not_reach_beyond_its_list(core: Core) -> None:
    """A number that continues after the end of its packed list is a fault."""
    raw = profile(delimited(7, b"\x01\x81") + b"\x01\x01")
    assert not accepted(raw)
    assert core.walk.walk_record(raw).fault == faults.CUT


def test_fields_are_counted_at_every_depth(core: Core) -> None:
    """A field counts once, whatever it holds; one of a group's is part of the group."""
    walk = core.walk.walk_record(
        chat(number(1, 5) + delimited(9, number(7, 1)) + group(99, number(1, 1) + number(2, 1)))
    )
    assert (walk.fields, walk.unknown_fields, walk.unknown_values) == (5, 1, 0)


def test_unknown_enum_values_are_counted(core: Core) -> None:
    """Unknown enum values are counted, also negative ones in lists, and the frame stays canonical."""
    walk = core.walk.walk_record(profile(delimited(11, varint(3) + varint(8) + varint((1 << 64) - 1))))
    assert (walk.unknown_fields, walk.unknown_values, walk.canonical) == (0, 2, True)


def test_a_header_is_walked_as_a_header(core: Core) -> None:
    """A header is checked by the fields of its own message type."""
    for seed in range(50):
        raw = random_header(random.Random(seed))
        assert core.walk.walk_record(raw, tables.BACKUP_INFO).canonical
    raw = delimited(4, b"\xff")
    assert core.walk.walk_record(raw, tables.BACKUP_INFO).fault == faults.BAD_TEXT
    assert BackupInfo.FromString(number(99, 1)).SerializeToString() == number(99, 1)
    assert core.walk.walk_record(number(99, 1), tables.BACKUP_INFO).unknown_fields == 1


def stream(records: Sequence[bytes]) -> bytes:
    """Put records behind each other."""
    return b"".join(varint(len(record)) + record for record in records)


def test_a_buffer_is_walked_frame_by_frame(core: Core) -> None:
    """The counts of a buffer are the sums of those of its frames."""
    raws = [*random_frames(100, seed=5), *NOT_CANONICAL.values()]
    looks = [core.walk.walk_record(raw) for raw in raws]
    data = b"\x01x" + stream(raws)
    walk = core.walk.walk(data, 2, CAP)
    assert (walk.frames, walk.rest, walk.needed, walk.fault, walk.at) == (len(raws), len(data), 0, 0, len(data))
    assert walk.fields == sum(frame_walk.fields for frame_walk in looks)
    assert walk.unknown_fields == sum(frame_walk.unknown_fields for frame_walk in looks)
    assert walk.unknown_values == sum(frame_walk.unknown_values for frame_walk in looks)
    assert walk.canonical == sum(frame_walk.canonical for frame_walk in looks) >= 90


def test_a_padded_length_prefix_says_nothing_about_the_frame(core: Core) -> None:
    """Canonical is a property of the record, not of how the stream frames it."""
    assert core.walk.walk(varint(0, size=3) + stream([chat(b"")]), 0, CAP).canonical == 2


def test_the_walk_of_a_buffer_stops_at_a_fault(core: Core) -> None:
    """The walk stops at a fault with the number of frames before it and its position."""
    data = stream([chat(b""), chat(b"\x08"), chat(b"")])
    walk = core.walk.walk(data, 0, CAP)
    assert (walk.frames, walk.rest, walk.fault, walk.at) == (1, 3, faults.CUT, 7)


@pytest.mark.parametrize("cut", range(1, 6))
def test_the_walk_of_a_buffer_leaves_what_is_not_whole(core: Core, cut: int) -> None:
    """An incomplete record at the end is no fault, and the number of needed bytes is returned."""
    data = stream([chat(b""), chat(number(1, 300))])
    walk = core.walk.walk(data[:-cut], 0, CAP)
    assert (walk.frames, walk.rest, walk.needed, walk.fault) == (1, 3, len(data), 0)
    assert core.walk.walk(data[:3], 0, CAP).frames == 1


def test_a_memory_view_will_do(core: Core) -> None:
    """A memoryview is accepted as buffer."""
    data = stream([chat(b""), chat(number(1, 300))])
    assert core.walk.walk(memoryview(data)[3:], 0, CAP).frames == 1


def test_threads_walk_side_by_side(core: Core) -> None:
    """Walks in four threads give the same result as one alone."""
    data = stream(random_frames(300, seed=7))
    alone = core.walk.walk(data, 0, CAP)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: core.walk.walk(data, 0, CAP), range(8))) == [alone] * 8
