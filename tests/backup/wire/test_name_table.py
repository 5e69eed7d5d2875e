"""The hash table finds every field name of the schema by its message."""

from holdfast.backup.wire import name_table, tables
from holdfast.backup.wire.names import SPELLINGS, field_name, value_name


def find(owner: int, name: str) -> int | None:
    """Look a name up as the core does."""
    entry = name_table.hash_name(owner, name.encode())
    while True:
        key, meaning, offset, size = name_table.NAME_TABLE[4 * entry : 4 * entry + 4]
        if size == 0:
            return None
        if key == owner and tables.TEXT[offset : offset + size] == name.encode():
            return meaning
        entry = (entry + 1) % name_table.ENTRIES


def test_every_field_is_found_by_both_spellings() -> None:
    """The name of a field in both spellings gives its slot."""
    for index, message in enumerate(tables.MESSAGES):
        for field in message.fields:
            for names in SPELLINGS:
                assert find(index, field_name(field, names)) == tables.BASES[index] + field.number


def test_every_value_of_an_enum_is_found_by_both_spellings() -> None:
    """The name of an enum value in both spellings gives its number."""
    for index, enum in enumerate(tables.ENUMS):
        for number in enum.values_by_number:
            for names in SPELLINGS:
                assert find(len(tables.MESSAGES) + index, value_name(enum, number, names)) == number


def test_names_of_other_owners_are_not_found() -> None:
    """A field name of another message is not found."""
    for index, message in enumerate(tables.MESSAGES):
        own = {field_name(field, names) for field in message.fields for names in SPELLINGS}
        others = {field.name for other in tables.MESSAGES for field in other.fields} - own
        assert all(find(index, name) is None for name in others)


def test_most_of_the_table_is_empty() -> None:
    """Less than a quarter of the table is used, so a missing name is found missing quickly."""
    sizes = name_table.NAME_TABLE[3::4]
    assert len(sizes) == name_table.ENTRIES
    assert sum(size > 0 for size in sizes) < name_table.ENTRIES // 4


def test_tags_have_the_number_and_the_wire_type() -> None:
    """A tag has the field number and the wire type, which is 2 for lists of numbers."""
    for slot, field in tables.FIELDS.items():
        number, wire_type = divmod(name_table.TAGS[slot], 8)
        assert number == field.number
        packed = tables.SHAPES[slot] & tables.PACKABLE
        assert wire_type == (2 if packed else tables.SHAPES[slot] & tables.WIRE_TYPE)
