"""The way back: the original put together from a repaired backup and its change log."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import LogRefused
from holdfast.backup.repairs.log import Log, LoggedChange, Lost, Stream
from holdfast.backup.repairs.patches import records_in
from holdfast.backup.wire import Block
from holdfast.backup.wire.salvage import Gap
from holdfast.backup.wire.varint import encode_varint

__all__ = ["belongs", "measured", "restored"]


def measured(source: Backup, gaps: Iterable[Gap] = ()) -> Stream:
    """Read a backup through, and tell the size and the hash of its plain stream, with what could not be read."""
    header = encode_varint(len(source.header)) + source.header
    digest = hashlib.sha256(header)
    frames, size = 0, len(header)
    waiting = sorted(gaps, key=lambda gap: gap.offset, reverse=True)
    for block in source.blocks():
        while waiting and waiting[-1].offset < block.offset:
            size += len(waiting[-1].lost)
            digest.update(waiting.pop().lost)
        digest.update(block.data)
        frames += block.count
        size += len(block.data)
    rest = b"".join(gap.lost for gap in reversed(waiting))
    digest.update(rest)
    return Stream(frames, size + len(rest), digest.hexdigest())


def belongs(source: Backup, log: Log) -> None:
    """Refuse a log that is not of this repaired backup."""
    if measured(source) != log.repaired:
        raise LogRefused(f"the change log is not of {source.name}, or that was changed since it was repaired")


def restored(source: Backup, log: Log) -> Backup:
    """Make the original of a repaired backup; it is read from the repaired one, which must stay open.

    Raises `LogRefused` where the two do not belong together: the log holds hashes of both, so what is restored is
    what was there before, to the byte.
    """
    belongs(source, log)
    backup = Backup(source.form, source.name, lambda: RestoredRecords(source, log), ExitStack())
    original = measured(backup)
    # How many frames there are cannot be told of what could not be read.
    if (original.bytes, original.sha256) != (log.original.bytes, log.original.sha256):
        raise LogRefused("the change log was changed, and no longer leads to the original")
    backup.media, backup.snapshot = source.media, source.snapshot
    return backup


class RestoredRecords:
    """The records of the original."""

    def __init__(self, source: Backup, log: Log) -> None:
        self.header = source.header
        self._source = source
        self._log = log
        self._offset = len(encode_varint(len(self.header))) + len(self.header)

    @property
    def offset(self) -> int:
        """How many bytes of the original were made so far."""
        return self._offset

    def blocks(self) -> Iterator[Block]:
        """Yield the frames; blocks in which nothing was changed pass through as they are."""
        # What could not be read stood before the frame it is counted with, and comes first.
        waiting: list[LoggedChange | Lost] = [*self._log.changes, *self._log.lost]
        waiting.sort(key=lambda piece: (-piece.frame, isinstance(piece, Lost)))
        index = 1
        skip = 0
        for block in self._source.blocks():
            if not skip and not (waiting and waiting[-1].frame <= index + block.count):
                yield self._block(index, block.data)
                index += block.count
                continue
            records: list[bytes] = []
            for record in records_in(block.data):
                while not skip and waiting and waiting[-1].frame == index + len(records):
                    piece = waiting.pop()
                    if isinstance(piece, Lost):
                        yield self._block(index, b"".join(records))
                        index, records = index + len(records), []
                        yield self._block(index, piece.content())
                    else:
                        records.append(piece.record())
                        skip = piece.records
                if skip:
                    skip -= 1
                else:
                    records.append(record)
            yield self._block(index, b"".join(records))
            index += len(records)
        for piece in reversed(waiting):
            yield self._block(index, piece.content() if isinstance(piece, Lost) else piece.record())

    def _block(self, index: int, data: bytes) -> Block:
        """Make a block of what comes next."""
        block = Block(index, self._offset, data)
        self._offset += len(data)
        return block
