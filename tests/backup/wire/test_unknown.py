"""Unknown fields and enum values, reported with their path."""

import pytest
from google.protobuf.unknown_fields import UnknownFieldSet

from holdfast.backup.errors import DamagedRecord
from holdfast.backup.schema import Frame
from holdfast.backup.wire import tables
from tests.backup.wire.core import Core
from tests.backup.wire.encoding import delimited, fixed32, group, nested_items, number, tag, varint
from tests.backup.wire.random_frames import random_frames


def test_a_frame_that_is_known_has_none(core: Core) -> None:
    """Frames of the schema have no unknown fields."""
    for raw in random_frames(100, seed=11):
        assert all(unknown.is_value for unknown in core.unknown.unknown_in(raw))
    assert core.unknown.unknown_in(b"") == []


def test_an_unknown_field_is_found_at_any_depth(core: Core) -> None:
    """The path leads to the message around it, lists with an index; the span is the whole field."""
    field = fixed32(99, b"abcd")
    raw = nested_items(1, delimited(6, b"") + delimited(6, delimited(11, field)) + number(500, 1)) + group(77, b"")
    unknown = core.unknown.unknown_in(raw)
    assert [(entry.path, entry.is_value, entry.number) for entry in unknown] == [
        ("chatItem.revisions[1].standardMessage", False, 99),
        ("chatItem", False, 500),
        ("", False, 77),
    ]
    assert [raw[entry.start : entry.end] for entry in unknown] == [field, number(500, 1), group(77, b"")]


def test_a_known_field_of_another_wire_type_is_unknown(core: Core) -> None:
    """A known field number with another wire type is an unknown field, as in protobuf."""
    raw = delimited(3, delimited(1, b"x"))
    assert core.unknown.unknown_in(raw) == [core.unknown.Unknown("chat", False, 1, 2, 5)]
    assert len(UnknownFieldSet(Frame.FromString(raw).chat)) == 1


def test_unknown_values_are_found_in_packed_and_single_fields(core: Core) -> None:
    """The path leads to the field, in lists with an index; a number below 0 is one."""
    raw = delimited(7, number(11, 77) + delimited(11, varint(1) + varint((1 << 64) - 5)))
    assert [(entry.path, entry.is_value, entry.number) for entry in core.unknown.unknown_in(raw)] == [
        ("notificationProfile.scheduleDaysEnabled[0]", True, 77),
        ("notificationProfile.scheduleDaysEnabled[2]", True, -5),
    ]
    single = delimited(8, number(6, 9))
    assert core.unknown.unknown_in(single) == [core.unknown.Unknown("chatFolder.folderType", True, 9, 2, 4)]


def test_an_empty_list_holds_no_unknown_value(core: Core) -> None:
    """An empty packed list has no unknown value, and the field after it is found."""
    raw = delimited(7, delimited(11, b"") + number(99, 1))
    assert [entry.number for entry in core.unknown.unknown_in(raw)] == [99]


def test_as_many_are_found_as_the_walk_counts(core: Core) -> None:
    """`unknown_in` finds as many unknown fields and values as `walk_record` counts."""
    for raw in random_frames(300, seed=13):
        extended = raw + number(99, 1)
        walk = core.walk.walk_record(extended)
        unknown = core.unknown.unknown_in(extended)
        assert sum(not entry.is_value for entry in unknown) == walk.unknown_fields
        assert sum(entry.is_value for entry in unknown) == walk.unknown_values


def test_a_header_is_searched_too(core: Core) -> None:
    """A header is searched if its record type is given."""
    assert core.unknown.unknown_in(number(9, 1), tables.BACKUP_INFO)[0].number == 9


def test_a_malformed_record_is_refused(core: Core) -> None:
    """A malformed record is a DamagedRecord."""
    with pytest.raises(DamagedRecord, match="wire type that does not exist"):
        core.unknown.unknown_in(number(99, 1) + tag(1, 6))
