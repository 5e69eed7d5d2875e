"""A record that cannot be parsed is replaced by one with the same fault and none of its content."""

import random

import pytest

from holdfast.backup.redaction.broken import broken_like
from holdfast.backup.wire import faults
from holdfast.backup.wire.walk import walk_record
from tests.backup.streams import sample
from tests.backup.wire.encoding import delimited, nested_items, varint
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frames

SHORTEST = {
    faults.CUT: [b"\x08", b"\x0a\x05", delimited(4, b"\x12\x40secret")],
    faults.LONG_VARINT: [b"\x08" + b"\xff" * 11, b"\xff" * 11],
    faults.TOO_LONG: [b"\x0a\xff\xff\xff\xff\x7f"],
    faults.BAD_TAG: [b"\0", b"\x01\x01"],
    faults.BAD_WIRE_TYPE: [b"\x0e", b"\x0f"],
    faults.BAD_GROUP: [b"\x0c", b"\x0b\x14"],
    faults.TOO_DEEP: [nested_items(102)],
    faults.BAD_TEXT: [
        delimited(1, delimited(4, b"\xff")),
        delimited(2, delimited(2, delimited(3, b"\xff"))),
        delimited(3, delimited(9, delimited(2, delimited(4, b"\xff")))),
        delimited(4, delimited(20, delimited(1, b"\xff"))),
        delimited(7, delimited(1, b"\xff")),
        delimited(8, delimited(1, b"\xff")),
    ],
    faults.BAD_LIST: [
        delimited(1, delimited(9, delimited(19, delimited(3, delimited(2, b"\0"))))),
    ],
}


@pytest.mark.parametrize("fault", sorted(faults.FAULTS))
def test_every_fault_has_a_copy_even_where_it_is_shortest(fault: int) -> None:
    """For the shortest records with a fault, the copy has the same length and the same fault."""
    for raw in SHORTEST[fault]:
        assert walk_record(raw).fault == fault
        new = broken_like(raw, fault)
        assert len(new) == len(raw)
        assert walk_record(new).fault == fault


def test_the_kind_of_record_stays_where_text_is_damaged() -> None:
    """The copy of a record with invalid text keeps the tag of its kind."""
    for raw in SHORTEST[faults.BAD_TEXT]:
        assert broken_like(raw, faults.BAD_TEXT)[0] == raw[0]


def test_random_damage_has_a_copy() -> None:
    """The copy of a randomly damaged record has the same length and the same fault."""
    rng = random.Random(5)
    pool = [*random_frames(50, 5), *sample()[1:]]
    outcomes = set()
    for _ in range(3000):
        raw = mutate(rng, rng.choice(pool))
        fault = walk_record(raw).fault
        if fault:
            outcomes.add(fault)
            new = broken_like(raw, fault)
            assert (len(new), walk_record(new).fault) == (len(raw), fault)
    assert len(outcomes) >= 6


def test_no_more_is_kept_than_the_kind_of_record() -> None:
    """The copy of a damaged record has neither text of the original nor bytes that look like its tags."""
    raw = delimited(4, b"this was a message once" * 20) + varint(0)
    new = broken_like(raw, walk_record(raw).fault)
    assert len(set(new)) < 8
    assert b"message" not in new
