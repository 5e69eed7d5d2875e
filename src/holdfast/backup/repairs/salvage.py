"""Reads the complete records of a stream up to the first damage."""

from collections.abc import Iterator
from contextlib import ExitStack

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.wire import Block
from holdfast.backup.wire.varint import encode_varint

__all__ = ["find_damage", "salvage_records"]


def find_damage(source: Backup) -> DamagedBackup | None:
    """Read a stream to its end; return the damage of a truncated record or an invalid length, if any."""
    try:
        for _block in source.blocks():
            pass
    except DamagedBackup as damage:
        if damage.frame is None:
            raise
        return damage
    return None


def salvage_records(source: Backup) -> Backup:
    """Return a view of the records of a backup before its damage; the backup must stay open."""
    return Backup(
        *(source.form, source.name, lambda: SalvagedRecords(source), ExitStack()),
        media=source.media,
        snapshot=source.snapshot,
    )


class SalvagedRecords:
    """The records of a stream before its damage."""

    def __init__(self, source: Backup) -> None:
        self.header = source.header
        self._source = source
        self._offset = len(encode_varint(len(self.header))) + len(self.header)

    @property
    def offset(self) -> int:
        """The number of bytes read so far."""
        return self._offset

    def blocks(self) -> Iterator[Block]:
        """Yield the complete frames."""
        try:
            for block in self._source.blocks():
                yield block
                self._offset = block.offset + len(block.data)
        except DamagedBackup as damage:
            if damage.frame is None:
                raise
