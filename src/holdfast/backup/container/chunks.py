"""Streams as iterators of chunks, and iterators of chunks as files.

All modules of this package process files in chunks, in constant memory.
"""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["CHUNK", "Sink", "as_file", "read_chunks", "zeros"]

CHUNK: Final = 1 << 20


class Sink(Protocol):
    """A writable object; like a buffered file, it writes everything it is passed."""

    def write(self, data: bytes, /) -> object:
        """Write bytes."""


def read_chunks(source: BinaryIO, size: int) -> Iterator[bytes]:
    """Yield the next `size` bytes in chunks of equal size, except the last; end early if the source does."""
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
    """Return a readable file whose content is generated from chunks while it is read."""
    return io.BufferedReader(_ChunkReader(chunks), CHUNK)


class _ChunkReader(io.RawIOBase):
    """Reads chunks. After an error every read fails again: a retry must not see the end of the file."""

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
