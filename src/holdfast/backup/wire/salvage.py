"""Reads a damaged frame stream: skips what cannot be read, resynchronizes, and reports what was skipped.

The format has no synchronization marks: after a wrong length, everything that follows is read at wrong offsets.
But a record is a single field of its frame, so its length is written twice: as the length prefix of the frame and
as that of the field. If the two agree, the record is accepted ("plain"). A record that is not plain is accepted if
records follow it and none begins inside it: then only its content is damaged, or of a newer version of the format.
Otherwise, and if a length is implausible, bytes are skipped up to the next offset from which `IN_A_ROW` records,
or fewer that end with the stream, follow each other. A nested message at the end of a record is followed by the
same records as the record itself; so the first record after a gap must have what no nested message has, its ids
and its content.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, TypeAlias

from holdfast.backup import schema
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.wire import faults, frames, walk
from holdfast.backup.wire.stream import CHUNK, Block, FrameStream, StreamLimits
from holdfast.backup.wire.varint import varint_at
from holdfast.redacted_repr import redacted

__all__ = ["IN_A_ROW", "Gap", "OnGap", "SalvagedStream", "is_plain"]

IN_A_ROW: Final = 2
# The longest run of damaged or empty records that is accepted; a longer one means that the offset is wrong.
ODD_IN_A_ROW: Final = 16
# The tags of the eight records.
TAGS: Final = b"\x0a\x12\x1a\x22\x2a\x32\x3a\x42"
# The beginning of a possible frame: a length of up to 28 bits, and one of the tags.
CANDIDATE: Final = re.compile(rb"(?=[\x80-\xff]{0,3}[\x00-\x7f][" + TAGS + rb"])")
# Frames of length 0, and how many of them are skipped to look at what follows.
EMPTY: Final = re.compile(rb"\x00*")
MOST_EMPTY: Final = 1 << 18
# The bytes that decide whether a candidate is plain: two lengths and a tag.
HEAD: Final = 12
# During resynchronization longer records are not considered: reading them would take too much memory.
LONGEST_PROOF: Final = 16 << 20
# A bound on repeated reading during resynchronization: short records are unlimited, longer ones have a common
# budget. In a crafted file every offset could claim to be the beginning of a long record.
SHORT_PROOF: Final = 1 << 12
MOST_PROOF: Final = 1 << 30
DELIMITED: Final = 2
ID_SIZE: Final = 16
KEY_SIZE: Final = 32
# The most bytes of a gap that are kept, so that they can be restored.
MOST_LOST: Final = 512 << 20


@redacted
@dataclass(frozen=True, slots=True)
class Gap:
    """Bytes that were skipped before frame `frame`; frame numbers do not count what was skipped.

    `fault` is the fault of the length at that offset, 0 if it is only implausible. `lost` has the bytes, if they
    are kept. A record written as JSON has no bytes in the stream: `problem` says what is wrong with it, and where.
    """

    frame: int
    offset: int
    size: int
    fault: int = 0
    lost: bytes = field(default=b"", repr=False)
    problem: DamagedBackup | None = None

    @property
    def place(self) -> str:
        """The place of a record written as JSON; empty for bytes of a stream."""
        damaged_backup = self.problem
        return (
            ""
            if damaged_backup is None
            else f"{damaged_backup.unit} {damaged_backup.offset:,} of the {damaged_backup.stream}"
        )


OnGap: TypeAlias = Callable[[Gap], None]


class SalvagedStream(FrameStream):
    """A stream that skips what cannot be read; `on_gap` is called for each gap, before the frames that follow it.

    With `keep`, a gap has the bytes that were skipped.
    """

    def __init__(
        self,
        source: BinaryIO,
        on_gap: OnGap,
        *,
        keep: bool = True,
        limits: StreamLimits | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        self._on_gap = on_gap
        self._keep = keep
        self._proof = 0
        super().__init__(source, limits=limits, progress=progress)
        # From here on the unread bytes are in one `bytes` object, which can be searched.
        self._buffer = self._peek(self._stop)
        self._chunk_buffer.clear()

    def blocks(self) -> Iterator[Block]:
        """Yield the frames that are accepted."""
        while self._fill(CHUNK) or self._buffer:
            at = 0
            broken: int | None = 0
            while broken is not None:
                end, count, broken, only_messages = self._accepted(at)
                if count:
                    data = self._buffer[at:end]
                    yield Block(self._next, self._base + at, data, count, only_messages=only_messages)
                self._next += count
                at = end
                if broken is not None:
                    gap = self._base + at
                    at, lost = self._resynchronize(at)
                    self._on_gap(Gap(self._next, gap, self._base + at - gap, broken, lost))
            self._drop(at)

    def _accepted(self, at: int) -> tuple[int, int, int | None, bool]:
        """Return the end of the accepted frames, their number, the fault found there, if any, and `only_messages`.

        The last frame is accepted only once what follows it has been read.
        """
        before, count, items = at, 0, 0
        while True:
            more, messages, last, rest, needed, fault, odd = frames.measure_plain(self._buffer, at, self._cap)
            items += messages
            if more:
                before, count = last, count + more
            if odd == rest + 1:
                # There may be any number of empty frames in a row; they are accepted at once.
                end = self._end_of_empty_frames(rest)
                if end - rest == MOST_EMPTY:
                    return end, count + MOST_EMPTY, None, False
                if self._records_follow_soon(end):
                    before, count, at = end - 1, count + end - rest, end
                    continue
            elif odd and self._has_correct_length(rest, odd):
                before, count, at = rest, count + 1, odd
                continue
            whole = rest == len(self._buffer)
            if odd or fault or self._is_implausible(rest, needed) or (not whole and self._ended):
                if count and self._contains_records(before):
                    return before, count - 1, 0, count == items
                return rest, count, 0 if odd else fault or faults.CUT, count == items
            if self._ended:
                return rest, count, None, count == items
            if count > 1:
                return before, count - 1, None, count == items
            self._fill(max(needed, len(self._buffer) + CHUNK))
            at = rest

    def _is_implausible(self, rest: int, needed: int) -> bool:
        """Return whether an incomplete record claims an implausible length."""
        return needed - rest > LONGEST_PROOF and not is_plain(self._buffer[rest : rest + HEAD])

    def _record(self, at: int) -> bytes:
        """Return the complete record at an offset of the buffer."""
        size, start = varint_at(self._buffer, at)
        return self._buffer[start : start + size]

    def _contains_records(self, at: int) -> bool:
        """Return whether a record contains others: its length is damaged and too large."""
        raw = self._record(at)
        if is_record(raw):
            return False
        start = varint_at(self._buffer, at)[1]
        return not self._is_single_record(start, start + len(raw))

    def _has_correct_length(self, at: int, end: int) -> bool:
        """Return whether the length of a complete record that is not plain is correct."""
        return self._records_follow_soon(end) and (
            is_record(self._record(at)) or self._ends_between_records(at, end)
        )

    def _ends_between_records(self, at: int, end: int) -> bool:
        """Return whether a damaged record ends neither inside another record nor after the beginning of one.

        Its two lengths differ: the outer one is accepted if records follow its end, or do not follow the inner
        end.
        """
        start = varint_at(self._buffer, at)[1]
        if start < end and self._buffer[start] in TAGS:
            size, body = length_at(self._buffer, start + 1)
            other = body + size
            if end < other <= end + LONGEST_PROOF and self._fill(other) and self._records_follow(other):
                return self._can_resume(end) and self._is_single_record(start, end)
        return self._is_single_record(start, end)

    def _records_follow_soon(self, at: int) -> bool:
        """Return whether records follow each other shortly after an offset, or the stream ends there.

        Some empty or damaged records may come first.
        """
        good = 0
        for _ in range(ODD_IN_A_ROW):
            if good == IN_A_ROW or not self._fill(at + 1):
                return True
            if not self._buffer[at]:
                end = self._end_of_empty_frames(at)
                if end - at == MOST_EMPTY:
                    return True
                at, good = end, 0
                continue
            end = self._end_of(at)
            if not end:
                return False
            if is_record(self._record(at)):
                good += 1
            elif self._ends_between_records(at, end):
                good = 0
            else:
                return False
            at = end
        return good == IN_A_ROW

    def _records_follow(self, at: int) -> bool:
        """Return whether records follow each other from an offset on, or the stream ends there."""
        for _ in range(IN_A_ROW):
            if not self._fill(at + 1):
                return True
            end = self._end_of(at)
            if not end or not is_record(self._record(at)):
                return False
            at = end
        return True

    def _end_of_empty_frames(self, at: int) -> int:
        """Return the end of the run of empty frames at an offset; a very long run is cut off."""
        most = at + MOST_EMPTY
        self._fill(most + 1)
        run = EMPTY.match(self._buffer, at, most)
        return at if run is None else run.end()

    def _end_of(self, at: int) -> int:
        """Return the end of the record at an offset, 0 if it is too long or incomplete."""
        self._fill(at + HEAD)
        size, start = length_at(self._buffer, at)
        return start + size if 0 <= size <= LONGEST_PROOF and self._fill(start + size) else 0

    def _record_begins(self, at: int) -> bool:
        """Return whether a top-level record begins at an offset, and others follow it."""
        size, start = length_at(self._buffer, at)
        if size > SHORT_PROOF:
            self._proof += size
        if size > LONGEST_PROOF or (size > SHORT_PROOF and self._proof > MOST_PROOF):
            return False
        if not self._fill(start + size) or not self._records_follow(at):
            return False
        return stands_alone(schema.Frame.FromString(self._buffer[start : start + size]))

    def _is_single_record(self, start: int, end: int) -> bool:
        """Return whether no other record begins inside one: a wrong length may end where a record does."""
        return not any(self._can_resume(match.start()) for match in CANDIDATE.finditer(self._buffer, start, end))

    def _can_resume(self, place: int) -> bool:
        """Return whether reading can resume at an offset: a plain top-level record begins there."""
        return is_plain(self._buffer[place : place + HEAD]) and self._record_begins(place)

    def _resynchronize(self, at: int) -> tuple[int, bytes]:
        """Resynchronize: return the offset at which reading resumes, and the skipped bytes if they are kept."""
        lost: list[bytes] = []
        begin, at = at, at + 1
        while sum(map(len, lost)) <= MOST_LOST:
            whole = not self._fill(at + CHUNK)
            buffer = self._buffer
            last = len(buffer) if whole else len(buffer) - HEAD
            for match in CANDIDATE.finditer(buffer, at):
                place = match.start()
                if place >= last:
                    break
                if self._can_resume(place):
                    return place, b"".join([*lost, buffer[begin:place]]) if self._keep else b""
            if self._keep:
                lost.append(buffer[begin:last])
            if whole:
                return last, b"".join(lost)
            self._drop(last)
            begin = at = 0
        raise DamagedBackup(
            f"more than {MOST_LOST:,} bytes in a row cannot be read, too many to keep",
            frame=self._next,
            offset=self._base,
        )

    def _fill(self, size: int) -> bool:
        """Read until the buffer holds so many bytes; return whether it does."""
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

    def _drop(self, size: int) -> None:
        """Remove bytes from the beginning of the buffer."""
        self._buffer = self._buffer[size:]
        self._base += size


def is_record(raw: bytes) -> bool:
    """Return whether a frame is well-formed, and holds a known record or else a single field."""
    kind, fault, _at = frames.kind_of(raw)
    if fault or not (kind or is_one_field(raw)):
        return False
    return not walk.walk_record(raw).fault


def is_one_field(raw: bytes) -> bool:
    """Return whether a frame is a single length-delimited field, as a record of a newer format would be."""
    tag, start = length_at(raw, 0)
    size, body = length_at(raw, start)
    return tag & 7 == DELIMITED and size >= 0 and body + size == len(raw)


def stands_alone(frame: schema.Frame) -> bool:
    """Return whether a frame has the fields that all records of its kind have and nested messages have not."""
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
    """Return whether a frame is plain, judged by its first bytes, the length prefix included."""
    size, start = length_at(head, 0)
    inner, body = length_at(head, start + 1)
    return size > 0 and head[start] in TAGS and inner >= 0 and body + inner == start + size


def length_at(data: bytes, pos: int) -> tuple[int, int]:
    """Read a length of up to 28 bits; return it and the offset after it, -1 if there is none."""
    for end in range(pos, min(pos + 4, len(data))):
        if data[end] < 0x80:
            return varint_at(data, pos)
    return -1, pos
