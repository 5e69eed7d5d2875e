"""Of duplicate fields the last value counts, as in protobuf."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import tables
from holdfast.backup.wire.duplicate_fields import keep_last_fields
from tests.backup.streams import sample
from tests.backup.wire.encoding import delimited, group, number
from tests.backup.wire.mutations import mutate


def test_the_second_message_stands_alone() -> None:
    """Nothing of the first of two messages is kept at any depth, although protobuf would merge them."""
    first, second = delimited(2, number(1, 7) + delimited(5, b"")), delimited(2, number(1, 8))
    assert Frame.FromString(first + second).recipient.HasField("self")
    assert keep_last_fields(first + second) == second
    inner = delimited(2, delimited(2, delimited(1, b"a")) + delimited(2, delimited(2, b"b")))
    assert Frame.FromString(keep_last_fields(inner)).recipient.contact.aci == b""


def test_the_last_member_of_a_oneof_counts() -> None:
    """Of two members of a oneof, only the last is kept."""
    assert keep_last_fields(delimited(2, b"") + delimited(4, b"")) == delimited(4, b"")


def test_lists_and_what_is_unknown_stay() -> None:
    """Lists and unknown fields keep all of their elements in order."""
    members = delimited(3, delimited(5, delimited(7, b"") + delimited(7, b"\x10\x01")))
    frame = delimited(2, members)
    assert keep_last_fields(frame) == frame
    unknown = number(99, 1) + number(99, 2) + group(98, number(1, 1) + delimited(2, b"x") + group(3, b""))
    assert keep_last_fields(unknown) == unknown
    mismatched = number(2, 1) + number(2, 2)
    assert keep_last_fields(mismatched) == mismatched


def test_a_header_is_read_so_too() -> None:
    """Of a duplicate field in a header the last one is kept."""
    raw = number(1, 1) + number(1, 2)
    assert BackupInfo.FromString(keep_last_fields(raw, tables.BACKUP_INFO)).version == 2
    assert keep_last_fields(raw, tables.BACKUP_INFO) == number(1, 2)


@settings(max_examples=100)
@given(seed=st.integers(0, 1 << 32))
def test_what_is_written_once_stays_as_it_is(seed: int) -> None:
    """Frames without duplicates stay unchanged, and protobuf can read the result of all others."""
    rng = random.Random(seed)
    raw = rng.choice(sample()[1:])
    assert keep_last_fields(raw) == raw
    changed = mutate(rng, raw)
    try:
        Frame.FromString(changed)
    except Exception:  # noqa: BLE001  # it is not about those
        return
    once = keep_last_fields(changed)
    Frame.FromString(once)
    assert keep_last_fields(once) == once
