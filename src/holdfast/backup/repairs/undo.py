"""Restores the original from a repaired backup and its change log."""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import LogRefused
from holdfast.backup.repairs.log import ChangeLog, LoggedChange, LostBytes, StreamDigest
from holdfast.backup.repairs.patches import records_in
from holdfast.backup.wire import Block
from holdfast.backup.wire.salvage import Gap
from holdfast.backup.wire.varint import encode_varint

__all__ = ["check_log", "restore_original", "stream_digest"]


def stream_digest(source: Backup, gaps: Iterable[Gap] = ()) -> StreamDigest:
    """Read a whole backup; return size and hash of its plain stream, including unreadable gaps."""
    header = encode_varint(len(source.header)) + source.header
    digest = hashlib.sha256(header)
    frames, size = 0, len(header)
    pending = sorted(gaps, key=lambda gap: gap.offset, reverse=True)
    for block in source.blocks():
        while pending and pending[-1].offset < block.offset:
            size += len(pending[-1].lost)
            digest.update(pending.pop().lost)
        digest.update(block.data)
        frames += block.count
        size += len(block.data)
    trailing = b"".join(gap.lost for gap in reversed(pending))
    digest.update(trailing)
    return StreamDigest(frames, size + len(trailing), digest.hexdigest())


def check_log(source: Backup, log: ChangeLog) -> None:
    """Raise `LogRefused` if a log does not belong to this repaired backup."""
    if stream_digest(source) != log.repaired:
        raise LogRefused(f"the change log is not of {source.name}, or that was changed since it was repaired")


def restore_original(source: Backup, log: ChangeLog) -> Backup:
    """Return the original of a repaired backup as a view; the repaired backup must stay open.

    Raises `LogRefused` if the two do not belong together: the log has hashes of both, so that the result is
    identical to the original.
    """
    check_log(source, log)
    backup = Backup(source.form, source.name, lambda: RestoredRecords(source, log), ExitStack())
    original = stream_digest(backup)
    # The number of frames in unreadable bytes is unknown.
    if (original.bytes, original.sha256) != (log.original.bytes, log.original.sha256):
        raise LogRefused("the change log was changed, and no longer leads to the original")
    backup.media, backup.snapshot = source.media, source.snapshot
    return backup


class RestoredRecords:
    """The records of the original."""

    def __init__(self, source: Backup, log: ChangeLog) -> None:
        self.header = source.header
        self._source = source
        self._log = log
        self._offset = len(encode_varint(len(self.header))) + len(self.header)

    @property
    def offset(self) -> int:
        """The number of bytes produced so far."""
        return self._offset

    def blocks(self) -> Iterator[Block]:
        """Yield the frames; blocks without changes are passed through."""
        # Unreadable bytes come before the frame with their number.
        pending: list[LoggedChange | LostBytes] = [*self._log.changes, *self._log.lost]
        pending.sort(key=lambda piece: (-piece.frame, isinstance(piece, LostBytes)))
        index = 1
        skip = 0
        for block in self._source.blocks():
            if not skip and not (pending and pending[-1].frame <= index + block.count):
                yield self._block(index, block.data)
                index += block.count
                continue
            records: list[bytes] = []
            for record in records_in(block.data):
                while not skip and pending and pending[-1].frame == index + len(records):
                    piece = pending.pop()
                    if isinstance(piece, LostBytes):
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
        for piece in reversed(pending):
            yield self._block(index, piece.content() if isinstance(piece, LostBytes) else piece.record())

    def _block(self, index: int, data: bytes) -> Block:
        """Return the next block."""
        block = Block(index, self._offset, data)
        self._offset += len(data)
        return block
