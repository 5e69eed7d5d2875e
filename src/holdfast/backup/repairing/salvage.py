"""The whole records of a stream that breaks off, and what there is of the one that is cut off."""

from collections.abc import Iterator
from contextlib import ExitStack

from holdfast.backup.errors import DamagedBackup
from holdfast.backup.opening import Backup
from holdfast.backup.wire import Block
from holdfast.backup.wire.varint import encode_varint

__all__ = ["cut_off", "salvaged"]


def cut_off(source: Backup) -> DamagedBackup | None:
    """Read a stream to its end, and tell how it breaks off, if it ends in the middle of a record."""
    try:
        for _block in source.blocks():
            pass
    except DamagedBackup as damage:
        if not damage.rest:
            raise
        return damage
    return None


def salvaged(source: Backup) -> Backup:
    """Make a backup of the whole records of one that breaks off, which must stay open."""
    return Backup(
        *(source.form, source.name, lambda: SalvagedRecords(source), ExitStack()),
        media=source.media,
        snapshot=source.snapshot,
    )


class SalvagedRecords:
    """Records up to where the stream breaks off."""

    def __init__(self, source: Backup) -> None:
        self.header = source.header
        self._source = source
        self._offset = len(encode_varint(len(self.header))) + len(self.header)

    @property
    def offset(self) -> int:
        """How many bytes were read so far."""
        return self._offset

    def blocks(self) -> Iterator[Block]:
        """Yield the frames that are whole."""
        try:
            for block in self._source.blocks():
                yield block
                self._offset = block.offset + len(block.data)
        except DamagedBackup as damage:
            if not damage.rest:
                raise
