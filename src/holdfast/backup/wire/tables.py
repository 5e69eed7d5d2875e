"""The schema as flat arrays: the compiled modules find a field by one addition, without touching an object.

Every field of every message has a *slot*: the base of its message plus its field number. Slot 0 stands for all
unknown fields. Every field name and every enum value has a *text*: its bytes in JSON, quoted, a name with a comma
before and a colon after it. The text of a field has the index of its slot; the texts of enum values follow; then
all of them again in the other spelling, `TEXTS` later.
"""

from array import array
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor

from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire.layout import (
    BOOL,
    BYTES,
    ENUM,
    FIXED32,
    FLOAT,
    KEPT,
    KIND,
    MESSAGE,
    PACKABLE,
    REPEATED,
    STRING,
    UINT32,
    UINT64,
    UNKNOWN,
    WIRE_TYPE,
)
from holdfast.backup.wire.names import SPELLINGS, Names, field_name, value_name

__all__ = [
    "ALL_TEXTS",
    "BACKUP_INFO",
    "BASES",
    "BOOL",
    "BYTES",
    "CLASHES",
    "ENUM",
    "ENUMS",
    "FALSE",
    "FIELDS",
    "FIXED32",
    "FLOAT",
    "FRAME",
    "KEPT",
    "KIND",
    "KINDS",
    "LIMITS",
    "MESSAGE",
    "MESSAGES",
    "NAMED",
    "NULL",
    "PACKABLE",
    "RAW",
    "REPEATED",
    "SHAPES",
    "SLOTS",
    "STRING",
    "TARGETS",
    "TEXT",
    "TEXTS",
    "TEXT_AT",
    "TRUE",
    "UINT32",
    "UINT64",
    "UNKNOWN",
    "VALUE_BASES",
    "VALUE_LIMITS",
    "WIRE_TYPE",
]

KINDS: Final = {
    FieldDescriptor.TYPE_MESSAGE: MESSAGE | 2,
    FieldDescriptor.TYPE_STRING: STRING | 2,
    FieldDescriptor.TYPE_BYTES: BYTES | 2,
    FieldDescriptor.TYPE_UINT64: UINT64 | 0,
    FieldDescriptor.TYPE_UINT32: UINT32 | 0,
    FieldDescriptor.TYPE_BOOL: BOOL | 0,
    FieldDescriptor.TYPE_ENUM: ENUM | 0,
    FieldDescriptor.TYPE_FIXED32: FIXED32 | 5,
    FieldDescriptor.TYPE_FLOAT: FLOAT | 5,
}


def reach(*roots: Descriptor) -> Iterator[Descriptor]:
    """Yield the messages that are reachable from the records, each once, the records first."""
    waiting = list(roots)
    met: set[str] = set()
    while waiting:
        message = waiting.pop(0)
        if message.full_name not in met:
            met.add(message.full_name)
            yield message
            waiting += [field.message_type for field in message.fields if field.message_type is not None]


def shape_of(field: FieldDescriptor) -> int:
    """Return the shape of a field, see `layout`."""
    shape = KINDS[field.type]
    if field.is_repeated:
        return shape | REPEATED | KEPT | (0 if shape & WIRE_TYPE == 2 else PACKABLE)
    return shape | (KEPT if field.has_presence else 0)


def clash_of(field: FieldDescriptor) -> int:
    """Return the field numbers that conflict with a field: itself if singular, and the rest of its oneof."""
    oneof = field.containing_oneof
    return sum(1 << other.number for other in ([field] if oneof is None else oneof.fields))


# Records are messages 0 and 1.
FRAME: Final = 0
BACKUP_INFO: Final = 1
MESSAGES: Final[tuple[Descriptor, ...]] = tuple(reach(Frame.DESCRIPTOR, BackupInfo.DESCRIPTOR))
ENUMS: Final[tuple[EnumDescriptor, ...]] = tuple(
    {
        field.enum_type.full_name: field.enum_type
        for message in MESSAGES
        for field in message.fields
        if field.enum_type is not None
    }.values()
)

# Indexed by message: its base, and its highest field number plus one.
LIMITS: Final = array(
    "I", [max((field.number for field in message.fields), default=0) + 1 for message in MESSAGES]
)
BASES: Final = array("I", accumulate(LIMITS[:-1], initial=1))
SLOTS: Final = 1 + sum(LIMITS)

FIELDS: Final[dict[int, FieldDescriptor]] = {
    BASES[index] + field.number: field for index, message in enumerate(MESSAGES) for field in message.fields
}


def target_of(field: FieldDescriptor) -> int:
    """Return the index of the message or enum of a field, 0 if it has neither."""
    if field.message_type is not None:
        return MESSAGES.index(field.message_type)
    return 0 if field.enum_type is None else ENUMS.index(field.enum_type)


def by_slot(typecode: str, values: dict[int, int], missing: int) -> "array[int]":
    """Return an array of values indexed by slot."""
    return array(typecode, [values.get(slot, missing) for slot in range(SLOTS)])


# Indexed by slot: the shape, the message or enum of the field, and the field numbers it conflicts with. A field
# number above 63 would not fit into that set, and fails here.
SHAPES: Final = by_slot("I", {slot: shape_of(field) for slot, field in FIELDS.items()}, UNKNOWN)
TARGETS: Final = by_slot("I", {slot: target_of(field) for slot, field in FIELDS.items()}, 0)
CLASHES: Final = by_slot("Q", {slot: clash_of(field) for slot, field in FIELDS.items()}, 0)

# Indexed by enum: the text of its value 0, and its highest value plus one. No enum has a negative value.
VALUE_LIMITS: Final = array("I", [max(enum.values_by_number) + 1 for enum in ENUMS])
VALUE_BASES: Final = array("I", accumulate(VALUE_LIMITS[:-1], initial=SLOTS))

# Indexed by enum: the set of its values. A value above 63 would not fit, and fails here.
NAMED: Final = array("Q", [sum(1 << number for number in enum.values_by_number) for enum in ENUMS])

# Texts of JSON literals.
TRUE: Final = SLOTS + sum(VALUE_LIMITS)
FALSE: Final = TRUE + 1
RAW: Final = TRUE + 2
NULL: Final = TRUE + 3
TEXTS: Final = TRUE + 4


def texts(names: Names) -> Iterator[bytes]:
    """Yield all texts in one spelling, empty for unused slots and values."""
    for slot in range(SLOTS):
        yield f',"{field_name(FIELDS[slot], names)}":'.encode() if slot in FIELDS else b""
    for enum, limit in zip(ENUMS, VALUE_LIMITS, strict=True):
        for number in range(limit):
            name = value_name(enum, number, names)
            yield f'"{name}"'.encode() if name else b""
    yield from (b"true", b"false", b',"@raw":', b"null")


ALL_TEXTS: Final = [text for names in SPELLINGS for text in texts(names)]

# Indexed by text: its offset in TEXT; it ends where the next one begins.
TEXT: Final = b"".join(ALL_TEXTS)
TEXT_AT: Final = array("I", accumulate(map(len, ALL_TEXTS), initial=0))
