"""Copies a whole backup without what was written in it, block by block."""

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
from holdfast.backup.container import KeyMaterial
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.faults import Fault, reason_for
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
# What stands at the end of a stream that breaks off: a length that fails as the one that stood there did.
ENDINGS: Final = {
    f"the record {faults.FAULTS[faults.LONG_VARINT]}": b"\xff" * 10,
    f"the record {faults.FAULTS[faults.TOO_LONG]}": TOO_LONG,
}
TRUNCATED: Final = b"\x7f"
# What stands in a place that could not be read: no length, and no beginning of a record. It begins with a length
# that fails as the one that stood there did.
UNREADABLE: Final = b"\xff"


@public
@redacted
@dataclass(frozen=True, slots=True)
class Redaction:
    """What was copied: how many frames, how many of them are damaged, and why no more follow, if they should.

    `gaps` is in how many places of the stream no record could be read, `faults` what is wrong around the stream,
    which a plain copy cannot have.
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
    """Copy a backup in any form `open` takes, without what was written in it, as a plain frame stream.

    The copy has the same records, ids, sizes, timestamps and faults, and none of the names, texts, numbers, keys,
    hashes and addresses; people are still the same people wherever they are named. The same `seed` gives the same
    copy, and says nothing about the original; without one each copy differs. Damaged records are copied as damaged
    ones, and places where no record can be read as others of the same size. A file whose encryption or compression
    is damaged is copied as far as it can be read. With `replace` a file that is there already is replaced; the
    source never is.

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
            # Only the stream itself can be broken off in the same way; a container cannot.
            if error.frame is None:
                raise
            problem = str(error)
            sink.write(ENDINGS.get(error.problem, TRUNCATED))
        write_gaps(sink, gaps, written_gaps)
        fault_texts = tuple(dict.fromkeys(map(str, found_faults)))
        return Redaction(redactor.frames, redactor.damaged, problem, len(gaps), fault_texts)


def write_gaps(sink: BinaryIO, gaps: list[Gap], written_gaps: int) -> int:
    """Write something that cannot be read either where that was met since last time; return how often it was."""
    for gap in gaps[written_gaps:]:
        begin = {faults.TOO_LONG: TOO_LONG, faults.CUT: TRUNCATED.rjust(min(gap.size, 4), UNREADABLE)}.get(
            gap.fault, b""
        )
        sink.write(begin[: gap.size])
        sink.writelines(UNREADABLE * min(CHUNK, gap.size - start) for start in range(len(begin), gap.size, CHUNK))
    return len(gaps)


class Redactor:
    """Redacts the records of one backup, which all share their pseudonyms."""

    def __init__(self, seed: int | None) -> None:
        # Whoever knows what is written next learns nothing about what stood there, so this need not be a secret.
        # It must only not be what a made-up backup was made with, or its own bytes would come back.
        rng = random.Random(f"redact {secrets.randbits(256) if seed is None else seed}")  # noqa: S311  # not for secrets: the seed makes it repeatable
        self._replacers = replacements(rng)
        self.frames = 0
        self.damaged = 0

    def header(self, raw: bytes) -> bytes:
        """Redact a header, which was parsed before."""
        return bytes(self._overwrite(raw, leaves_of(raw, REPLACED, tables.BACKUP_INFO)))

    def block(self, data: bytes) -> bytes:
        """Redact some frames, each with its length before it."""
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
        """Overwrite values, each by as many bytes."""
        out = bytearray(data)
        replacers = self._replacers
        for slot, begin, end in values:
            replacer = replacers[slot]
            if replacer is not None and begin < end:
                out[begin:end] = replacer(data[begin:end])
        return out


def record_span(data: bytes, start: int) -> tuple[int, int]:
    """Return where the body of the record that begins at `start` begins and ends."""
    # Only this one is asked for: a million others may follow.
    spans, _rest, needed, _fault = split(data[start : start + 10], 0, NO_CAP)
    if not spans:
        spans, _rest, _needed, _fault = split(data[start : start + needed], 0, NO_CAP)
    begin, end = spans[0]
    return start + begin, start + end
