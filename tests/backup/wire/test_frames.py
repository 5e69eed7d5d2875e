"""The core splits and walks records, and refuses what protobuf refuses."""

from array import array
from types import ModuleType

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.schema import Frame
from holdfast.backup.wire import COMPILED

CAP = 1 << 20


def varint(value: int) -> bytes:
    """Write a number as protobuf does."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def record(raw: bytes) -> bytes:
    """Prefix a record with its length."""
    return varint(len(raw)) + raw


def test_the_core_is_compiled_where_it_can_be(compiler: str) -> None:
    """A build that failed silently would run forty times slower; with a compiler there, that is a failure."""
    assert COMPILED, f"there is a compiler ({compiler}), but the interpreted core is running"


def test_the_interpreted_core_says_so(core: ModuleType) -> None:
    """The flag tells the two apart."""
    assert core.COMPILED is (COMPILED and not core.__name__.startswith("interpreted"))


@given(records=st.lists(st.binary(max_size=300), max_size=20), cut=st.integers(0, 400))
def test_split_finds_every_whole_record_and_where_the_next_begins(
    core: ModuleType, records: list[bytes], cut: int
) -> None:
    """Whatever is cut off the end, the whole records before it are found, and nothing else."""
    data = b"".join(map(record, records))
    data = data[: max(0, len(data) - cut)]
    spans, rest, needed, fault = core.split(data, 0, CAP)
    found = [data[begin:end] for begin, end in spans]
    assert found == records[: len(found)]
    assert sum(len(record(raw)) for raw in found) == rest
    assert fault == 0
    assert needed == 0 or needed > len(data)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (varint(CAP + 1), "longer than is allowed"),
        (varint(1 << 31), "longer than is allowed"),
        (varint(1 << 63), "longer than is allowed"),
        (b"\x80" * 10 + b"\x00", "does not end"),
        (b"\xff" * 11, "does not end"),
    ],
)
def test_a_length_that_cannot_be_is_refused_before_anything_is_read(
    core: ModuleType, data: bytes, fault: str
) -> None:
    """A claimed length is compared with the cap, never allocated."""
    spans, rest, needed, code = core.split(data, 0, CAP)
    assert (spans, rest, needed) == ([], 0, 0)
    assert fault in core.FAULTS[code]


def test_a_length_may_be_written_longer_than_needed(core: ModuleType) -> None:
    """Padding a varint with empty groups is legal."""
    assert core.split(b"\x83\x80\x00abc", 0, CAP) == ([(3, 6)], 6, 0, 0)


@pytest.mark.parametrize("number", range(1, 9))
def test_a_frame_is_known_by_the_record_it_holds(core: ModuleType, number: int) -> None:
    """The field number of the oneof member is the kind."""
    assert core.kind_of(varint(number << 3 | 2) + b"\x00") == (number, 0, 2)


def test_the_last_record_of_a_frame_wins(core: ModuleType) -> None:
    """Two members of one oneof: the later one counts, as in protobuf."""
    assert core.kind_of(b"\x0a\x00\x12\x00")[0] == 2


@pytest.mark.parametrize("raw", [b"", b"\x4a\x00", b"\x08\x01", b"\x0b\x0c", b"\x53\x08\x01\x54"])
def test_a_frame_without_a_record_is_kind_zero(core: ModuleType, raw: bytes) -> None:
    """Nothing, an unknown field, a known number with another wire type and groups are all no record."""
    assert core.kind_of(raw) == (0, 0, len(raw))
    assert Frame.FromString(raw).WhichOneof("item") is None


def nested_groups(depth: int) -> bytes:
    """Write groups inside each other."""
    return b"\x53" * depth + b"\x54" * depth


@pytest.mark.parametrize(
    "raw",
    [
        b"\x00\x00",  # field number 0
        b"\x0a",  # a length that is missing
        b"\x0a\x05abc",  # a body that is cut off
        b"\x0a\xff\xff\xff\xff\x0f",  # a length over 31 bits
        b"\x0e\x00",  # wire type 6
        b"\x0f\x00",  # wire type 7
        b"\x0c",  # the end of a group that never began
        b"\x53\x5c",  # a group closed with another number
        b"\x53",  # a group that never ends
        b"\x4d\x00\x00",  # a fixed32 that is cut off
        b"\x49\x00",  # a fixed64 that is cut off
        b"\x48" + b"\x80" * 10 + b"\x01",  # a varint that does not end
        b"\xff\xff\xff\xff\x7f\x00",  # a tag over 32 bits
        nested_groups(10_000),
    ],
)
def test_what_protobuf_refuses_is_refused(core: ModuleType, raw: bytes) -> None:
    """The core and protobuf agree on what is no frame, and the core says what is wrong."""
    with pytest.raises(DecodeError):
        Frame.FromString(raw)
    _kind, fault, at = core.kind_of(raw)
    assert core.FAULTS[fault]
    assert 0 <= at <= len(raw)


@given(records=st.lists(st.integers(0, 8), max_size=40), cut=st.integers(0, 3))
def test_tally_counts_what_kind_of_says(core: ModuleType, records: list[int], cut: int) -> None:
    """Counting a buffer in one go gives the same as looking at each frame."""
    data = b"".join(record(varint(kind << 3 | 2) + b"\x00" if kind else b"") for kind in records)
    data = data[: len(data) - cut] if cut < len(data) else data
    counts = array("Q", bytes(72))
    whole, rest, _needed, fault, _at = core.tally(data, 0, CAP, counts)
    spans, expected_rest, *_ = core.split(data, 0, CAP)
    kinds = [core.kind_of(data[begin:end])[0] for begin, end in spans]
    assert [kinds.count(kind) for kind in range(9)] == list(counts)
    assert (len(spans), expected_rest, 0) == (whole, rest, fault)


@given(st.binary(max_size=400))
def test_no_bytes_make_the_core_fail(core: ModuleType, data: bytes) -> None:
    """Any bytes give an answer that lies inside the buffer."""
    counts = array("Q", bytes(72))
    _whole, rest, _needed, fault, at = core.tally(data, 0, CAP, counts)
    assert 0 <= rest <= len(data)
    assert 0 <= at <= len(data)
    assert fault == 0 or core.FAULTS[fault]


def test_a_cursor_outside_its_buffer_is_refused(core: ModuleType) -> None:
    """A wrong start is a mistake of the caller, not a read beyond the end."""
    with pytest.raises(IndexError):
        core.split(b"abc", 4, CAP)
