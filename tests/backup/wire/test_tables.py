"""The flat tables equal the compiled schema."""

from google.protobuf.descriptor import FieldDescriptor

from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import tables
from holdfast.backup.wire.names import SPELLINGS, field_name, value_name

EVERY_FIELD = [
    (index, field.number, field) for index, message in enumerate(tables.MESSAGES) for field in message.fields
]


def text(index: int) -> str:
    """Read one of the texts."""
    return tables.TEXT[tables.TEXT_AT[index] : tables.TEXT_AT[index + 1]].decode()


def test_records_come_first() -> None:
    """Frame and BackupInfo have the fixed indexes that the core uses."""
    assert tables.MESSAGES[tables.FRAME] is Frame.DESCRIPTOR
    assert tables.MESSAGES[tables.BACKUP_INFO] is BackupInfo.DESCRIPTOR


def test_every_field_has_its_own_slot_below_the_limit_of_its_message() -> None:
    """A message's base plus a field's number finds the field and no other."""
    slots = [tables.BASES[message] + number for message, number, _ in EVERY_FIELD]
    assert len(EVERY_FIELD) == len(set(slots)) > 500
    assert all(number < tables.LIMITS[message] for message, number, _ in EVERY_FIELD)
    assert all(tables.FIELDS[slot] is field for slot, (_, _, field) in zip(slots, EVERY_FIELD, strict=True))


def test_slots_without_a_field_are_unknown() -> None:
    """A field number that the schema skips is unknown and matches no wire type."""
    empty = [slot for slot in range(tables.SLOTS) if slot not in tables.FIELDS]
    assert 0 in empty
    assert {tables.SHAPES[slot] for slot in empty} == {tables.UNKNOWN}
    assert tables.UNKNOWN & tables.WIRE_TYPE > 7


def test_shapes_tell_repeated_and_optional_fields_apart() -> None:
    """Lists, packed lists and fields that are written even when they hold their default are marked."""
    for slot, field in tables.FIELDS.items():
        shape = tables.SHAPES[slot]
        packable = field.is_repeated and field.type not in (
            FieldDescriptor.TYPE_STRING,
            FieldDescriptor.TYPE_BYTES,
            FieldDescriptor.TYPE_MESSAGE,
        )
        assert bool(shape & tables.REPEATED) == field.is_repeated
        assert bool(shape & tables.PACKABLE) == packable
        assert bool(shape & tables.KEPT) == (field.is_repeated or field.has_presence)


def test_targets_lead_to_the_message_or_the_enum() -> None:
    """The target of a field is the table of its message or enum."""
    for slot, field in tables.FIELDS.items():
        if field.message_type is not None:
            assert tables.MESSAGES[tables.TARGETS[slot]] is field.message_type
        if field.enum_type is not None:
            assert tables.ENUMS[tables.TARGETS[slot]] is field.enum_type


def test_members_of_a_oneof_clash_with_each_other_and_themselves() -> None:
    """A field clashes with every member of its oneof, any other field with itself alone."""
    for slot, field in tables.FIELDS.items():
        members = [field] if field.containing_oneof is None else field.containing_oneof.fields
        assert {number for number in range(64) if tables.CLASHES[slot] >> number & 1} == {
            member.number for member in members
        }


def test_texts_spell_every_name_both_ways() -> None:
    """A field's text is a comma, its quoted name and a colon, an enum value's its quoted name."""
    for further, names in enumerate(SPELLINGS):
        start = further * tables.TEXTS
        for slot, field in tables.FIELDS.items():
            assert text(start + slot) == f',"{field_name(field, names)}":'
        for index, enum in enumerate(tables.ENUMS):
            for number in enum.values_by_number:
                expected = f'"{value_name(enum, number, names)}"'
                assert text(start + tables.VALUE_BASES[index] + number) == expected


def test_numbers_an_enum_skips_have_no_text() -> None:
    """A number has a text only if it is a value of the enum, which is how the core finds unknown values."""
    for index, enum in enumerate(tables.ENUMS):
        assert min(enum.values_by_number) == 0
        assert value_name(enum, tables.VALUE_LIMITS[index], "spec") == ""
        for number in range(tables.VALUE_LIMITS[index]):
            assert bool(text(tables.VALUE_BASES[index] + number)) == (number in enum.values_by_number)
