"""Buffers are split into records, and records are classified by kind."""

import pytest

from holdfast.backup.wire import faults
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, group, number, tag, varint
from tests.backup.wire.random_frames import random_frames

CAP = 1 << 28


def stream(*records: bytes) -> bytes:
    """Put records behind each other."""
    return b"".join(varint(len(record)) + record for record in records)


def test_records_are_found_with_their_spans(core: Core) -> None:
    """A span is the body of a record without its length; an empty record is one too."""
    data = stream(b"abc", b"", b"x" * 300)
    assert core.frames.split(data, 0, CAP) == ([(1, 4), (5, 5), (7, 307)], 307, 0, 0)
    assert core.frames.split(b"", 0, CAP) == ([], 0, 0, 0)


def test_splitting_can_start_anywhere(core: Core) -> None:
    """`split` starts at the given offset, and an offset outside of the buffer is an IndexError."""
    assert core.frames.split(stream(b"abc", b"de"), 4, CAP) == ([(5, 7)], 7, 0, 0)
    with pytest.raises(IndexError, match="inside its buffer"):
        core.frames.split(b"abc", 4, CAP)


@pytest.mark.parametrize("cut", range(1, 8))
def test_a_record_that_is_not_whole_is_left(core: Core, cut: int) -> None:
    """An incomplete record is left, and the number of needed bytes is returned."""
    data = stream(b"ab", b"x" * 300)[: 3 + cut]
    spans, rest, needed, fault = core.frames.split(data, 0, CAP)
    assert (spans, rest, fault) == ([(1, 3)], 3, 0)
    assert needed == (0 if cut == 1 else 305)


def test_a_length_over_the_cap_is_a_fault(core: Core) -> None:
    """A length over the limit is a fault, and one at the limit is waited for."""
    data = varint(1 << 31) + b"x"
    assert core.frames.split(data, 0, CAP) == ([], 0, 0, faults.TOO_LONG)
    assert core.frames.split(data, 0, 1 << 31) == ([], 0, 5 + (1 << 31), 0)
    assert core.frames.split(varint((1 << 64) - 1), 0, CAP)[3] == faults.TOO_LONG


def test_a_length_may_be_padded_to_ten_bytes(core: Core) -> None:
    """A length of ten bytes is read, and one of eleven bytes is a fault."""
    assert core.frames.split(varint(1, size=10) + b"x", 0, CAP) == ([(10, 11)], 11, 0, 0)
    assert core.frames.split(varint(1, size=11) + b"x", 0, CAP)[3] == faults.LONG_VARINT


def test_kinds_are_the_numbers_of_records(core: Core) -> None:
    """The kind of a frame is the field number of its record, and 0 without a record."""
    for kind in range(1, 9):
        assert core.frames.kind_of(delimited(kind, b"\x08\x01")) == (kind, 0, 4)
    assert core.frames.kind_of(b"") == (0, 0, 0)
    assert core.frames.kind_of(delimited(9, b"abc") + number(4, 1)) == (0, 0, 7)


def test_malformed_frames_are_of_no_kind(core: Core) -> None:
    """The fault of a malformed frame and its position are returned."""
    assert core.frames.kind_of(number(0, 1))[1:] == (faults.BAD_TAG, 1)
    assert core.frames.kind_of(delimited(4, b"") + b"\x80")[1:] == (faults.CUT, 3)
    assert core.frames.kind_of(delimited(4, b"") + b"\x0f")[1:] == (faults.BAD_WIRE_TYPE, 3)


def test_the_last_record_of_a_frame_counts(core: Core) -> None:
    """Records share a oneof, so the last one counts, also with unknown fields between them."""
    raw = delimited(4, b"x" * 200) + group(99, number(0, 1)) + delimited(2, b"") + number(77, 5)
    assert core.frames.kind_of(raw)[:2] == (2, 0)


def test_measuring_counts_what_splitting_finds(core: Core) -> None:
    """`measure` returns the number of records and the rest that `split` finds, for truncated buffers too."""
    data = stream(*random_frames(50, seed=3))
    for buffer in (data, data[:-1], data + b"\x80", data + varint(CAP + 1), b""):
        spans, *rest = core.frames.split(buffer, 0, CAP)
        count, _messages, *others = core.frames.measure(buffer, 0, CAP)
        assert (count, *others) == (len(spans), *rest)


def test_frames_that_are_a_single_message_are_counted(core: Core) -> None:
    """A frame counts as a message if the message is all of it, whatever the size of its length."""
    messages = [
        delimited(4, b""),
        delimited(4, b"x" * 125),
        delimited(4, b"x" * 126),
        delimited(4, b"x" * 20_000),
        tag(4, 2) + varint(3, size=4) + b"abc",
    ]
    data = stream(*messages)
    assert core.frames.measure(data, 0, CAP) == (5, 5, len(data), 0, 0)
    assert core.frames.measure_plain(data, 0, CAP)[:2] == (5, 5)
    others = [
        b"",
        b"\x22",
        delimited(3, b"abc"),
        number(4, 1),
        delimited(4, b"abc") + b"x",
        delimited(4, b"abc") + delimited(4, b"abc"),
        delimited(4, b"abc")[:-1],
        delimited(4, b"x" * 200)[:-1],
        b"\x22\xff",
        b"\x22\xff\xff\xff\xff\xff\xff",
    ]
    for other in others:
        data = stream(other, *messages)
        assert core.frames.measure(data, 0, CAP) == (6, 5, len(data), 0, 0)
    data = stream(delimited(3, b"abc"), delimited(4, b"abc"), delimited(8, b"x" * 200))
    assert core.frames.measure_plain(data, 0, CAP)[:2] == (3, 1)


def test_plain_records_are_counted_up_to_one_that_is_not(core: Core) -> None:
    """Counting stops at the first record that is not plain, and the position of the last one is returned."""
    plain = stream(delimited(4, b"abc"), delimited(1, b""), delimited(8, b"x" * 200))
    assert core.frames.measure_plain(plain, 0, CAP) == (3, 1, 9, len(plain), 0, 0, 0)
    assert core.frames.measure_plain(plain[:-1], 0, CAP) == (2, 1, 6, 9, len(plain), 0, 0)
    assert core.frames.measure_plain(plain + b"\xff" * 10, 0, CAP) == (
        3,
        1,
        9,
        len(plain),
        0,
        faults.LONG_VARINT,
        0,
    )
    for invalid in (
        b"",
        b"\x22",
        b"\x22\x05a",
        delimited(4, b"a") + b"a",
        delimited(9, b"a"),
        number(4, 1),
        b"\x22\xff",
    ):
        data = plain + stream(invalid, delimited(2, b""))
        end = len(plain) + 1 + len(invalid)
        assert core.frames.measure_plain(data, 0, CAP) == (3, 1, 9, len(plain), 0, 0, end)
        assert core.frames.measure_plain(data, end, CAP) == (1, 0, end, len(data), 0, 0, 0)
