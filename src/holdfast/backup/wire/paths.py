"""Paths of fields in a record, as findings show them: `chatItem.standardMessage.attachments[1].pointer`."""

from collections import Counter

from holdfast.backup.wire import tables
from holdfast.backup.wire.varint import varint_at

__all__ = ["path_to"]

DELIMITED = 2
SIZES = {1: 8, 5: 4}


def path_to(raw: bytes, at: int, root: int = tables.FRAME) -> str:
    """Return the path of the innermost message of a well-formed record whose bytes begin at an offset."""
    steps: list[str] = []
    message, pos, end = root, 0, len(raw)
    met: Counter[int] = Counter()
    while pos < end:
        tag, pos = varint_at(raw, pos)
        number = tag >> 3
        if tag & 7 != DELIMITED:
            pos = varint_at(raw, pos)[1] if tag & 7 == 0 else pos + SIZES.get(tag & 7, 0)
            continue
        size, pos = varint_at(raw, pos)
        slot = tables.BASES[message] + number if number < tables.LIMITS[message] else 0
        place, met[number] = met[number], met[number] + 1
        if not pos <= at < pos + max(size, 1) or tables.SHAPES[slot] & tables.KIND != tables.MESSAGE:
            pos += size
            continue
        field = tables.FIELDS[slot]
        steps.append(f"{field.name}[{place}]" if field.is_repeated else field.name)
        if pos == at:
            return ".".join(steps)
        message, end, met = tables.TARGETS[slot], pos + size, Counter()
    return ".".join(steps)
