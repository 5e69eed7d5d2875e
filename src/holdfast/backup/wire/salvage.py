"""Reads a frame stream past places where it cannot be read, and says which bytes were passed over.

A stream has no marks to find one's way back by: once a length is wrong, everything behind it is read from wrong
places. So records are only believed in a row. One that cannot be taken apart, or holds nothing that looks like a
record, is kept if those behind it do and none begins inside of it: then only its content is damaged. Otherwise,
and where a length makes no sense, all bytes are passed over up to the next place from which on `IN_A_ROW`
records follow each other, or fewer that end with the stream. What stands last in a record ends where that ends,
and the records behind it would vouch for it: so the first of them must have what no part of a record has, its
ids and its content.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, TypeAlias

from holdfast.backup import schema
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.wire import frames, walk
from holdfast.backup.wire.stream import CHUNK, Block, FrameStream, Limits
from holdfast.backup.wire.varint import varint_at

__all__ = ["IN_A_ROW", "Gap", "OnGap", "SalvagedStream"]

IN_A_ROW: Final = 2
# A length of up to 28 bits, and the tag of one of the eight records.
CANDIDATE: Final = re.compile(rb"(?=[\x80-\xff]{0,3}[\x00-\x7f][\x0a\x12\x1a\x22\x2a\x32\x3a\x42])")
# How many bytes tell whether a candidate is one record and nothing else: two lengths and a tag.
HEAD: Final = 12
# While a place to go on from is searched, longer records prove nothing: reading them would take too much memory.
LONGEST_PROOF: Final = 16 << 20
DELIMITED: Final = 2
ID_SIZE: Final = 16
KEY_SIZE: Final = 32
# What is passed over is kept, so that it can be put back; there is an end to that.
MOST_LOST: Final = 512 << 20


@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that were passed over, before the frame that has the number `frame`, counted without them."""

    frame: int
    offset: int
    lost: bytes = field(repr=False)


OnGap: TypeAlias = Callable[[Gap], None]


class SalvagedStream(FrameStream):
    """A stream that goes on behind what cannot be read; `on_gap` is told of each place."""

    def __init__(
        self,
        source: BinaryIO,
        on_gap: OnGap,
        *,
        limits: Limits | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._on_gap = on_gap
        super().__init__(source, limits=limits, progress=progress)

    def blocks(self) -> Iterator[Block]:
        """Yield the frames that can be believed in."""
        while self._have(CHUNK) or self._buffer:
            end, count, broken = self._believed()
            if end:
                yield Block(self._next, self._base, self._buffer[:end])
            self._next += count
            self._drop(end)
            if broken:
                gap = self._base
                lost = self._pass_over()
                self._on_gap(Gap(self._next, gap, lost))

    def _believed(self) -> tuple[int, int, bool]:
        """Tell how far the buffer can be believed, how many frames that are, and whether it is broken there."""
        spans, rest, needed, fault = frames.split(self._buffer, 0, self._cap)
        begin = count = 0
        for start, end in spans:
            if not is_record(self._buffer[start:end]) and not (self._follows(end) and self._is_one(start, end)):
                return begin, count, True
            begin, count = end, count + 1
        if fault or self._ended_in(rest):
            return rest, count, True
        if needed and not is_plain(self._buffer[rest : rest + HEAD]) and needed - rest > LONGEST_PROOF:
            return rest, count, True
        if not count and needed:
            return 0, 0, not self._have(needed)
        return rest, count, False

    def _ended_in(self, rest: int) -> bool:
        """Tell whether the stream ends in the middle of the record that begins here."""
        return not self._have(len(self._buffer) + 1) and rest < len(self._buffer)

    def _follows(self, at: int) -> bool:
        """Tell whether records follow each other from a place of the buffer on, or the stream ends there."""
        for _ in range(IN_A_ROW):
            if not self._have(at + 1):
                return True
            self._have(at + HEAD)
            size, start = length_at(self._buffer, at)
            if not 0 <= size <= LONGEST_PROOF or not self._have(start + size):
                return False
            if not is_record(self._buffer[start : start + size]):
                return False
            at = start + size
        return True

    def _begins(self, at: int) -> bool:
        """Tell whether a record of its own begins at a place of the buffer, and others follow it."""
        size, start = length_at(self._buffer, at)
        if size > LONGEST_PROOF or not self._have(start + size) or not self._follows(at):
            return False
        return stands_alone(schema.Frame.FromString(self._buffer[start : start + size]))

    def _is_one(self, start: int, end: int) -> bool:
        """Tell whether no other record begins inside of one: a wrong length may end just where a record does."""
        for match in CANDIDATE.finditer(self._buffer, start, end):
            place = match.start()
            if is_plain(self._buffer[place : place + HEAD]) and self._begins(place):
                return False
        return True

    def _pass_over(self) -> bytes:
        """Drop all bytes up to the next place to go on from, and return them."""
        lost: list[bytes] = []
        at = 1
        while sum(map(len, lost)) <= MOST_LOST:
            whole = not self._have(CHUNK)
            buffer = self._buffer
            last = len(buffer) if whole else len(buffer) - HEAD
            for match in CANDIDATE.finditer(buffer, at):
                place = match.start()
                if place >= last:
                    break
                if is_plain(buffer[place : place + HEAD]) and self._begins(place):
                    lost.append(self._drop(place))
                    return b"".join(lost)
            lost.append(self._drop(last))
            if whole:
                return b"".join(lost)
            at = 0
        raise DamagedBackup(
            f"more than {MOST_LOST:,} bytes in a row cannot be read, too many to keep",
            frame=self._next,
            offset=self._base,
        )

    def _have(self, size: int) -> bool:
        """Read on until the buffer holds so many bytes; return whether it does."""
        parts = [self._buffer]
        have = len(self._buffer)
        while have < size and not self._ended:
            chunk = self._source.read(CHUNK)
            self._ended = not chunk
            parts.append(chunk)
            have += len(chunk)
        if len(parts) > 1:
            self._buffer = b"".join(parts)
            if self._progress is not None:
                self._progress(self._base + have)
        return have >= size

    def _drop(self, size: int) -> bytes:
        """Take bytes off the beginning of the buffer."""
        dropped, self._buffer = self._buffer[:size], self._buffer[size:]
        self._base += size
        return dropped


def is_record(raw: bytes) -> bool:
    """Tell whether a frame can be taken apart, and holds a record that is known or else is but one field."""
    kind, fault, _at = frames.kind_of(raw)
    if fault or not (kind or is_one_field(raw)):
        return False
    return not walk.look(raw).fault


def is_one_field(raw: bytes) -> bool:
    """Tell whether a frame is one field with a length, as that of a record nobody knows yet would be."""
    tag, start = length_at(raw, 0)
    size, body = length_at(raw, start)
    return tag & 7 == DELIMITED and size >= 0 and body + size == len(raw)


def stands_alone(frame: schema.Frame) -> bool:
    """Tell whether a frame holds what all records of its kind do, and what stands inside of others does not."""
    account, recipient, chat, item = frame.account, frame.recipient, frame.chat, frame.chatItem
    match frame.WhichOneof("item"):
        case "account":
            return len(account.profileKey) == KEY_SIZE and account.HasField("accountSettings")
        case "recipient":
            return bool(recipient.id) and recipient.WhichOneof("destination") is not None
        case "chat":
            return bool(chat.id and chat.recipientId)
        case "chatItem":
            return bool(item.chatId and item.authorId) and item.WhichOneof("item") is not None
        case "stickerPack":
            return len(frame.stickerPack.packId) == ID_SIZE and len(frame.stickerPack.packKey) == KEY_SIZE
        case "adHocCall":
            return bool(frame.adHocCall.recipientId and frame.adHocCall.callTimestamp)
        case "notificationProfile":
            return len(frame.notificationProfile.id) == ID_SIZE
        case "chatFolder":
            return len(frame.chatFolder.id) == ID_SIZE
        case _:
            return False


def is_plain(head: bytes) -> bool:
    """Tell by how a frame begins, its length included, whether it is one record and nothing else."""
    size, start = length_at(head, 0)
    inner, body = length_at(head, start + 1)
    return size > 0 and inner >= 0 and body + inner == start + size


def length_at(data: bytes, pos: int) -> tuple[int, int]:
    """Read a length of up to 28 bits, and return it with the place behind it; -1 where there is none."""
    for end in range(pos, min(pos + 4, len(data))):
        if data[end] < 0x80:
            return varint_at(data, pos)
    return -1, pos
