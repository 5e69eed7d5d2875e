"""A damaged stream is resynchronized, and every byte is either in a frame or reported as lost."""

import io
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.wire import salvage
from holdfast.backup.wire.salvage import Gap, SalvagedStream
from holdfast.backup.wire.varint import encode_varint
from tests.backup.streams import is_single_message, record, sample, stream_of
from tests.backup.wire.encoding import delimited

RECORDS = sample(300)


class Drip(io.BytesIO):
    """A file that returns at most one KiB for each read."""

    def read(self, size: int | None = -1, /) -> bytes:
        """Read at most a kilobyte."""
        return super().read(min(1024, size) if size is not None and size > 0 else 1024)


def read(data: bytes) -> tuple[list[bytes], list[Gap]]:
    """Read the frames and the gaps of a stream, and check that together they are the whole stream."""
    gaps: list[Gap] = []
    stream = SalvagedStream(Drip(data), gaps.append)
    raws: list[bytes] = []
    pieces = {0: record(stream.header)}
    for block in stream.blocks():
        assert block.index == len(raws) + 1
        pieces[block.offset] = block.data
        raws += (frame.raw for frame in block)
        assert not block.only_messages or all(is_single_message(frame.raw) for frame in block)
    pieces |= {gap.offset: gap.lost for gap in gaps}
    assert b"".join(pieces[offset] for offset in sorted(pieces)) == data
    assert all(0 < gap.frame <= len(raws) + 1 and gap.lost for gap in gaps)
    return raws, gaps


def split(records: tuple[bytes, ...], index: int) -> tuple[bytes, bytes, bytes]:
    """Take a stream apart: before a frame, that frame, and behind it."""
    return stream_of(records[:index]), record(records[index]), stream_of(records[index + 1 :])


def test_a_whole_stream_is_read_whole() -> None:
    """An undamaged stream gives all frames and no gap."""
    assert read(stream_of(RECORDS)) == (list(RECORDS[1:]), [])


def test_blocks_that_have_only_messages_are_marked() -> None:
    """A block of messages is marked, whatever follows it in the stream."""
    messages = 50 * [raw for raw in RECORDS[1:] if is_single_message(raw)]
    for end in (b"", b"\xff" * 12, record(b""), record(RECORDS[1])):
        stream = SalvagedStream(io.BytesIO(stream_of([RECORDS[0], *messages]) + end), lambda _gap: None)
        marked = [frame.raw for block in stream.blocks() if block.only_messages for frame in block]
        assert messages[: len(marked)] == marked
        assert len(marked) > len(messages) // 2


@pytest.mark.parametrize("index", [1, 2, 150, len(RECORDS) - 3, len(RECORDS) - 2])
@pytest.mark.parametrize("wrong", [b"\xff" * 12, b"\xff\xff\xff\xff\x7f", b"\xff\xff\xff\x7f"])
def test_a_senseless_length_loses_its_record_only(index: int, wrong: bytes) -> None:
    """An invalid or too large length loses only its own record, anywhere in the stream."""
    before, _record, after = split(RECORDS, index)
    raws, gaps = read(before + wrong + RECORDS[index] + after)
    assert raws == [*RECORDS[1:index], *RECORDS[index + 1 :]]
    assert [(gap.frame, gap.offset, gap.lost) for gap in gaps] == [(index, len(before), wrong + RECORDS[index])]


@pytest.mark.parametrize("by", [-40, -1, 1, 40, 5000])
def test_a_length_that_is_a_little_wrong_loses_little(by: int) -> None:
    """A length that is off by a few bytes loses only its own record."""
    before, _record, after = split(RECORDS, 100)
    raws, gaps = read(before + encode_varint(max(1, len(RECORDS[100]) + by)) + RECORDS[100] + after)
    assert raws == [*RECORDS[1:100], *RECORDS[101:]]
    assert len(gaps) == 1


def test_a_record_that_is_damaged_inside_is_no_gap() -> None:
    """A record with damaged or unknown content is returned, since the next record follows it."""
    broken = (*RECORDS[:50], b"\x22\xff\xff", *RECORDS[51:])
    assert read(stream_of(broken)) == (list(broken[1:]), [])
    unknown = (*RECORDS[:50], delimited(60, b"newer"), *RECORDS[51:])
    assert read(stream_of(unknown)) == (list(unknown[1:]), [])


def test_a_damaged_record_ends_where_one_can_go_on() -> None:
    """A damaged record ends where the next one can be read, also if an inner length reaches beyond it."""
    for cut in (1, 2, 5):
        short = RECORDS[50][:cut] if cut > 1 else b"\x22"
        broken = (*RECORDS[:50], short, *RECORDS[51:])
        assert read(stream_of(broken)) == (list(broken[1:]), [])
    inner = len(record(RECORDS[51])) + 3
    broken = (*RECORDS[:50], b"\x22" + encode_varint(inner) + b"\x08\x01\xff", *RECORDS[51:])
    assert read(stream_of(broken)) == (list(broken[1:]), [])


@pytest.mark.parametrize("many", [1, 15, 16, 17, 300, salvage.MOST_EMPTY - 1, salvage.MOST_EMPTY, 600_000])
@pytest.mark.parametrize("index", [1, 150, len(RECORDS)])
def test_empty_frames_are_frames_however_many_there_are(index: int, many: int) -> None:
    """The format says that an importer skips a frame without a record; nothing is lost before or behind them."""
    gaps: list[Gap] = []
    data = stream_of(RECORDS[:index]) + bytes(many) + stream_of(RECORDS[index:])
    stream = SalvagedStream(io.BytesIO(data), gaps.append)
    counts = [(block.count, len(block.data)) for block in stream.blocks()]
    assert gaps == []
    assert sum(count for count, _size in counts) == len(RECORDS) - 1 + many
    assert sum(size for _count, size in counts) == len(data) - len(record(RECORDS[0]))


def test_zeros_in_the_place_of_records_are_lost_with_what_they_destroyed() -> None:
    """After a hole of zeros in the middle of two records, the later records are read."""
    stream = stream_of(RECORDS)
    data = stream[:2000] + bytes(500) + stream[2500:]
    raws, gaps = read(data)
    assert gaps
    assert raws[-100:] == list(RECORDS[-100:])


def test_a_cut_off_end_is_lost() -> None:
    """A truncated last record is a gap, and all records before it are read."""
    data = stream_of(RECORDS)
    raws, (gap,) = read(data[:-3])
    assert raws == list(RECORDS[1:-1])
    assert gap.offset + len(gap.lost) == len(data) - 3


def test_bytes_put_in_between_are_lost() -> None:
    """Inserted zeros and noise are gaps, and all records before and after them are read."""
    before, middle, after = split(RECORDS, 200)
    for noise in (bytes(5000), random.Random(1).randbytes(5000), b"\xff" * 300_000):
        raws, gaps = read(before + noise + middle + after)
        assert raws[:199] == list(RECORDS[1:200])
        assert raws[-len(RECORDS) + 200 :] == list(RECORDS[200:])
        assert b"".join(gap.lost for gap in gaps) in noise


def test_a_stream_of_which_nothing_is_left_is_lost() -> None:
    """Noise after a header is one gap without frames, and a stream without a header is an error."""
    noise = random.Random(2).randbytes(200_000)
    raws, gaps = read(record(RECORDS[0]) + b"\xff" * 12 + noise)
    assert (raws, len(gaps)) == ([], 1)
    with pytest.raises((DamagedBackup, UnreadableBackup)):
        read(b"\xff" * 12 + stream_of(RECORDS))


def test_there_is_an_end_to_what_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unreadable bytes over a limit are an error, so memory is bounded."""
    monkeypatch.setattr(salvage, "MOST_LOST", 10_000)
    monkeypatch.setattr(salvage, "CHUNK", 4096)
    with pytest.raises(DamagedBackup, match="cannot be read"):
        read(stream_of(RECORDS[:10]) + b"\xff" * 40_000)


# A wrong length that ends just where a record does: one long record, and all in it lost.
@example(seed=4119)
@example(seed=13450)
@example(seed=13636)
@settings(max_examples=60)
@given(seed=st.integers(0, 1 << 32))
def test_whatever_happens_to_a_stream_most_of_it_is_read(seed: int) -> None:
    """After three random changes of bytes, all but a few frames are read."""
    rng = random.Random(seed)
    data = bytearray(stream_of(RECORDS))
    first = len(record(RECORDS[0]))
    for _ in range(3):
        offset = rng.randrange(first, len(data))
        size = rng.randrange(1, 20)
        data[offset : offset + rng.choice((0, size))] = rng.randbytes(rng.choice((0, size)))
    raws, _gaps = read(bytes(data))
    assert len(set(RECORDS[1:]) - set(raws)) <= 3 * 4
