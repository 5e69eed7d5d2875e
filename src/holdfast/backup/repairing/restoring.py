"""The way back: the original put together from a repaired backup and its change log."""

import hashlib
from collections.abc import Iterator
from contextlib import ExitStack

from holdfast.backup.errors import LogRefused
from holdfast.backup.opening import Backup
from holdfast.backup.repairing.log import Log, Stream
from holdfast.backup.repairing.patches import records_in
from holdfast.backup.wire import Block
from holdfast.backup.wire.varint import encode_varint

__all__ = ["measured", "restored"]


def measured(source: Backup, tail: bytes = b"") -> Stream:
    """Read a backup through, and tell the size and the hash of its plain stream with what there is behind it."""
    digest = hashlib.sha256(encode_varint(len(source.header)) + source.header)
    frames = 0
    size = len(encode_varint(len(source.header))) + len(source.header)
    for block in source.blocks():
        digest.update(block.data)
        frames += block.count
        size += len(block.data)
    digest.update(tail)
    return Stream(frames, size + len(tail), digest.hexdigest())


def restored(source: Backup, log: Log) -> Backup:
    """Make the original of a repaired backup; it is read from the repaired one, which must stay open.

    Raises `LogRefused` where the two do not belong together: the log holds hashes of both, so what is restored is
    what was there before, to the byte.
    """
    if measured(source) != log.repaired:
        raise LogRefused(f"the change log is not of {source.name}, or that was changed since it was repaired")
    made = Backup(source.form, source.name, lambda: RestoredRecords(source, log), ExitStack())
    if measured(made) != log.original:
        raise LogRefused("the change log was changed, and no longer leads to the original")
    made.media, made.snapshot = source.media, source.snapshot
    return made


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
        waiting = sorted(self._log.changes, key=lambda change: change.frame, reverse=True)
        index = 1
        skip = 0
        for block in self._source.blocks():
            count, data = block.count, block.data
            if skip or (waiting and waiting[-1].frame <= index + count):
                records: list[bytes] = []
                for record in records_in(data):
                    while not skip and waiting and waiting[-1].frame == index + len(records):
                        change = waiting.pop()
                        records.append(change.record())
                        skip = change.records
                    if skip:
                        skip -= 1
                    else:
                        records.append(record)
                count, data = len(records), b"".join(records)
            yield Block(index, self._offset, data)
            index += count
            self._offset += len(data)
        rest = b"".join([*(change.record() for change in reversed(waiting)), self._log.rest()])
        if rest:
            yield Block(index, self._offset, rest)
            self._offset += len(rest)
