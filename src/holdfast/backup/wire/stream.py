"""Reads a plain frame stream lazily: the header first, then the frames.

A stream is a sequence of records, each a varint length and that many bytes. The first record is the header, every
further one a frame. There is no magic, no checksum and no trailer: the end of the file ends the stream.

Frames are read in blocks of about half a megabyte, which the compiled modules process in one call; iterate over a
block to get single frames.
"""

import io
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from google.protobuf.message import DecodeError

from holdfast.backup import schema
from holdfast.backup.errors import DamagedBackup, OversizedBackup, UnreadableBackup
from holdfast.backup.public import public
from holdfast.backup.wire import frames, walk
from holdfast.backup.wire.faults import FAULTS
from holdfast.redacted_repr import redacted

__all__ = ["NO_CAP", "Block", "Frame", "FrameStream", "StreamLimits", "damaged"]

# A chunk and its block stay in the L2 cache of a core while they are read.
CHUNK: Final = 1 << 19
# The rest of a chunk, and the next chunk.
ROOM: Final = 2 * CHUNK
# The longest varint.
LENGTH: Final = 10
# The lengths of a block were checked when it was read.
NO_CAP: Final = (1 << 32) - 1


@public
@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Limits on the size of a backup, so that a crafted one cannot exhaust memory or time."""

    # The largest length that fits into a four-byte varint, the limit of the strictest client.
    frame_bytes: int = (1 << 28) - 1
    # Every frame costs time, however short it is. No real backup has twenty million messages.
    frames: int = 20_000_000
    # A message has about thirty bytes at least, so a stream of shorter frames was crafted to cost time. The
    # average is checked from `average_after` frames on.
    average_bytes: int = 8
    average_after: int = 100_000

    def hold(self, frames: int, size: int) -> None:
        """Raise `OversizedBackup` if there are too many frames, `size` bytes in all."""
        if frames > self.frames:
            raise OversizedBackup(
                f"the backup has more than the {self.frames:,} frames allowed; raise the limit if you trust it"
            )
        if frames > self.average_after and size < self.average_bytes * frames:
            raise OversizedBackup(
                f"the backup has {frames:,} frames of less than {self.average_bytes} bytes each on average: it "
                "was made to exhaust whoever reads it; raise the limit if you trust it"
            )


@public
@redacted
@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of the stream, unparsed: `index` 1 is the first frame after the header.

    `offset` is the offset of its length prefix in the stream, `body` that of its bytes.
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

    @property
    def message(self) -> schema.Frame:
        """The frame as a message object, decoded at each access."""
        try:
            return schema.Frame.FromString(self.raw)
        except DecodeError:
            fault, at, *_counts = walk.walk_record(self.raw)
            raise damaged(fault, self.index, self.body + at) from None


@public
@redacted
@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive complete frames, each with its length prefix.

    `index` is the index of the first frame, `offset` the offset of the block in the stream, `counted` the number
    of frames, if it is known. With `only_messages`, every frame is known to consist of a single message.
    """

    index: int
    offset: int
    data: bytes
    counted: int | None = field(default=None, repr=False, compare=False)
    only_messages: bool = field(default=False, repr=False, compare=False)

    def __iter__(self) -> Iterator[Frame]:
        spans, _rest, _needed, _fault = frames.split(self.data, 0, NO_CAP)
        start = 0
        for index, (begin, end) in enumerate(spans, self.index):
            yield Frame(index, self.offset + start, self.offset + begin, self.data[begin:end])
            start = end

    @property
    def count(self) -> int:
        """How many frames it holds."""
        return frames.measure(self.data, 0, NO_CAP)[0] if self.counted is None else self.counted

    def spans(self) -> Callable[[int], tuple[int, int, int]]:
        """Return a function that maps an offset in the data to the index, the start and the end of its frame."""
        spans, _rest, _needed, _fault = frames.split(self.data, 0, NO_CAP)

        def span_of(at: int) -> tuple[int, int, int]:
            place = bisect_right(spans, (at, NO_CAP)) - 1
            return (self.index + place, *spans[place])

        return span_of

    def frame_at(self, at: int) -> Frame:
        """Return the frame at an offset in the data."""
        index, _begin, _end = self.spans()(at)
        return next(frame for frame in self if frame.index == index)

    def damaged(self, fault: int, frames_before: int, at: int) -> DamagedBackup:
        """Return the exception for a fault found in this block, at an offset in its data."""
        return damaged(fault, self.index + frames_before, self.offset + at)


def damaged(fault: int, index: int, offset: int) -> DamagedBackup:
    """Return the exception for a fault of the wire format."""
    return DamagedBackup(f"the record {FAULTS[fault]}", frame=index, offset=offset)


@public
class FrameStream:
    """The records of a stream, read once and in order, in constant memory.

    `blocks` and iteration consume the same frames. `progress` is called with the number of bytes read so far.
    """

    def __init__(
        self,
        source: BinaryIO,
        *,
        limits: StreamLimits | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._source = source
        self._cap = (limits or StreamLimits()).frame_bytes
        self._progress = progress
        self._chunk_buffer = bytearray()
        self._start = 0  # the unread part of the buffer begins here
        self._stop = 0  # and ends here
        self._base = 0  # its offset in the stream
        self._next = 0  # the index of its first record
        self._read_was_full = False  # whether the last read returned as much as requested
        self._ended = False
        self.header = self._read_header()

    @property
    def offset(self) -> int:
        """The offset in the stream of what was read so far; at the end, its size."""
        return self._base

    def __iter__(self) -> Iterator[Frame]:
        for block in self.blocks():
            yield from block

    def blocks(self) -> Iterator[Block]:
        """Yield the frames in blocks; lengths are checked here, the content of frames is not."""
        while True:
            with memoryview(self._chunk_buffer)[: self._stop] as held:
                count, items, rest, needed, fault = frames.measure(held, self._start, self._cap)
                data = bytes(held[self._start : rest])
            block = Block(self._next, self._base, data, count, only_messages=count == items)
            self._next += count
            self._advance(rest)
            if count:
                yield block
            if fault:
                raise damaged(fault, self._next, self._base)
            if not self._refill(needed - rest if needed else 0):
                return

    def _read_header(self) -> bytes:
        if not self._refill(0):
            raise UnreadableBackup("the file is empty: a frame stream has at least a header")
        while True:
            # Only the first record is read: a chunk may contain half a million of them.
            spans, _rest, needed, fault = frames.split(self._peek(LENGTH), 0, self._cap)
            if LENGTH < needed <= self._stop:
                spans, _rest, needed, fault = frames.split(self._peek(needed), 0, self._cap)
            if spans:
                begin, end = spans[0]
                header = bytes(self._chunk_buffer[begin:end])
                self._advance(end)
                self._next = 1
                return header
            if fault:
                raise damaged(fault, 0, 0)
            self._refill(needed)

    def _peek(self, size: int) -> bytes:
        """Return at most so many bytes of the unread part of the buffer."""
        return bytes(self._chunk_buffer[self._start : min(self._start + size, self._stop)])

    def _advance(self, until: int) -> None:
        """Move the beginning of the unread part forward."""
        self._base += until - self._start
        self._start = until

    def _refill(self, missing: int) -> bool:
        """Read until `missing` bytes are there; return False at the end of the file, raise if it is cut off."""
        have = self._stop - self._start
        left = self._chunk_buffer[self._start : self._stop]
        if have > CHUNK or not self._read_was_full:
            self._chunk_buffer = left
        else:
            # A long stream is read into one buffer: allocating one each time takes longer than reading into it.
            if len(self._chunk_buffer) != ROOM:
                self._chunk_buffer = bytearray(ROOM)
            self._chunk_buffer[:have] = left
        self._start, self._stop = 0, have
        while not self._ended:
            self._ended = not self._read()
            if self._ended or self._stop >= missing:
                break
        if self._progress is not None:
            self._progress(self._base + self._stop)
        if self._ended and (self._stop < missing or self._stop == have):
            if self._stop:
                problem = "the file ends in the middle of a record"
                rest = self._peek(self._stop)
                raise DamagedBackup(problem, frame=self._next, offset=self._base, rest=rest)
            return False
        return True

    def _read(self) -> int:
        """Read at most a chunk with one call of the source; return the number of bytes."""
        if len(self._chunk_buffer) - self._stop >= CHUNK and isinstance(self._source, io.BufferedIOBase):
            with memoryview(self._chunk_buffer)[self._stop : self._stop + CHUNK] as free:
                size = self._source.readinto(free)
        else:
            chunk = self._source.read(CHUNK)
            size = len(chunk)
            self._chunk_buffer[self._stop :] = chunk
        self._read_was_full = size == CHUNK
        self._stop += size
        return size
