"""Mutations of frames: damage, and other encodings of the same content."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from google.protobuf.descriptor import Descriptor

from holdfast.backup.schema import Frame
from tests.backup.wire.encoding import tag, varint

__all__ = ["mutate"]


@dataclass
class Field:
    """A parsed field of a record: a value, or the fields of a nested message."""

    number: int
    wire_type: int
    body: bytes = b""
    inner: list["Field"] | None = None
    tag_size: int = 1
    length_size: int = 1

    def encode(self) -> bytes:
        """Write the field again."""
        body = self.body if self.inner is None else encode(self.inner)
        length = varint(len(body), size=self.length_size) if self.wire_type == 2 else b""
        return varint(self.number << 3 | self.wire_type, size=self.tag_size) + length + body


def encode(fields: list[Field]) -> bytes:
    """Write a message again."""
    return b"".join(entry.encode() for entry in fields)


@dataclass
class Reader:
    """A parser of records that protobuf wrote; it handles no invalid input."""

    data: bytes
    pos: int = field(default=0)

    def number(self) -> int:
        """Read a number."""
        value = shift = 0
        while True:
            byte = self.data[self.pos]
            self.pos += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def take(self, size: int) -> bytes:
        """Read so many bytes."""
        self.pos += size
        return self.data[self.pos - size : self.pos]

    def fields(self, message: Descriptor) -> list[Field]:
        """Read a message."""
        fields = []
        while self.pos < len(self.data):
            number, wire_type = divmod(self.number(), 8)
            entry = Field(number, wire_type)
            if wire_type == 0:
                start = self.pos
                self.number()
                entry.body = self.data[start : self.pos]
            else:
                entry.body = self.take({1: 8, 5: 4}[wire_type] if wire_type != 2 else self.number())
            descriptor = message.fields_by_number.get(number)
            if descriptor is not None and descriptor.message_type is not None:
                entry.inner = Reader(entry.body).fields(descriptor.message_type)
            fields.append(entry)
        return fields


def messages_in(fields: list[Field]) -> list[list[Field]]:
    """Find all messages of a record, itself first."""
    messages = [fields]
    for entry in fields:
        if entry.inner is not None:
            messages += messages_in(entry.inner)
    return messages


def random_unknown(rng: random.Random) -> Field:
    """Make a field with a random number, which may or may not be in the schema."""
    number = rng.choice((rng.randrange(1, 40), rng.randrange(1, 8), 99, 5000, (1 << 29) - 1))
    wire_type = rng.choice((0, 1, 2, 3, 5))
    body = {
        0: varint(rng.choice((0, 1, 2, 300, rng.getrandbits(64)))),
        1: rng.randbytes(8),
        2: rng.choice((b"", b"abc", b"\xff\xfe", varint(5) + varint(300), rng.randbytes(8))),
        3: rng.choice((b"", tag(0, 0) + b"\x01", tag(7, 3) + tag(7, 4), tag(1, 2) + b"\x01\xff")) + tag(number, 4),
        5: rng.randbytes(4),
    }[wire_type]
    return Field(number, wire_type, body)


def rewrite(rng: random.Random, fields: list[Field]) -> None:
    """Change one message of a record so that it stays well-formed, or nearly."""
    chosen = rng.choice(messages_in(fields))
    offset = rng.randrange(len(chosen) + 1)
    if not chosen or rng.random() < 0.2:
        chosen.insert(offset, random_unknown(rng))
        return
    match rng.randrange(6):
        case 0:
            rng.shuffle(chosen)
        case 1:
            chosen.insert(offset, rng.choice(chosen))
        case 2:
            chosen.remove(rng.choice(chosen))
        case _:
            reshape(rng, rng.choice(chosen))


def reshape(rng: random.Random, entry: Field) -> None:
    """Write one field differently."""
    match rng.randrange(6):
        case 0:
            entry.tag_size = rng.randrange(1, 7)
        case 1:
            entry.length_size = rng.randrange(1, 7)
        case 2:
            entry.number = rng.randrange(40)
        case 3:
            entry.wire_type = rng.randrange(8)
        case 4 if entry.wire_type == 0:
            entry.body = rng.choice(
                (b"\0", b"\x80\0", b"\x80" * 9 + b"\x02", b"\xff" * 9 + b"\x01", varint(1 << 32))
            )
        case 4 if entry.inner is None:
            entry.body = rng.choice((b"", entry.body + entry.body, entry.body[:-1], b"\x80\x00" + entry.body))
        case 5 if entry.wire_type == 0:
            entry.wire_type = 2  # a number, or several, as a packed list
        case 5 if entry.wire_type == 2 and entry.inner is None:
            entry.wire_type = 5 if len(entry.body) == 4 else 0  # a packed list as one number


def scramble(rng: random.Random, raw: bytes) -> bytes:
    """Change bytes without regard to the structure of the message."""
    data = bytearray(raw or b"\0")
    offset = rng.randrange(len(data))
    match rng.randrange(6):
        case 0:
            data[offset] ^= 1 << rng.randrange(8)
        case 1:
            data[offset] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 3, 4, rng.randrange(256)))
        case 2:
            del data[offset : offset + rng.randrange(1, 4)]
        case 3:
            data[offset:offset] = rng.randbytes(rng.randrange(1, 4))
        case 4:
            del data[offset:]
        case 5:
            start = rng.randrange(len(data))
            data[offset:offset] = data[start : start + rng.randrange(1, 20)]
    return bytes(data)


def mutate(rng: random.Random, raw: bytes) -> bytes:
    """Damage or rewrite a frame that protobuf wrote; now and then it stays as it is."""
    steps: list[Callable[[], None]] = []
    fields = Reader(raw).fields(Frame.DESCRIPTOR)
    if rng.random() < 0.6:
        steps += [lambda: rewrite(rng, fields)] * rng.choice((1, 1, 2, 4))
    for step in steps:
        step()
    data = encode(fields)
    if rng.random() < 0.5:
        for _ in range(rng.choice((1, 1, 2))):
            data = scramble(rng, data)
    return data
