"""Structure-aware mutations of backups: records moved, kinds exchanged, numbers at their limits.

They resemble the errors of exporters, as changed bytes resemble the errors of disks.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from holdfast.backup.order import IDS, RECIPIENT_IDS
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire.collect import name_of
from tests.backup.wire.encoding import varint

__all__ = ["Records", "StreamMutator", "fields_of", "is_there"]

Records = tuple[bytes, ...]
WORDS = ("", " ", "x", "\0", "a" * 100, "a" * 101, "é" * 200, "é" * 201, "👨‍👩‍👧‍👦" * 30, "z" * 2048, "z" * 2049)
NAMES = (
    "a.01",
    "abc.1",
    "abc.00",
    "abc.01",
    "ABC.99",
    "1abc.01",
    "a_b.0123456789",
    "x" * 32 + ".01",
    "x" * 33 + ".01",
)
AMOUNTS = ("0", "00", "1.", ".1", ".", "-1", "+1", "1e3", "1,5", "0.0000000000001", "18446744073709551616", "NaN")
SIZES = (0, 1, 4, 5, 15, 16, 17, 18, 31, 32, 33, 34, 64, 65, 4096)
WIDE = (
    *(0, 1, 2, 199, 200, 201, 202, 59_999, 60_000, 86_399_999, 86_400_000, 86_400_001, 946_684_800_000),
    *(1_750_000_000_000, 4_102_444_800_000, 8_640_000_000_000_000, 8_640_000_000_000_001),
    *((1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
)
NARROW = (
    0,
    1,
    2,
    59,
    60,
    100,
    2359,
    2360,
    2399,
    2400,
    0x00FFFFFF,
    0x7FFFFFFF,
    0xFE000000,
    0xFF000000,
    (1 << 32) - 1,
)
CLOCKS = (0, 1, 59, 60, 99, 100, 159, 160, 2359, 2360, 2400, 2459)


def fields_of(message: Message) -> Iterator[tuple[Message, FieldDescriptor]]:
    """Yield every field of the message and of those inside it, set or not."""
    descriptor: Descriptor = message.DESCRIPTOR  # type: ignore[assignment]  # the stubs know two classes for one
    yield from ((message, field) for field in descriptor.fields)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in value if field.is_repeated else [value]:
                yield from fields_of(child)


def is_there(owner: Message, field: FieldDescriptor) -> bool:
    """Return whether a field is set, or a repeated field is not empty."""
    if field.is_repeated:
        return bool(len(getattr(owner, field.name)))
    return owner.HasField(field.name) if field.has_presence else bool(getattr(owner, field.name))


class StreamMutator:
    """Mutates streams; parts of any known stream may be copied into others."""

    def __init__(self, rng: random.Random, originals: Sequence[Records]) -> None:
        self._rng = rng
        self._parts: dict[str, list[bytes]] = defaultdict(list)
        seen: dict[str, set[bytes]] = defaultdict(set)
        for records in originals:
            for raw in records[1:]:
                for owner, field in fields_of(Frame.FromString(raw)):
                    if field.message_type is None or not is_there(owner, field):
                        continue
                    value = getattr(owner, field.name)
                    for part in value if field.is_repeated else [value]:
                        seen[field.message_type.full_name].add(part.SerializeToString())
        for name, parts in seen.items():
            self._parts[name] = sorted(parts)

    def change(self, records: Records) -> Records:
        """Change one thing in a stream."""
        whim = self._rng.random()
        if whim < 0.12:
            return self._reorder(list(records))
        at = self._rng.randrange(len(records))
        if at == 0 and self._rng.random() < 0.8:
            at = self._rng.randrange(1, len(records))
        message: Message = (Frame if at else BackupInfo).FromString(records[at])
        repositories = list(fields_of(message))
        there = [repository for repository in repositories if is_there(*repository)]
        pool = there if there and self._rng.random() < 0.75 else repositories
        ways: tuple[Callable[[list[tuple[Message, FieldDescriptor]], Records], None], ...] = (
            self._number, self._refer, self._exchange, self._transplant, self._list, self._bytes, self._text,
            self._clear, self._hollow, self._enum,
        )  # fmt: skip
        for way in self._rng.sample(ways, len(ways)):
            before = message.SerializeToString()
            way(pool, records)
            if message.SerializeToString() != before:
                break
        raw = message.SerializeToString()
        if self._rng.random() < 0.06:
            raw = self._on_the_wire(raw, message)
        return (*records[:at], raw, *records[at + 1 :])

    def _pick(
        self, pool: list[tuple[Message, FieldDescriptor]], *types: int, repeated: bool | None = False
    ) -> tuple[Message, FieldDescriptor] | None:
        """Choose a field of some types."""
        fit = [
            place
            for place in pool
            if (not types or place[1].type in types) and (repeated is None or place[1].is_repeated == repeated)
        ]
        return self._rng.choice(fit) if fit else None

    def _reorder(self, frames: list[bytes]) -> Records:
        """Take out, double, move or exchange frames."""
        rng = self._rng
        one, other = rng.randrange(1, len(frames)), rng.randrange(1, len(frames))
        match rng.randrange(7):
            case 0:
                del frames[one]
            case 1:
                del frames[min(one, other) : max(one, other)]
            case 2:
                frames.insert(other, frames[one])
            case 3:
                frames.insert(other, frames.pop(one))
            case 4:
                frames[one], frames[other] = frames[other], frames[one]
            case 5:
                frames[one:] = reversed(frames[one:])
            case 6:
                frames.insert(
                    one, rng.choice((b"", b"\x22\0", b"\x12\0", b"\x1a\0", b"\x0a\0", b"\x4a\0", b"\x58\x01"))
                )
        return tuple(frames)

    def _number(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Put a number at one of its limits."""
        kinds = FieldDescriptor
        place = self._pick(pool, kinds.TYPE_UINT64, kinds.TYPE_UINT32, kinds.TYPE_FIXED32, kinds.TYPE_BOOL)
        if place is None:
            return
        owner, field = place
        if field.type == kinds.TYPE_BOOL:
            setattr(owner, field.name, not getattr(owner, field.name))
        elif field.type == kinds.TYPE_UINT64:
            setattr(owner, field.name, self._rng.choice(WIDE))
        else:
            setattr(owner, field.name, self._rng.choice(CLOCKS if "schedule" in field.name else NARROW))

    def _refer(self, pool: list[tuple[Message, FieldDescriptor]], records: Records) -> None:
        """Refer to an existing recipient or chat that may be of another kind, or comes later."""
        fit = [place for place in pool if name_of(place[1]) in IDS]
        if not fit:
            return
        owner, field = self._rng.choice(fit)
        frames = [Frame.FromString(raw) for raw in records[1:]]
        people = name_of(field) in {*RECIPIENT_IDS, "Recipient.id"}
        ids = [f.recipient.id for f in frames if f.HasField("recipient")] if people else [
            f.chat.id for f in frames if f.HasField("chat")
        ]  # fmt: skip
        value = self._rng.choice([*ids, 0, 1 << 40])
        if field.is_repeated:
            getattr(owner, field.name).append(value)
        else:
            setattr(owner, field.name, value)

    def _exchange(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Set another member of a oneof, with some content it has elsewhere or with none."""
        fit = [place for place in pool if place[1].containing_oneof is not None and place[1].has_presence]
        if not fit:
            return
        owner, field = self._rng.choice(fit)
        assert field.containing_oneof is not None
        other = self._rng.choice(field.containing_oneof.fields)
        if other.message_type is None:
            setattr(owner, other.name, getattr(type(owner)(), other.name))
        else:
            self._fill(owner, other)

    def _transplant(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Put a message in the place of another of its type."""
        place = self._pick(pool, FieldDescriptor.TYPE_MESSAGE, repeated=None)
        if place is not None:
            self._fill(*place)

    def _fill(self, owner: Message, field: FieldDescriptor) -> None:
        """Add content to a field that is a message."""
        assert field.message_type is not None
        parts = self._parts[field.message_type.full_name] or [b""]
        part = self._rng.choice([*parts, b""] if len(parts) < 4 else parts)
        value = getattr(owner, field.name)
        if field.is_repeated:
            inner = (
                value[self._rng.randrange(len(value))] if len(value) and self._rng.random() < 0.5 else value.add()
            )
        else:
            inner = value
        inner.Clear()
        inner.SetInParent()
        inner.MergeFromString(part)

    def _list(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Empty, double, turn around or lengthen a list."""
        place = self._pick(pool, repeated=True)
        if place is None:
            return
        owner, field = place
        value = getattr(owner, field.name)
        items = list(value)
        match self._rng.randrange(5):
            case 0:
                new = []
            case 1:
                new = items + items
            case 2:
                new = items[::-1]
            case 3:
                new = items[: self._rng.randrange(len(items) + 1)]
            case _:
                new = items + items[:1] * self._rng.choice((1, 9, 10, 11))
        copies = [
            type(item).FromString(item.SerializeToString()) if isinstance(item, Message) else item for item in new
        ]
        owner.ClearField(field.name)
        getattr(owner, field.name).extend(copies)

    def _bytes(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Replace a bytes field by an empty, shorter, longer, constant or random value."""
        place = self._pick(pool, FieldDescriptor.TYPE_BYTES, repeated=None)
        if place is None:
            return
        owner, field = place
        old = b"" if field.is_repeated else getattr(owner, field.name)
        size = self._rng.choice(SIZES)
        new = self._rng.choice(
            (bytes(size), b"\x01" * size, self._rng.randbytes(size), old[:-1], old * 2, b"\x05" + old)
        )
        if field.is_repeated:
            getattr(owner, field.name).append(new)
        else:
            setattr(owner, field.name, new)

    def _text(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Write another text."""
        place = self._pick(pool, FieldDescriptor.TYPE_STRING, repeated=None)
        if place is None:
            return
        owner, field = place
        new = self._rng.choice((self._rng.choice(WORDS), self._rng.choice(NAMES), self._rng.choice(AMOUNTS)))
        if field.is_repeated:
            getattr(owner, field.name).append(new)
        else:
            setattr(owner, field.name, new)

    def _clear(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Leave a field out."""
        place = self._pick([item for item in pool if is_there(*item)], repeated=None)
        if place is not None:
            place[0].ClearField(place[1].name)

    def _hollow(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Clear all fields of a message, and keep the message."""
        place = self._pick(pool, FieldDescriptor.TYPE_MESSAGE)
        if place is not None:
            inner = getattr(place[0], place[1].name)
            inner.Clear()
            inner.SetInParent()

    def _enum(self, pool: list[tuple[Message, FieldDescriptor]], _records: Records) -> None:
        """Choose another value, also one without a name."""
        place = self._pick(pool, FieldDescriptor.TYPE_ENUM, repeated=None)
        if place is None:
            return
        owner, field = place
        assert field.enum_type is not None
        value = self._rng.choice([0, 99, -1, (1 << 31) - 1, -(1 << 31), *field.enum_type.values_by_number])
        if field.is_repeated:
            getattr(owner, field.name).append(value)
        else:
            setattr(owner, field.name, value)

    def _on_the_wire(self, raw: bytes, message: Message) -> bytes:
        """Write what protobuf would not: a record twice, an overlong number, an unknown field."""
        rng = self._rng
        match rng.randrange(4):
            case 0:
                return raw + raw
            case 1:
                return raw + varint(rng.choice((9, 15, 99)) << 3) + varint(rng.choice((0, 1, (1 << 64) - 1)))
            case 2:
                return raw + varint(rng.choice((9, 99)) << 3 | 2) + varint(3) + b"abc"
            case _:
                parts = self._parts["holdfast.backup.ChatItem"] or [b""]
                return raw + (
                    b"\x22" + varint(len(part := rng.choice(parts))) + part if message.ListFields() else b""
                )
