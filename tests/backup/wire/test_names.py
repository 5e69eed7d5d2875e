"""The two spellings of field and enum names: camel case and snake case."""

import pytest

from holdfast.backup.schema import backup_pb2 as pb
from holdfast.backup.wire import tables
from holdfast.backup.wire.names import SPELLINGS, Names, field_name, value_name


def test_signal_spells_seven_names_differently() -> None:
    """Exactly seven names differ in Signal's public files, and no two fields of a message share a name."""
    differing = {
        (field_name(field, "spec"), field_name(field, "signal"))
        for field in tables.FIELDS.values()
        if field_name(field, "spec") != field_name(field, "signal")
    } | {
        (value_name(enum, number, "spec"), value_name(enum, number, "signal"))
        for enum in tables.ENUMS
        for number in enum.values_by_number
        if value_name(enum, number, "spec") != value_name(enum, number, "signal")
    }
    assert differing == {
        ("platformASpecificSettings", "androidSpecificSettings"),
        ("announcements_only", "announcementsOnly"),
        ("members_banned", "membersBanned"),
        ("amountCoin", "amountMob"),
        ("feeCoin", "feeMob"),
        ("coinIdentification", "mobileCoinIdentification"),
        ("JOINED_SERVICE", "JOINED_SIGNAL"),
    }
    for message in tables.MESSAGES:
        assert len({field_name(field, "signal") for field in message.fields}) == len(message.fields)


@pytest.mark.parametrize(("names", "expected"), [("spec", "members_banned"), ("signal", "membersBanned")])
def test_a_field_is_spelled_as_asked_for(names: Names, expected: str) -> None:
    """A field has the name of the requested spelling, and most names are the same in both."""
    fields = pb.Group.GroupSnapshot.DESCRIPTOR.fields_by_name
    assert field_name(fields["members_banned"], names) == expected
    assert field_name(fields["members"], names) == "members"


@pytest.mark.parametrize(("names", "expected"), [("spec", "JOINED_SERVICE"), ("signal", "JOINED_SIGNAL")])
def test_a_value_is_spelled_as_asked_for(names: Names, expected: str) -> None:
    """An enum value has the name of the requested spelling, and an unknown number has none."""
    enum = pb.SimpleChatUpdate.Type.DESCRIPTOR
    assert value_name(enum, pb.SimpleChatUpdate.Type.JOINED_SERVICE, names) == expected
    assert value_name(enum, 99_999, names) == ""


def test_the_spelling_of_the_specification_comes_first() -> None:
    """The spellings are ordered as in the flat tables: the specification first, then Signal."""
    assert SPELLINGS == ("spec", "signal")
