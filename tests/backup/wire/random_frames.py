"""Random messages of any type of the schema, reproducible by seed."""

import random
import struct
from collections.abc import Iterable
from typing import TypeAlias, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.schema import BackupInfo, Frame

__all__ = ["random_frame", "random_frames", "random_header", "random_message"]

Scalar: TypeAlias = bool | int | float | str | bytes

NUMBERS = (0, 1, 2, 127, 128, 300, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1_700_000_000_000)
LARGE_NUMBERS = ((1 << 63) - 1, 1 << 63, (1 << 64) - 1, 10**19, 10**19 - 1)
FLOATS = (
    "00000000",
    "00000080",
    "0000803f",
    "0000c07f",
    "0100c07f",
    "0000807f",
    "000080ff",
    "cdcc4c3e",
    "ffff7f7f",
)
TEXTS = (
    "",
    "a",
    "Hello, world",
    'She said "no"\\\n\t\r\b\f',
    "\0\x01\x1f\x7f\x80",
    "\u2028 and \u2029 and \u202a",
    "zürich 東京 😀👨‍👩‍👧",
    "\uffff\U0010ffff",
    "â",
)


def random_frames(count: int, seed: int) -> list[bytes]:
    """Make frames of every kind."""
    rng = random.Random(seed)
    return [random_frame(rng) for _ in range(count)]


def random_frame(rng: random.Random) -> bytes:
    """Make one frame."""
    frame = Frame()
    fields = fields_of(frame)
    fill_field(rng, frame, rng.choice(fields + fields[:4]), 0)
    return frame.SerializeToString()


def fields_of(message: Message) -> list[FieldDescriptor]:
    """List the fields of a message; the cast is needed because the type stubs have two descriptor classes."""
    return list(cast("Iterable[FieldDescriptor]", message.DESCRIPTOR.fields))


def random_header(rng: random.Random) -> bytes:
    """Make one header."""
    return random_message(rng, BackupInfo()).SerializeToString()


def random_message(rng: random.Random, message: Message, depth: int = 0) -> Message:
    """Set some of the fields of a message, fewer the deeper it lies."""
    chance = rng.choice((0.3, 0.6, 1.0)) * 0.9**depth
    fields = fields_of(message)
    rng.shuffle(fields)
    for field in fields:
        if rng.random() < chance:
            fill_field(rng, message, field, depth)
    return message


def fill_field(rng: random.Random, message: Message, field: FieldDescriptor, depth: int) -> None:
    """Set one field."""
    if field.is_repeated:
        items = getattr(message, field.name)
        for _ in range(rng.choice((1, 1, 2, 5))):
            if field.message_type is None:
                items.append(random_scalar(rng, field))
            else:
                random_message(rng, items.add(), depth + 1)
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        random_message(rng, inner, depth + 1)
    else:
        setattr(message, field.name, random_scalar(rng, field))


def random_scalar(rng: random.Random, field: FieldDescriptor) -> Scalar:
    """Make a value, more often than not one at an edge."""
    if field.enum_type is not None:
        values = sorted(field.enum_type.values_by_number)
        return rng.choice((*values, *values, values[-1] + 1, 1000, -1, -(1 << 31), (1 << 31) - 1))
    small = [number for number in NUMBERS if number < 1 << 32]
    (odd_float,) = struct.unpack("<f", rng.choice((*map(bytes.fromhex, FLOATS), rng.randbytes(4))))
    choices: dict[int, Scalar] = {
        FieldDescriptor.TYPE_BOOL: rng.random() < 0.5,
        FieldDescriptor.TYPE_UINT64: rng.choice((*NUMBERS, *LARGE_NUMBERS, rng.getrandbits(64))),
        FieldDescriptor.TYPE_UINT32: rng.choice(small),
        FieldDescriptor.TYPE_FIXED32: rng.choice(small),
        FieldDescriptor.TYPE_STRING: "".join(rng.choices(TEXTS, k=rng.choice((1, 1, 3)))),
        FieldDescriptor.TYPE_BYTES: rng.randbytes(rng.choice((0, 1, 2, 3, 16, 17, 32))),
        FieldDescriptor.TYPE_FLOAT: odd_float,
    }
    return choices[field.type]
