"""Every field of the schema is in the table."""

import random

from holdfast.backup.redaction.fields import KEPT_NUMBERS, REPLACED, TREATMENTS, replacements
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import name_of, slot_of

NAMES = [name for fields in TREATMENTS.values() for name in fields]


def kind_of(name: str) -> int:
    """Return the kind of a field."""
    return tables.SHAPES[slot_of(name)] & tables.KIND


def test_every_text_all_bytes_and_every_number_are_decided_on() -> None:
    """Every field of the schema is listed once as replaced or kept, so a new one cannot leak."""
    kinds = {tables.STRING, tables.BYTES, tables.UINT32, tables.UINT64, tables.FIXED32, tables.FLOAT}
    slots = tables.FIELDS.items()
    expected = {name_of(field) for slot, field in slots if tables.SHAPES[slot] & tables.KIND in kinds}
    assert expected == set(NAMES) | KEPT_NUMBERS
    assert len(NAMES) == len(set(NAMES))
    assert not set(NAMES) & KEPT_NUMBERS


def test_no_text_and_no_bytes_are_kept() -> None:
    """The fields whose values are kept are all numbers."""
    assert not {kind_of(name) for name in KEPT_NUMBERS} & {tables.STRING, tables.BYTES}


def test_each_way_fits_the_kind_of_its_fields() -> None:
    """Text is replaced by text, bytes by bytes, numbers by numbers that are not in lists."""
    for treatment, fields in TREATMENTS.items():
        kinds = {kind_of(name) for name in fields}
        assert len(kinds) == 1, treatment
        if kinds == {tables.UINT64}:
            assert not any(tables.SHAPES[slot_of(name)] & tables.REPEATED for name in fields)


def test_each_way_returns_as_many_bytes() -> None:
    """Every treatment returns as many bytes as it gets, also for invalid values."""
    ways = replacements(random.Random(1))
    assert REPLACED[0] == 0
    for name in NAMES:
        slot = slot_of(name)
        treatment = ways[slot]
        assert REPLACED[slot]
        assert treatment is not None
        numbers = [b"\x05", b"\x80\x01", b"\xff" * 9 + b"\x01", b"\x85\x00"]
        texts = ["a", "Zoë ❤️", "https://x", "+1 5", "\0", "x" * 400]
        values = {
            tables.STRING: [text.encode() for text in texts],
            tables.BYTES: [bytes(size) + b"\xff" * size for size in (1, 8, 16, 17, 165)],
            tables.UINT64: numbers,
        }[kind_of(name)]
        for value in values:
            new = treatment(value)
            assert len(new) == len(value), name
            if kind_of(name) == tables.STRING:
                new.decode()
