"""Streams as iterators of chunks, and iterators of chunks as files.

Everything in this room passes bytes on in chunks, so that memory stays flat however large a file is.
"""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["CHUNK", "Sink", "as_file", "read_chunks", "zeros"]

CHUNK: Final = 1 << 20


class Sink(Protocol):
    """Where bytes are written to; it takes all it is given, as buffered files do."""

    def write(self, data: bytes, /) -> object:
        """Take the bytes."""


def read_chunks(source: BinaryIO, size: int) -> Iterator[bytes]:
    """Read the next `size` bytes in whole chunks, the last one excepted; end early where the source does."""
    while size > 0:
        length = min(CHUNK, size)
        chunk = source.read(length)
        while 0 < len(chunk) < length:
            more = source.read(length - len(chunk))
            if not more:
                break
            chunk += more
        if not chunk:
            return
        yield chunk
        size -= len(chunk)


def zeros(size: int) -> Iterator[bytes]:
    """Yield `size` zero bytes."""
    for start in range(0, size, CHUNK):
        yield bytes(min(CHUNK, size - start))


def as_file(chunks: Iterator[bytes]) -> BinaryIO:
    """Make a readable file of chunks that are made while it is read."""
    return io.BufferedReader(_ChunkReader(chunks), CHUNK)


class _ChunkReader(io.RawIOBase):
    """Reads chunks. What failed once keeps failing: an error must not look like the end to who reads on."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._failure: BaseException | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        if self._failure is not None:
            raise self._failure
        while not self._rest:
            try:
                self._rest = memoryview(next(self._chunks))
            except StopIteration:
                return 0
            except BaseException as failure:
                self._failure = failure
                raise
        target = memoryview(buffer)
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
