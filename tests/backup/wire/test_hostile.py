"""The core handles any bytes: no crash, no hang, no memory allocated for claimed lengths."""

import random
import tracemalloc
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.wire import faults
from tests.backup.wire.core import Core
from tests.backup.wire.differential import Score, check
from tests.backup.wire.encoding import delimited, nested_items, number, tag, varint
from tests.backup.wire.random_frames import random_frames
from tests.examples import examples

CAP = 1 << 28

# A frame with something of everything: lists, text, bytes, floats, an unknown field and a group.
RICH = (
    delimited(1, delimited(9, delimited(19, delimited(3, delimited(2, b"abcd") + delimited(3, b"\0\0\x80?")))))
    + nested_items(
        3, number(3, 1_700_000_000_000) + delimited(11, delimited(2, delimited(1, "Grüße 😀".encode())))
    )
    + delimited(7, delimited(7, varint(300) + varint(1)) + delimited(12, bytes(16)))
    + tag(99, 3)
    + number(1, 5)
    + tag(99, 4)
)


@settings(max_examples=examples(500))
@given(raw=st.binary(max_size=200))
@example(raw=b"")
def test_any_bytes_are_judged_as_protobuf_judges_them(core: Core, raw: bytes) -> None:
    """Core and protobuf agree on random bytes."""
    check(core, raw, Score())


def test_a_frame_may_be_cut_anywhere(core: Core) -> None:
    """Core and protobuf agree on every truncated frame."""
    for raw in (RICH, *random_frames(20, seed=37)):
        for end in range(len(raw) + 1):
            check(core, raw[:end], Score())


def test_any_bit_may_be_flipped(core: Core) -> None:
    """Core and protobuf agree on a frame with any flipped bit."""
    for offset in range(len(RICH)):
        for bit in range(8):
            damaged = bytearray(RICH)
            damaged[offset] ^= 1 << bit
            check(core, bytes(damaged), Score())


@pytest.mark.parametrize("levels", [101, 200, 10_000])
def test_deep_messages_end_at_the_limit(core: Core, levels: int) -> None:
    """Deeply nested messages are a fault, and an error of `frame_to_json` and `unknown_in`."""
    raw = nested_items(levels)
    assert core.walk.walk_record(raw).fault == faults.TOO_DEEP
    with pytest.raises(DamagedRecord, match="nested too deep"):
        core.tojson.frame_to_json(raw)
    with pytest.raises(DamagedRecord, match="nested too deep"):
        core.unknown.unknown_in(raw)


@pytest.mark.parametrize("closed", [True, False])
def test_deep_groups_end_at_the_limit(core: Core, closed: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Deeply nested groups are a fault, closed or not, inside a record or at its top."""
    groups = tag(99, 3) * 10_000 + (tag(99, 4) * 10_000 if closed else b"")
    for raw in (groups, delimited(4, groups)):
        assert core.walk.walk_record(raw).fault == faults.TOO_DEEP
        assert core.frames.kind_of(groups)[1] == faults.TOO_DEEP


def test_numbers_that_never_end_are_left_after_ten_bytes(core: Core) -> None:
    """A varint over ten bytes is a fault as a tag, a length, a value and the length of a record."""
    endless = b"\xff" * 100_000
    for raw in (endless, tag(4, 2) + endless, tag(99, 0) + endless, delimited(7, delimited(7, endless))):
        walk = core.walk.walk_record(raw)
        assert walk.fault == faults.LONG_VARINT
        assert walk.at < 30
    assert core.walk.walk(endless, 0, CAP).fault == faults.LONG_VARINT
    assert core.tojson.to_json_lines(endless, 0, CAP).fault == faults.LONG_VARINT


CLAIMS = [
    varint((1 << 31) - 1),
    varint(1 << 31),
    varint((1 << 32) - 1),
    varint((1 << 63) - 1),
    varint((1 << 64) - 1),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.hex() for claim in CLAIMS])
def test_lengths_that_are_only_claimed_cost_no_memory(core: Core, claim: bytes) -> None:
    """A length of up to two gigabytes is refused without allocating memory."""
    record, field, deep = claim, tag(4, 2) + claim, delimited(7, tag(7, 2) + claim + b"abc")
    calls: list[Callable[[], object]] = [
        partial(core.frames.split, record, 0, CAP),
        partial(core.walk.walk, record, 0, CAP),
        partial(core.tojson.to_json_lines, record, 0, CAP),
        partial(core.walk.walk_record, field),
        partial(core.walk.walk_record, deep),
        partial(core.frames.kind_of, field),
        partial(core.tojson.to_json_lines, varint(len(deep)) + deep, 0, CAP),
    ]
    for call in calls:
        call()
    tracemalloc.start()
    try:
        for call in calls:
            call()
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert core.walk.walk_record(field).fault in (faults.TOO_LONG, faults.CUT)
    assert core.walk.walk_record(deep).fault in (faults.TOO_LONG, faults.CUT)


def test_memory_is_bounded_by_a_multiple_of_the_input(core: Core) -> None:
    """The JSON of a frame with short fields and long names stays below a multiple of its size."""
    raw = delimited(4, delimited(15, delimited(2, delimited(1, delimited(7, b"")) * 5_000)))
    tracemalloc.start()
    try:
        text = core.tojson.frame_to_json(raw)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(text) < 20 * len(raw)
    assert peak < 100 * len(raw)


def test_a_stream_of_empty_records_is_walked(core: Core) -> None:
    """Records of length 0 are counted as empty frames."""
    walk = core.walk.walk(bytes(10_000), 0, CAP)
    assert (walk.frames, walk.canonical, walk.fields) == (10_000, 10_000, 0)
    assert core.tojson.to_json_lines(bytes(3), 0, CAP).text == b"{}\n{}\n{}\n"


def test_random_bytes_as_a_stream_end_somewhere(core: Core) -> None:
    """`walk` and `to_json_lines` stop at the same record of random bytes, with the same fault."""
    rng = random.Random(41)
    for _ in range(300):
        data = rng.randbytes(rng.randrange(60))
        walk = core.walk.walk(data, 0, CAP)
        lines = core.tojson.to_json_lines(data, 0, CAP)
        assert (walk.frames, walk.rest, walk.needed, walk.fault, walk.at) == lines[1:]
        assert lines.text.count(b"\n") == lines.frames
        spans, rest, _, _ = core.frames.split(data, 0, CAP)
        assert walk.frames <= len(spans)
        assert walk.rest <= rest
