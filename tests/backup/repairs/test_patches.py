"""Frames are replaced, dropped and moved, and the others are passed through."""

import io
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.repairs.patches import Patches, apply_patches, records_in
from tests.backup.streams import HEADER, empty_frame, record, stream_of
from tests.backup.wire.encoding import delimited, varint

FRAMES = [delimited(kind, b"x" * kind) for kind in range(1, 8)]


def patched_frames(frames: list[bytes], replacements: dict[int, tuple[bytes, ...]]) -> list[bytes]:
    """Read a patched backup."""
    with backup.open(io.BytesIO(stream_of([HEADER, *frames]))) as source:
        patched = apply_patches(source, Patches(replacements))
        read = [frame.raw for frame in patched]
        assert [frame.index for frame in patched] == list(range(1, len(read) + 1))
        assert patched.size == len(stream_of([HEADER, *read]))
        return read


def test_each_place_gets_what_replaces_it() -> None:
    """A frame is replaced by no record, by one, or by several."""
    new = record(b"new")
    assert patched_frames(FRAMES, {}) == FRAMES
    assert patched_frames(FRAMES, {1: ()}) == FRAMES[1:]
    assert patched_frames(FRAMES, {7: (new,)}) == [*FRAMES[:6], b"new"]
    assert patched_frames(FRAMES, {3: (new, record(FRAMES[2])), 5: ()}) == [
        *(*FRAMES[:2], b"new", *FRAMES[2:4]),
        *FRAMES[5:],
    ]


def test_lengths_written_oddly_stay_so() -> None:
    """Overlong length prefixes beside a replaced frame are kept."""
    padded = varint(2, size=3) + b"\x0a\x00"
    stream = record(HEADER) + padded + empty_frame(2) + padded
    with backup.open(io.BytesIO(stream)) as source:
        (block,) = apply_patches(source, Patches({2: ()})).blocks()
    assert block.data == padded + padded
    assert list(records_in(block.data)) == [padded, padded]


@settings(max_examples=100)
@given(
    count=st.integers(1, 12),
    places=st.dictionaries(st.integers(1, 12), st.integers(0, 3), max_size=6),
)
def test_every_frame_knows_where_it_came_from(count: int, places: dict[int, int]) -> None:
    """The origin of a frame is its number in the original and its index among the replacements."""
    chosen = {frame: size for frame, size in places.items() if frame <= count}
    patches = Patches({frame: (b"",) * size for frame, size in chosen.items()})

    def expected() -> Iterator[tuple[int, int]]:
        for frame in range(1, count + 1):
            yield from ((frame, copy) for copy in range(chosen.get(frame, 1)))

    origins = list(expected())
    assert [patches.origin(frame) for frame in range(1, len(origins) + 1)] == origins


@pytest.mark.parametrize(("first", "last", "touched"), [(1, 2, False), (1, 3, True), (3, 9, True), (4, 9, False)])
def test_a_block_knows_whether_it_is_touched(first: int, last: int, touched: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """A block is touched if a patched frame is in it, so the other blocks need not be parsed."""
    assert Patches({3: ()}).touches(first, last) is touched
