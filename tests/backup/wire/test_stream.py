"""A stream is read lazily and in order, and damage has an offset."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.schema.backup_pb2 import AccountData, Recipient
from holdfast.backup.schema.backup_pb2 import Frame as FrameMessage
from holdfast.backup.wire import Block, FrameStream, StreamLimits, stream
from holdfast.backup.wire.faults import CUT
from holdfast.backup.wire.varint import encode_varint
from tests.backup.streams import is_single_message, record

HEADER = b"\x08\x01"
ACCOUNT = b"\x0a\x00"
FRAMES = st.lists(
    st.sampled_from([ACCOUNT, b"", b"\x22\x03\x08\x01\x48", b"\x4a" + record(b"x" * 500)]), max_size=30
)


class Dripping(io.RawIOBase):
    """A file that returns a few bytes for each read, as a pipe may."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__()
        self.data = data
        self.step = step

    def read(self, _size: int = -1, /) -> bytes:
        """Return the next few bytes."""
        out, self.data = self.data[: self.step], self.data[self.step :]
        return out


@given(frames=FRAMES, step=st.integers(1, 700))
def test_frames_come_back_as_written_however_they_arrive(frames: list[bytes], step: int) -> None:
    """Index, offset, body and bytes are right whatever the sizes of the reads."""
    data = b"".join(map(record, [HEADER, *frames]))
    reader = FrameStream(Dripping(data, step))  # type: ignore[arg-type]  # only read() is used
    assert reader.header == HEADER
    for index, (frame, raw) in enumerate(zip(reader, frames, strict=True), start=1):
        assert (frame.index, frame.raw) == (index, raw)
        assert data[frame.offset :].startswith(record(raw))
        assert data[frame.body : frame.body + len(raw)] == raw
    assert reader.offset == len(data)


@given(frames=FRAMES, step=st.integers(1, 700))
def test_blocks_hold_the_same_frames(frames: list[bytes], step: int) -> None:
    """For reads of any size the blocks join to the stream, with right indexes, offsets and counts."""
    data = b"".join(map(record, [HEADER, *frames]))
    blocks = list(FrameStream(Dripping(data, step)).blocks())  # type: ignore[arg-type]  # only read() is used
    assert record(HEADER) + b"".join(block.data for block in blocks) == data
    assert [frame.raw for block in blocks for frame in block] == frames
    index, offset = 1, len(record(HEADER))
    for block in blocks:
        assert (block.index, block.offset) == (index, offset)
        assert block.count == len(list(block))
        assert block.only_messages == all(is_single_message(frame.raw) for frame in block)
        index += block.count
        offset += len(block.data)


@given(frames=FRAMES.filter(bool))
def test_a_block_finds_the_frame_of_a_place(frames: list[bytes]) -> None:
    """Every byte of a frame's body, and the place behind an empty one, leads to that frame."""
    block = Block(7, 1000, b"".join(map(record, frames)))
    span_of = block.spans()
    for frame in block:
        for offset in {frame.body, frame.body + max(0, len(frame.raw) - 1)}:
            begin = frame.body - 1000
            assert span_of(offset - 1000) == (frame.index, begin, begin + len(frame.raw))
            assert block.frame_at(offset - 1000) == frame


def test_frames_that_were_counted_are_not_counted_again() -> None:
    """A given count is used, a missing one is computed, and blocks are equal with and without it."""
    data = record(b"a") + record(b"b")
    assert Block(1, 0, data).count == 2
    assert Block(1, 0, data, 7).count == 7
    assert Block(1, 0, data) == Block(1, 0, data, 2)
    assert "counted" not in repr(Block(1, 0, data, 2))


def test_a_block_names_a_fault_by_its_place_in_the_stream() -> None:
    """A fault has the frame and the byte of the stream, not those of the block."""
    damage = Block(7, 1000, b"").damaged(CUT, 3, 25)
    assert (damage.frame, damage.offset) == (10, 1025)
    assert "ends in the middle of a field" in str(damage)


def test_an_empty_file_is_said_to_be_empty() -> None:
    """An empty file is an UnreadableBackup."""
    with pytest.raises(UnreadableBackup, match="empty"):
        FrameStream(io.BytesIO())


def test_a_header_alone_is_a_stream_without_frames() -> None:
    """A stream of a header alone has no frames."""
    reader = FrameStream(io.BytesIO(record(HEADER)))
    assert list(reader) == []
    assert reader.offset == 3


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_truncated_stream_is_damaged_where_it_ends(cut: int) -> None:
    """A stream cut inside a record is an error with the frame and the byte where it begins."""
    complete = record(HEADER) + record(ACCOUNT)
    data = complete + record(b"\x22" + record(b"message"))[:-cut]
    if len(data) == len(complete):
        assert len(list(FrameStream(io.BytesIO(data)))) == 1
        return
    for take in (list, lambda reader: list(reader.blocks())):
        with pytest.raises(DamagedBackup, match="ends in the middle") as caught:
            take(FrameStream(io.BytesIO(data)))
        assert (caught.value.frame, caught.value.offset) == (2, len(complete))


@pytest.mark.parametrize("length", [b"\x80", b"\xff\xff", b"\x05\x08"])
def test_a_truncated_header_is_frame_zero(length: bytes) -> None:
    """A header cut in its length or body is an error of frame 0."""
    with pytest.raises(DamagedBackup, match=r"middle of a record \(frame 0, byte 0\)"):
        FrameStream(io.BytesIO(length))


def test_a_malformed_frame_is_located() -> None:
    """A malformed frame is an error with frame and byte once its kind or message is read."""
    data = record(HEADER) + record(ACCOUNT) + record(b"\x22\x05abc")
    frames = list(FrameStream(io.BytesIO(data)))
    for access in (lambda: frames[1].kind, lambda: frames[1].message):
        with pytest.raises(DamagedBackup, match=r"middle of a field \(frame 2, byte [79]\)") as caught:
            access()
        assert caught.value.frame == 2


def test_what_is_wrong_deep_inside_is_located() -> None:
    """Invalid UTF-8 is an error with frame and byte once the message is parsed."""
    frame = FrameMessage(account=AccountData(givenName="Anna")).SerializeToString().replace(b"Anna", b"An\xffa")
    data = record(HEADER) + record(frame)
    (located,) = FrameStream(io.BytesIO(data))
    assert located.kind == 1
    with pytest.raises(DamagedBackup, match=r"not UTF-8 \(frame 1, byte \d+\)") as caught:
        _ = located.message
    assert located.body <= caught.value.offset <= len(data)


def test_a_frame_gives_its_message() -> None:
    """The message of a frame is parsed on access, and equal each time."""
    message = FrameMessage(recipient=Recipient(id=5))
    (frame,) = FrameStream(io.BytesIO(record(HEADER) + record(message.SerializeToString())))
    assert frame.message == frame.message == message
    assert frame.kind == 2


def test_a_frame_over_the_limit_is_refused() -> None:
    """A frame over the limit of the caller is an error."""
    data = record(HEADER) + record(b"\x22" + record(bytes(100)))
    with pytest.raises(DamagedBackup, match=r"longer than is allowed \(frame 1, byte 3\)"):
        list(FrameStream(io.BytesIO(data), limits=StreamLimits(frame_bytes=100)))
    assert len(list(FrameStream(io.BytesIO(data), limits=StreamLimits(frame_bytes=102)))) == 1


def test_frames_before_the_damage_are_given_out() -> None:
    """Frames before the damage are returned before the error is raised."""
    reader = iter(FrameStream(io.BytesIO(record(HEADER) + record(ACCOUNT) * 3 + b"\xff" * 11)))
    assert [next(reader).raw for _ in range(3)] == [ACCOUNT] * 3
    with pytest.raises(DamagedBackup, match=r"does not end within ten bytes \(frame 4, byte 12\)"):
        next(reader)


def test_memory_does_not_follow_a_claimed_length() -> None:
    """A prefix that claims 200 MB costs no more than the bytes that are there."""
    data = record(HEADER) + encode_varint(200 << 20) + b"abc"
    tracemalloc.start()
    try:
        with pytest.raises(DamagedBackup):
            list(FrameStream(io.BytesIO(data)))
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_frame_larger_than_a_chunk_is_read_whole() -> None:
    """A frame of several chunks is read whole."""
    big = b"\x22" + record(bytes(3 * stream.CHUNK))
    data = record(HEADER) + record(big) + record(ACCOUNT)
    assert [frame.raw for frame in FrameStream(io.BytesIO(data))] == [big, ACCOUNT]


def test_progress_counts_up_to_the_size() -> None:
    """Progress grows, and the last call has the size of the stream."""
    data = record(HEADER) + record(ACCOUNT) * 10
    seen: list[int] = []
    list(FrameStream(io.BytesIO(data), progress=seen.append))
    assert seen == sorted(seen)
    assert seen[-1] == len(data)
