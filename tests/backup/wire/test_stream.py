"""A stream is read lazily, in order, and damage is located."""

import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.wire import FrameStream, Limits, stream
from tests.backup.wire.test_frames import record, varint

HEADER = b"\x08\x01"
ACCOUNT = b"\x0a\x00"


class Dripping(io.RawIOBase):
    """A source that gives a few bytes at a time, as a pipe may."""

    def __init__(self, data: bytes, step: int) -> None:
        super().__init__()
        self.data = data
        self.step = step

    def read(self, _size: int = -1, /) -> bytes:
        """Give the next few bytes."""
        out, self.data = self.data[: self.step], self.data[self.step :]
        return out


@given(
    frames=st.lists(
        st.sampled_from([ACCOUNT, b"", b"\x22\x03\x08\x01\x48", b"\x4a" + record(b"x" * 500)]), max_size=30
    ),
    step=st.integers(1, 700),
)
def test_frames_come_back_as_written_however_they_arrive(frames: list[bytes], step: int) -> None:
    """Index, offset and bytes are right whatever the sizes of the reads."""
    data = b"".join(map(record, [HEADER, *frames]))
    reader = FrameStream(Dripping(data, step))  # type: ignore[arg-type]  # only read() is used
    assert reader.header == HEADER
    for index, (frame, raw) in enumerate(zip(reader, frames, strict=True), start=1):
        assert (frame.index, frame.raw) == (index, raw)
        assert data[frame.offset :].startswith(record(raw))
    tally = FrameStream(io.BytesIO(data)).tally()
    assert (tally.frames, tally.bytes) == (len(frames), len(data))


def test_an_empty_file_is_said_to_be_empty() -> None:
    """No bytes at all is not a backup."""
    with pytest.raises(UnreadableBackup, match="empty"):
        FrameStream(io.BytesIO())


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_truncated_stream_is_damaged_where_it_ends(cut: int) -> None:
    """Cut anywhere inside a record: the error names the frame and where it begins."""
    whole = record(HEADER) + record(ACCOUNT)
    data = whole + record(b"\x22" + record(b"message"))[:-cut]
    if len(data) == len(whole):
        assert FrameStream(io.BytesIO(data)).tally().frames == 1
        return
    for take in (list, FrameStream.tally):
        with pytest.raises(DamagedBackup, match="ends in the middle") as caught:
            take(FrameStream(io.BytesIO(data)))
        assert (caught.value.frame, caught.value.offset) == (2, len(whole))


def test_a_malformed_frame_is_located() -> None:
    """A frame whose inside is broken is named by number and byte."""
    data = record(HEADER) + record(ACCOUNT) + record(b"\x22\x05abc")
    with pytest.raises(DamagedBackup, match=r"middle of a field \(frame 2, byte 9\)"):
        FrameStream(io.BytesIO(data)).tally()
    frames = list(FrameStream(io.BytesIO(data)))
    with pytest.raises(DamagedBackup, match=r"\(frame 2, byte 9\)"):
        _ = frames[1].kind


def test_a_frame_over_the_limit_is_refused() -> None:
    """The cap is a setting of the caller."""
    data = record(HEADER) + record(b"\x22" + record(bytes(100)))
    with pytest.raises(DamagedBackup, match=r"longer than is allowed \(frame 1, byte 3\)"):
        list(FrameStream(io.BytesIO(data), limits=Limits(frame_bytes=100)))


def test_memory_does_not_follow_a_claimed_length() -> None:
    """A prefix that claims 200 MB costs no more than the bytes that are there."""
    data = record(HEADER) + varint(200 << 20) + b"abc"
    tracemalloc.start()
    try:
        with pytest.raises(DamagedBackup):
            FrameStream(io.BytesIO(data)).tally()
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1 << 20


def test_a_frame_larger_than_a_chunk_is_read_whole() -> None:
    """Frames may span many reads."""
    big = b"\x22" + record(bytes(3 * stream.CHUNK))
    data = record(HEADER) + record(big) + record(ACCOUNT)
    assert [frame.raw for frame in FrameStream(io.BytesIO(data))] == [big, ACCOUNT]


def test_progress_counts_up_to_the_size() -> None:
    """The last call tells the whole size."""
    data = record(HEADER) + record(ACCOUNT) * 10
    seen: list[int] = []
    FrameStream(io.BytesIO(data), progress=seen.append).tally()
    assert seen == sorted(seen)
    assert seen[-1] == len(data)
