"""Paths of fields in a record, as findings show them: `chatItem.standardMessage.attachments[1].pointer`."""

from collections import Counter
from dataclasses import dataclass, field

from holdfast.backup.wire import tables
from holdfast.backup.wire.varint import varint_at
from holdfast.redacted_repr import redacted

__all__ = ["PathFinder"]

DELIMITED = 2
SIZES = {1: 8, 5: 4}


@redacted
@dataclass(slots=True)
class Level:
    """A message that is being read: its name in the path, its type, and the fields met so far."""

    name: str
    message: int
    pos: int
    end: int
    met: Counter[int] = field(default_factory=Counter)


class PathFinder:
    """Finds paths in a well-formed record; offsets are given in ascending order, so that it is read only once."""

    def __init__(self, raw: bytes, root: int = tables.FRAME) -> None:
        self._raw = raw
        self._levels = [Level("", root, 0, len(raw))]

    def path_to(self, at: int) -> str:
        """Return the path of the innermost message whose bytes begin at an offset."""
        levels = self._levels
        while len(levels) > 1 and at >= levels[-1].end:
            levels.pop()
        while (level := levels[-1]).pos < level.end:
            inner = self._next_message(level, at)
            if inner is not None:
                levels.append(inner)
                if inner.pos == at:
                    break
        return ".".join(level.name for level in levels[1:])

    def _next_message(self, level: Level, at: int) -> Level | None:
        """Read one field; return it if it is a message that contains the offset."""
        raw = self._raw
        tag, pos = varint_at(raw, level.pos)
        number = tag >> 3
        if tag & 7 != DELIMITED:
            level.pos = varint_at(raw, pos)[1] if tag & 7 == 0 else pos + SIZES.get(tag & 7, 0)
            return None
        size, pos = varint_at(raw, pos)
        level.pos = pos + size
        slot = tables.BASES[level.message] + number if number < tables.LIMITS[level.message] else 0
        place, level.met[number] = level.met[number], level.met[number] + 1
        if not pos <= at < pos + max(size, 1) or tables.SHAPES[slot] & tables.KIND != tables.MESSAGE:
            return None
        descriptor = tables.FIELDS[slot]
        name = f"{descriptor.name}[{place}]" if descriptor.is_repeated else descriptor.name
        return Level(name, tables.TARGETS[slot], pos, pos + size)
