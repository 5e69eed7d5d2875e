"""Reads a plain frame stream lazily: the header first, then the frames.

A stream is a sequence of records, each a varint length and that many bytes. The first record is the header, every
further one a frame. There is no magic, no checksum and no trailer: the end of the file ends the stream.
"""

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.wire import frames

__all__ = ["Frame", "FrameStream", "Limits", "Tally"]

CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what the input claims is believed."""

    # The largest length a four-byte prefix can say, which is where the strictest client stops.
    frame_bytes: int = (1 << 28) - 1


@dataclass(frozen=True, slots=True)
class Frame:
    """One record of the stream as it was written: `index` 1 is the first frame after the header.

    `offset` is where the record's length begins in the stream, `body` where its bytes do.
    """

    index: int
    offset: int
    body: int
    raw: bytes

    @property
    def kind(self) -> int:
        """The field number of the record it holds (1 account ... 8 chat folder), 0 when it holds none."""
        kind, fault, at = frames.kind_of(self.raw)
        if fault:
            raise damaged(fault, self.index, self.body + at)
        return kind


@dataclass(frozen=True, slots=True)
class Tally:
    """How many frames a stream has for each record, and how many bytes they and the header take."""

    by_kind: tuple[int, ...]
    bytes: int

    @property
    def frames(self) -> int:
        """The number of frames, without the header."""
        return sum(self.by_kind)


def damaged(fault: int, index: int, offset: int) -> DamagedBackup:
    """Name a fault of the core in words."""
    return DamagedBackup(f"the record {frames.FAULTS[fault]}", frame=index, offset=offset)


class FrameStream:
    """The records of one stream, read once and in order; memory does not grow with their number.

    Taking the stream apart is either iteration (each `Frame` with its bytes) or `tally` (only counts, many times
    faster). `progress` is called with the number of bytes read so far.
    """

    def __init__(
        self,
        source: BinaryIO,
        *,
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._source = source
        self._cap = (limits or Limits()).frame_bytes
        self._progress = progress
        self._buffer = b""
        self._base = 0  # where the buffer begins in the stream
        self._next = 0  # the index of the record the buffer begins with
        self._ended = False
        self.header = self._read_header()

    def __iter__(self) -> Iterator[Frame]:
        while True:
            spans, rest, needed, fault = frames.split(self._buffer, 0, self._cap)
            start = 0
            for begin, end in spans:
                yield Frame(self._next, self._base + start, self._base + begin, self._buffer[begin:end])
                self._next += 1
                start = end
            if fault:
                raise damaged(fault, self._next, self._base + rest)
            if not self._refill(rest, needed):
                return

    def tally(self) -> Tally:
        """Count what is left of the stream by record."""
        counts = array("Q", bytes(9 * 8))
        while True:
            whole, rest, needed, fault, at = frames.tally(self._buffer, 0, self._cap, counts)
            self._next += whole
            if fault:
                raise damaged(fault, self._next, self._base + at)
            if not self._refill(rest, needed):
                return Tally(tuple(counts), self._base)

    def _read_header(self) -> bytes:
        if not self._refill(0, 0):
            raise UnreadableBackup("the file is empty: a frame stream has at least a header")
        while True:
            spans, rest, needed, fault = frames.split(self._buffer, 0, self._cap)
            if spans:
                begin, end = spans[0]
                header = self._buffer[begin:end]
                self._buffer = self._buffer[end:]
                self._base, self._next = end, 1
                return header
            if fault:
                raise damaged(fault, 0, rest)
            self._refill(rest, needed)

    def _refill(self, rest: int, needed: int) -> bool:
        """Drop the buffer up to `rest` and read on; at the end of the file say whether anything was cut off."""
        parts = [self._buffer[rest:]]
        have = len(parts[0])
        missing = needed - rest
        self._base += rest
        while True:
            chunk = b"" if self._ended else self._source.read(CHUNK)
            if not chunk:
                self._ended = True
                break
            parts.append(chunk)
            have += len(chunk)
            if have >= missing:
                break
        if self._progress is not None:
            self._progress(self._base + have)
        if self._ended and (have < missing or len(parts) == 1):
            if have:
                problem = "the file ends in the middle of a record"
                raise DamagedBackup(problem, frame=self._next, offset=self._base)
            self._buffer = b""
            return False
        self._buffer = b"".join(parts)
        return True
