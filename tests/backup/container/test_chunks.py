"""Conversion between iterators of chunks and file objects."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.container.chunks import CHUNK, as_file, read_chunks, zeros


@given(st.lists(st.binary(max_size=40)), st.integers(1, 50))
def test_a_file_of_chunks_reads_as_what_they_are_together(chunks: list[bytes], step: int) -> None:
    """Reads of any size return the chunks joined together; an empty chunk does not end the file."""
    file = as_file(iter(chunks))
    read = b"".join(iter(lambda: file.read(step), b""))
    assert b"".join(chunks) == read
    assert file.read() == b""


def test_what_failed_keeps_failing() -> None:
    """After an error, each further read raises it again instead of returning an end of file."""

    def chunks() -> Iterator[bytes]:
        yield b"good"
        raise ValueError("broken")

    file = as_file(chunks())
    assert file.read(4) == b"good"
    for _ in range(3):
        with pytest.raises(ValueError, match="broken"):
            file.read(1)


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK])
def test_a_source_is_read_in_whole_chunks(size: int) -> None:
    """Only the last chunk is short, and nothing after the wanted bytes is read from the source."""
    source = io.BytesIO(bytes(size) + b"rest")
    lengths = [len(chunk) for chunk in read_chunks(source, size)]
    assert size == sum(lengths)
    assert all(length == CHUNK for length in lengths[:-1])
    assert source.read() == b"rest"


def test_chunks_are_whole_even_if_the_source_gives_less(tmp_path: Path) -> None:
    """Chunks are filled by several reads if the source returns fewer bytes at once."""
    pieces = as_file(iter([b"ab", b"c", b"defg"])).detach()  # type: ignore[attr-defined]  # the unbuffered reader
    assert list(read_chunks(pieces, 6)) == [b"abcdef"]


def test_a_source_that_ends_early_ends_the_chunks() -> None:
    """Fewer bytes than wanted are returned as they are; the caller counts."""
    assert list(read_chunks(io.BytesIO(b"abc"), 10)) == [b"abc"]


@pytest.mark.parametrize("size", [0, 1, CHUNK, CHUNK + 1])
def test_zeros(size: int) -> None:
    """The chunks of zeros have the requested length together."""
    assert bytes(size) == b"".join(zeros(size))
