"""A seekable read-only file over several objects of the store, such as a file that was uploaded in parts."""

import io
import os
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, Final, cast

import msgspec

from holdfast.hosting.storage.object_store import ObjectStore

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["ObjectPart", "open_parts"]

BUFFER: Final = 1024 * 1024


class ObjectPart(msgspec.Struct, frozen=True):
    """A part of a file: its offset in the file, its length, and the key of its object."""

    start: int
    size: int
    key: str


class ObjectReader(io.RawIOBase):
    """A read-only file of consecutive parts without gaps."""

    def __init__(self, store: ObjectStore, parts: Sequence[ObjectPart]) -> None:
        super().__init__()
        self._store = store
        self._parts = parts
        self._starts = [part.start for part in parts]
        self._size = parts[-1].start + parts[-1].size if parts else 0
        self._position = 0

    def readable(self) -> bool:
        """Return true."""
        return True

    def seekable(self) -> bool:
        """Return true."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Change the position; a negative one raises an error."""
        origin = {os.SEEK_SET: 0, os.SEEK_CUR: self._position, os.SEEK_END: self._size}[whence]
        if origin + offset < 0:
            raise ValueError("a position before the beginning of a file")
        self._position = origin + offset
        return self._position

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read from the part at the position, at most up to its end."""
        view = memoryview(buffer).cast("B")
        if self._position >= self._size or not view:
            return 0
        part = self._parts[bisect_right(self._starts, self._position) - 1]
        begin = self._position - part.start
        piece = self._store.read_range(part.key, begin, min(begin + len(view), part.size))
        view[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)


def open_parts(store: ObjectStore, parts: Sequence[ObjectPart]) -> BinaryIO:
    """Open the parts of a file as one buffered file."""
    return cast("BinaryIO", io.BufferedReader(ObjectReader(store, parts), BUFFER))
