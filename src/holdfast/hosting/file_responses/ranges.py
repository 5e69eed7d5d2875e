"""Byte ranges of a file (`Range`, RFC 9110, 14)."""

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["ByteRange", "Unsatisfiable", "parse_range_header"]

MOST_PARTS: Final = 32
PART: Final = re.compile(r"[ \t]*([0-9]*)-([0-9]*)[ \t]*")
LONGEST: Final = 18
FARTHEST: Final = 10**LONGEST


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes from `start` up to but not including `stop`."""

    start: int
    stop: int

    def content_range(self, size: int) -> str:
        """Return the value of `Content-Range`."""
        return f"bytes {self.start}-{self.stop - 1}/{size}"


class Unsatisfiable(Exception):
    """All requested ranges are outside of the file."""


def position(digits: str) -> int:
    """Parse a position; values beyond every file are clamped."""
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= LONGEST else FARTHEST


def parse_range_header(header: str, size: int) -> list[ByteRange]:
    """Parse a `Range` header; a missing or invalid one means the whole file."""
    unit, equals, rest = header.partition("=")
    if unit.strip().lower() != "bytes" or not equals:
        return []
    specs = [spec for spec in rest.split(",") if spec.strip()]
    if not specs or len(specs) > MOST_PARTS:
        return []
    parts = []
    for spec in specs:
        match = PART.fullmatch(spec)
        if match is None or match.groups() == ("", ""):
            return []
        first, last = match.groups()
        if not first:
            parts.append(ByteRange(max(size - position(last), 0), size))
        elif last and position(last) < position(first):
            # Not a valid range (RFC 9110, 14.1.1), so the header is ignored.
            return []
        else:
            parts.append(ByteRange(position(first), min(position(last) + 1, size) if last else size))
    inside = [part for part in parts if part.start < min(part.stop, size)]
    if not inside:
        raise Unsatisfiable
    # Overlapping ranges get the whole file.
    return inside if sum(part.stop - part.start for part in inside) <= size else []
