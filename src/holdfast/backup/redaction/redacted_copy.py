"""Writes a redacted copy of a whole backup, block by block."""

import random
import secrets
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.backup import backup_reader
from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.faults import Fault, reason_for
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.errors import BackupError, DamagedBackup
from holdfast.backup.public import public
from holdfast.backup.redaction.broken import broken_like
from holdfast.backup.redaction.fields import REPLACED, replacements
from holdfast.backup.target_check import check_target
from holdfast.backup.wire import faults, tables
from holdfast.backup.wire.frames import split
from holdfast.backup.wire.leaves import Leaf, leaves, leaves_of
from holdfast.backup.wire.salvage import Gap
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint
from holdfast.backup.wire.walk import walk
from holdfast.backup.writer import sink_at
from holdfast.redacted_repr import redacted

__all__ = ["Redaction", "redact"]

TOO_LONG: Final = b"\xff\xff\xff\xff\x0f"
# Written at the end of a truncated stream: a length with the same fault.
ENDINGS: Final = {
    f"the record {faults.FAULTS[faults.LONG_VARINT]}": b"\xff" * 10,
    f"the record {faults.FAULTS[faults.TOO_LONG]}": TOO_LONG,
}
TRUNCATED: Final = b"\x7f"
# Written in place of unreadable bytes, after a length with the same fault: neither a length nor the start of a
# record.
UNREADABLE: Final = b"\xff"


@public
@redacted
@dataclass(frozen=True, slots=True)
class Redaction:
    """The result of a redaction: the number of frames, of damaged frames, and the reason of an early end.

    `gaps` is the number of unreadable gaps of the stream, `faults` are those of the container, which a plain copy
    cannot reproduce.
    """

    frames: int
    damaged: int
    problem: str
    gaps: int = 0
    faults: tuple[str, ...] = ()


@public
def redact(
    source: str | PathLike[str] | BinaryIO | Backup,
    target: str | PathLike[str] | BinaryIO,
    key: KeyMaterial | str | None = None,
    *,
    seed: int | None = None,
    progress: Callable[[int], None] | None = None,
    replace: bool = False,
) -> Redaction:
    """Write a redacted copy of a backup, in any form that `open` reads, as a plain frame stream.

    The copy has the same records, ids, sizes, timestamps and faults, but no names, texts, phone numbers, keys,
    hashes or addresses; pseudonyms are consistent. The same `seed` gives the same copy and reveals nothing about
    the original; without a seed each copy differs. Damaged records are replaced by records with the same fault,
    and unreadable gaps by others of the same size; a damaged record directly before a gap may become a part of it.
    A file whose encryption or compression is damaged is copied as far as it can be read. With `replace` an
    existing file is replaced, but never the source.

    >>> hb.redact("chats.binproto", "redacted.binproto", seed=1)
    Redaction(frames=255, damaged=0, problem=<0 characters>, gaps=0, faults=<0 items>)
    """
    found_faults: list[Fault] = []
    gaps: list[Gap] = []
    with ExitStack() as stack:
        if not isinstance(source, Backup):
            try:
                backup = backup_reader.open(
                    source, key, progress=progress, on_fault=found_faults.append, on_gap=gaps.append
                )
            except BackupError as refusal:
                raise reason_for(refusal, found_faults) from None
            source = stack.enter_context(backup)
        if isinstance(target, str | PathLike):
            target = Path(target)
            check_target(source, target)
        sink = stack.enter_context(sink_at(target, replace=replace))
        redactor = Redactor(seed)
        sink.write(encode_varint(len(source.header)) + redactor.header(source.header))
        problem = ""
        written_gaps = 0
        try:
            for block in source.blocks():
                written_gaps = write_gaps(sink, gaps, written_gaps)
                sink.write(redactor.block(block.data))
        except DamagedBackup as error:
            # A truncated stream can be reproduced; damage of a container cannot.
            if error.frame is None:
                raise
            problem = str(error)
            sink.write(ENDINGS.get(error.problem, TRUNCATED))
        write_gaps(sink, gaps, written_gaps)
        fault_texts = tuple(dict.fromkeys(map(str, found_faults)))
        return Redaction(redactor.frames, redactor.damaged, problem, len(gaps), fault_texts)


def write_gaps(sink: BinaryIO, gaps: list[Gap], written_gaps: int) -> int:
    """Write unreadable bytes for the gaps found since the last call; return the number of gaps written so far."""
    for gap in gaps[written_gaps:]:
        begin = {faults.TOO_LONG: TOO_LONG, faults.CUT: TRUNCATED.rjust(min(gap.size, 4), UNREADABLE)}.get(
            gap.fault, b""
        )
        sink.write(begin[: gap.size])
        sink.writelines(UNREADABLE * min(CHUNK, gap.size - start) for start in range(len(begin), gap.size, CHUNK))
    return len(gaps)


class Redactor:
    """Redacts the records of one backup, with common pseudonyms."""

    def __init__(self, seed: int | None) -> None:
        # Replacements reveal nothing about the originals, so the generator need not be cryptographically secure.
        # Its seed must differ from that of generated sample backups, or their own bytes would come back.
        rng = random.Random(f"redact {secrets.randbits(256) if seed is None else seed}")  # noqa: S311  # not for secrets: the seed makes it repeatable
        self._replacers = replacements(rng)
        self.frames = 0
        self.damaged = 0

    def header(self, raw: bytes) -> bytes:
        """Redact a header that is known to be well-formed."""
        return bytes(self._overwrite(raw, leaves_of(raw, REPLACED, tables.BACKUP_INFO)))

    def block(self, data: bytes) -> bytes:
        """Redact frames, each with its length prefix."""
        broken: list[tuple[int, int, int]] = []
        values: list[Leaf] = []
        start = 0
        while start < len(data):
            result = walk(data, start, NO_CAP)
            values += leaves(data, start, result.rest, REPLACED)
            self.frames += result.frames
            start = result.rest
            if not result.fault:
                break
            begin, start = record_span(data, start)
            broken.append((begin, start, result.fault))
        out = self._overwrite(data, values)
        for begin, end, fault in broken:
            out[begin:end] = broken_like(data[begin:end], fault)
        self.frames += len(broken)
        self.damaged += len(broken)
        return bytes(out)

    def _overwrite(self, data: bytes, values: list[Leaf]) -> bytearray:
        """Overwrite values by replacements of the same size."""
        out = bytearray(data)
        replacers = self._replacers
        for slot, begin, end in values:
            replacer = replacers[slot]
            if replacer is not None and begin < end:
                out[begin:end] = replacer(data[begin:end])
        return out


def record_span(data: bytes, start: int) -> tuple[int, int]:
    """Return the start and end of the body of the record at `start`."""
    # Parses only this record: a million others may follow.
    spans, _rest, needed, _fault = split(data[start : start + 10], 0, NO_CAP)
    if not spans:
        spans, _rest, _needed, _fault = split(data[start : start + needed], 0, NO_CAP)
    begin, end = spans[0]
    return start + begin, start + end
