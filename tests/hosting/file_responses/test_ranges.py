"""Parsing of Range headers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.file_responses.ranges import ByteRange, Unsatisfiable, parse_range_header


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("", []),
        ("bytes=0-0", [ByteRange(0, 1)]),
        ("Bytes = 2-", [ByteRange(2, 10)]),
        ("bytes=-3", [ByteRange(7, 10)]),
        ("bytes=-30", [ByteRange(0, 10)]),
        ("bytes= 0-1 ,\t4-4,20-", [ByteRange(0, 2), ByteRange(4, 5)]),
        ("bytes=0-,0-", []),
        ("bytes=3-2", []),
        ("bytes=0-1,3-2", []),
        ("bytes=3-2,0-1", []),
        ("bytes=00000000000000000000002-0000000000000000000000003", [ByteRange(2, 4)]),
        (f"bytes=2-{'9' * 5000}", [ByteRange(2, 10)]),
        (f"bytes=-{'9' * 5000}", [ByteRange(0, 10)]),
        ("bytes=1-2-3", []),
        ("bytes=--1", []),
        ("bytes=+1-2", []),
        ("bytes=,", []),
        ("bytes==1-2", []),
        ("0-1", []),
        ("bytes=" + ",".join(["0-0"] * 40), []),
        ("bytes=\u0661-\u0662", []),
    ],
)
def test_ranges_are_parsed_as_the_standard_says(header: str, parts: list[ByteRange]) -> None:
    """Invalid ranges, repeated ones and too many of them are ignored, so that the whole file is served."""
    assert parse_range_header(header, 10) == parts


def test_ranges_outside_are_refused() -> None:
    """A range that begins after the end of the content, or has no bytes, is unsatisfiable."""
    for header in ("bytes=10-", "bytes=-0", f"bytes={'9' * 5000}-"):
        with pytest.raises(Unsatisfiable):
            parse_range_header(header, 10)


@given(st.text("bytes=0123456789-, ", max_size=30), st.integers(0, 200))
def test_ranges_lie_inside_the_content(header: str, size: int) -> None:
    """Any range header has only ranges within the content, or is unsatisfiable."""
    try:
        parts = parse_range_header(f"bytes={header}", size)
    except Unsatisfiable:
        return
    assert all(0 <= part.start < part.stop <= size for part in parts)
