"""A view of a backup with some frames replaced, dropped or moved, and all others unchanged."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from contextlib import ExitStack

from holdfast.backup.backup_reader import Backup
from holdfast.backup.wire import Block
from holdfast.backup.wire.frames import split
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["Patches", "apply_patches", "records_in"]


class Patches:
    """Replacements of frames: a mapping from the number of a frame to the records that replace it.

    Records include their length prefix, since a varint can be encoded in several ways.
    """

    def __init__(self, replacements: Mapping[int, tuple[bytes, ...]]) -> None:
        self.replacements = dict(replacements)
        self._frames = sorted(self.replacements)
        self._shifts = [0]
        for frame in self._frames:
            self._shifts.append(self._shifts[-1] + len(self.replacements[frame]) - 1)

    def touches(self, first: int, last: int) -> bool:
        """Return whether any frame from the first to the last is replaced."""
        index = bisect_left(self._frames, first)
        return index < len(self._frames) and self._frames[index] <= last

    def origin(self, frame: int) -> tuple[int, int]:
        """Return the original frame of a frame of the result, and its index among the replacements."""
        low, high = 0, len(self._frames)
        while low < high:
            middle = (low + high) // 2
            # The end of the replacements of this frame in the result.
            if self._frames[middle] + self._shifts[middle + 1] < frame:
                low = middle + 1
            else:
                high = middle
        original = frame - self._shifts[low]
        if low < len(self._frames) and original >= self._frames[low]:
            return self._frames[low], original - self._frames[low]
        return original, 0


class PatchedRecords:
    """The records of a backup with replacements."""

    def __init__(self, source: Backup, patches: Patches) -> None:
        self.header = source.header
        self._source = source
        self._patches = patches
        self._offset = len(encode_varint(len(self.header))) + len(self.header)

    @property
    def offset(self) -> int:
        """The number of bytes produced so far."""
        return self._offset

    def blocks(self) -> Iterator[Block]:
        """Yield the frames; blocks without replacements are passed through."""
        index = 1
        for block in self._source.blocks():
            count, data = block.count, block.data
            if self._patches.touches(block.index, block.index + count - 1):
                records = [
                    new
                    for frame, record in enumerate(records_in(data), block.index)
                    for new in self._patches.replacements.get(frame, (record,))
                ]
                count, data = len(records), b"".join(records)
            yield Block(index, self._offset, data)
            index += count
            self._offset += len(data)


def records_in(data: bytes) -> Iterator[bytes]:
    """Yield the records of a block, each with its length."""
    start = 0
    for _begin, end in split(data, 0, NO_CAP)[0]:
        yield data[start:end]
        start = end


def apply_patches(source: Backup, patches: Patches) -> Backup:
    """Return a view of a backup with replacements; the backup must stay open."""
    return Backup(
        source.form,
        source.name,
        lambda: PatchedRecords(source, patches),
        ExitStack(),
        media=source.media,
        snapshot=source.snapshot,
    )
