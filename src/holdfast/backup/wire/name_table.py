"""The names of fields and enum values as a hash table, so that the core finds what a name in JSON means.

The table has open addressing. An entry has four numbers: the owner, the meaning, where the name begins in
`tables.TEXT`, and its length, which is 0 where the entry is empty. The owner is the index of a message, for which
the meaning is a slot, or that of an enum behind the last message, for which it is a value.

`TAGS` has, by slot, the tag a field is written with; lists of numbers are packed, as every writer does.
"""

from array import array
from collections.abc import Iterator
from typing import Final

from holdfast.backup.wire import tables
from holdfast.backup.wire.layout import PACKABLE, WIRE_TYPE
from holdfast.backup.wire.names import SPELLINGS

__all__ = ["ENTRIES", "FACTOR", "NAME_TABLE", "TAGS", "hash_name"]

ENTRIES: Final = 4096
FACTOR: Final = 33

TAGS: Final = tables.by_slot(
    "I",
    {
        slot: field.number << 3 | (2 if tables.SHAPES[slot] & PACKABLE else tables.SHAPES[slot] & WIRE_TYPE)
        for slot, field in tables.FIELDS.items()
    },
    0,
)


def hash_name(owner: int, name: bytes) -> int:
    """Return where the search for a name begins."""
    found = owner
    for byte in name:
        found = (found * FACTOR + byte) & 0xFFFFFFFF
    return (found ^ found >> 12) & (ENTRIES - 1)


def named_texts() -> Iterator[tuple[int, int, int]]:
    """Yield every text that is a name, with its owner and its meaning."""
    for spelling in range(len(SPELLINGS)):
        for index, (base, limit) in enumerate(zip(tables.BASES, tables.LIMITS, strict=True)):
            for slot in range(base, base + limit):
                if slot in tables.FIELDS:
                    yield spelling * tables.TEXTS + slot, index, slot
        for index, enum in enumerate(tables.ENUMS):
            for number in enum.values_by_number:
                yield (
                    spelling * tables.TEXTS + tables.VALUE_BASES[index] + number,
                    len(tables.MESSAGES) + index,
                    number,
                )


def fill_table() -> "array[int]":
    """Fill the hash table; a name that is spelled the same twice is in it once."""
    table = array("I", bytes(4 * 4 * ENTRIES))
    met: set[tuple[int, bytes]] = set()
    for text, owner, meaning in named_texts():
        quoted = tables.ALL_TEXTS[text]
        name = quoted.strip(b',":')
        if (owner, name) in met:
            continue
        met.add((owner, name))
        entry = hash_name(owner, name)
        while table[4 * entry + 3]:
            entry = (entry + 1) % ENTRIES
        table[4 * entry : 4 * entry + 4] = array(
            "I", [owner, meaning, tables.TEXT_AT[text] + quoted.index(name), len(name)]
        )
    return table


NAME_TABLE: Final = fill_table()
