"""Validates a backup: a whole file, or frame by frame while it is written."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from os import PathLike
from tempfile import TemporaryFile
from typing import BinaryIO, Final, Literal, TypeAlias

import msgspec
from google.protobuf.message import DecodeError

from holdfast.backup import backup_reader
from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.faults import Fault
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.errors import DamagedBackup, DamagedContainer, FolderIncomplete, UnreadableBackup
from holdfast.backup.parts import Part
from holdfast.backup.public import public
from holdfast.backup.rules.backup_state import BackupState
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.container import RULE_OF
from holdfast.backup.rules.files import check_files, check_manifest
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.message_checks import BlockFindings, MessageChecks, Task, check_messages, merge
from holdfast.backup.rules.raw_findings import READABLE, WHOLE, Explainer, RawFinding, read_findings
from holdfast.backup.rules.registry import error_mask, rule_named, rule_numbered
from holdfast.backup.rules.rule import Edition, Profile, Purpose, Severity
from holdfast.backup.rules.rule_context import ReferenceTables
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.wire import Block, tables
from holdfast.backup.wire.duplicate_fields import keep_last_fields
from holdfast.backup.wire.salvage import Gap
from holdfast.backup.wire.stream import NO_CAP
from holdfast.backup.wire.varint import encode_varint

__all__ = ["ValidationRun", "Validator", "start_validation"]

ProfileName: TypeAlias = Profile | Literal["strict", "import"]
EditionName: TypeAlias = Edition | Literal["spec", "current", "auto"]
PurposeName: TypeAlias = Purpose | Literal["remote", "transfer", "takeout"]

# Faults that are found while the content is read.
INSIDE: Final = frozenset({Part.COMPRESSION, Part.CHECKSUM, Part.PADDING})
# More threads do not help: one of them reads the file.
MAX_THREADS: Final = 4
# The most findings held in memory while the edition is unknown.
MAX_HELD: Final = 50_000


class HeldFindings:
    """Findings held until the edition is known, in a temporary file if there are many."""

    def __init__(self) -> None:
        self._waiting: list[RawFinding] = []
        self._file: BinaryIO | None = None
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(list[RawFinding])

    def add(self, found: Iterable[RawFinding]) -> None:
        """Add findings."""
        self._waiting.extend(found)
        if len(self._waiting) > MAX_HELD:
            if self._file is None:
                self._file = TemporaryFile()  # noqa: SIM115  # drained and closed later
            packed = self._encoder.encode(self._waiting)
            self._file.write(len(packed).to_bytes(8, "little") + packed)
            self._waiting = []

    def drain(self) -> Iterator[RawFinding]:
        """Yield and remove all of them, in the order they were added."""
        if self._file is not None:
            self._file.seek(0)
            with self._file:
                while size := self._file.read(8):
                    yield from self._decoder.decode(self._file.read(int.from_bytes(size, "little")))
            self._file = None
        waiting, self._waiting = self._waiting, []
        yield from waiting


@public
class Validator:
    """Validates a backup that is being written: pass the header, then each frame, then call `finish`.

    The edition `auto` is detected from the frames, and findings may come later than their frame: when the edition
    is known, at the latest with `finish`.
    """

    def __init__(
        self,
        header: bytes,
        *,
        profile: ProfileName = "strict",
        edition: EditionName = "auto",
        purpose: PurposeName = "remote",
    ) -> None:
        self.profile = Profile(profile)
        self.edition = None if edition == "auto" else Edition(edition)
        self.frames = 0
        self.state = BackupState(
            Purpose(purpose), error_mask(self.profile), spec_only=self.edition is Edition.SPEC
        )
        self._checker = Checker()
        self._record_checker = Checker()
        self._explainer = Explainer(self.profile, self.state.muted)
        self._held = HeldFindings()
        self._offset = 0
        self._bound: ReferenceTables | None = None
        self._newer = False
        self._first = self._check_header(header)

    def check(self, raw: bytes) -> list[Finding]:
        """Check the next frame, and return the findings that are ready."""
        length = encode_varint(len(raw))
        block = Block(self.frames + 1, self._offset, length + raw, 1)
        self._offset += len(block.data)
        found = self.scan(block)
        self._bound = self.state.reference_tables()
        odd = check_messages(self._checker, self._bound, block)
        return list(self.emit(merge(found, odd[0]), newer=odd[1]))

    def finish(self) -> list[Finding]:
        """Return the remaining findings, and those about missing records."""
        return list(self.end())

    def scan(self, block: Block) -> list[RawFinding]:
        """Check the frames of a block that are not messages, and add them to the backup state."""
        self.frames = block.index + block.count - 1
        if block.only_messages:
            return []
        self._bind()
        self._checker.reset(block.data, block.offset, block.index)
        found: list[RawFinding] = []
        while (other := self._checker.next_other(NO_CAP)) is not None:
            found += self._add_other(block, other)
            self._bind()
        self._newer = self._newer or self._checker.met_additions()
        return found

    def emit(self, found: Iterable[RawFinding], *, newer: bool) -> Iterator[Finding]:
        """Yield findings, or hold them until the edition is known."""
        kept = [raw for raw in chain(self._first, found) if self._explainer.keep(raw)]
        self._first = []
        if self.edition is None and newer:
            self.edition = Edition.CURRENT
            yield from self._explain(self._held.drain(), self.edition)
        if self.edition is None:
            self._held.add(kept)
        else:
            yield from self._explain(kept, self.edition)

    def end(self, *, whole: bool = True) -> Iterator[Finding]:
        """Yield held findings and those about missing records; without `whole`, they may be in a damaged part."""
        yield from self.emit([], newer=self._newer)
        if self.edition is None:
            self.edition = Edition.SPEC
        yield from self._explain(self._held.drain(), self.edition)
        consequence = not whole or self._explainer.lost
        for number, path in self.state.finish():
            rule = rule_numbered(number)
            severity = rule.severity(self.profile, self.edition)
            if severity is not None:
                yield Finding(rule, severity, None, None, path, consequence=consequence)

    def _explain(self, found: Iterable[RawFinding], edition: Edition) -> Iterator[Finding]:
        for raw in found:
            finding = self._explainer.explain(raw, edition)
            if finding is not None:
                yield finding

    def _check_header(self, raw: bytes) -> list[RawFinding]:
        self._offset = len(encode_varint(len(raw))) + len(raw)
        try:
            header = BackupInfo.FromString(raw)
        except DecodeError:
            return [RawFinding(0, 0, READABLE, 0, 0, "")]
        self.state.made_at = header.backupTimeMs
        self._record_checker.bind(self.state.reference_tables())
        fault, _at = self._record_checker.record(raw, tables.BACKUP_INFO, 0, 0)
        if fault:
            raw = BackupInfo.FromString(keep_last_fields(raw, tables.BACKUP_INFO)).SerializeToString()
            self._record_checker.record(raw, tables.BACKUP_INFO, 0, 0)
        return list(read_findings(self._record_checker.take_findings(), raw))

    def _bind(self) -> None:
        """Pass the current reference tables to the checker."""
        references = self.state.reference_tables()
        if references is not self._bound:
            self._checker.bind(references)
            self._bound = references

    def _add_other(self, block: Block, other: tuple[int, int, int, int, int]) -> list[RawFinding]:
        """Add a frame that was just checked to the backup state, and return all findings about it."""
        index, begin, start, end, fault = other
        offset = block.offset + begin
        checker, data = self._checker, block.data
        page = checker.take_findings()
        if page or fault:
            # What is in an unknown field was not checked.
            raw = data[start:end]
            try:
                Frame.FromString(raw)
            except DecodeError:
                return [RawFinding(index, offset, READABLE, 0, 0, "")]
            if fault:
                data, start = Frame.FromString(keep_last_fields(raw)).SerializeToString(), 0
                checker = self._record_checker
                page = self._check_anew(data, index, offset)
        found = list(read_findings(page, data)) if page else []
        if broken := self.state.add(checker.context, data, start, index):
            found += [RawFinding(index, offset, number, 0, 0, path) for number, path in broken]
        return found

    def _check_anew(self, raw: bytes, index: int, offset: int) -> bytes:
        """Check a normalized frame, with another checker: that of the block is in use."""
        self._record_checker.bind(self.state.reference_tables())
        self._record_checker.record(raw, tables.FRAME, offset, index)
        self._newer = self._newer or self._record_checker.met_additions()
        return self._record_checker.take_findings()

    @property
    def newer(self) -> bool:
        """Whether a frame other than a message has a field or value of the current edition."""
        return self._newer


def broken_off(damage: DamagedBackup, after: int) -> RawFinding:
    """Return a finding about the end of a truncated stream; JSON records are located by line or array index."""
    if damage.frame is not None:
        return RawFinding(damage.frame, damage.offset, WHOLE, 0, 0, "")
    place = f"{damage.unit} {damage.offset:,} of the {damage.stream}"
    return RawFinding(after, 0, WHOLE, 0, 0, place)


class ValidationRun:
    """A backup being validated: iterate to get its findings in file order.

    Afterwards, `edition` is the edition that was applied, `frames` the number of frames, `counts` the number of
    findings of each severity, `consequences` how many of them may only result from unreadable parts, and `valid`
    whether there was no error. `faults` and `gaps` are reported by the reader, which may add to them while the
    backup is read; `backup` is None if nothing could be read.
    """

    def __init__(
        self,
        backup: Backup | None,
        *,
        faults: list[Fault] | None = None,
        gaps: list[Gap] | None = None,
        profile: ProfileName = "strict",
        edition: EditionName = "auto",
        purpose: PurposeName = "remote",
        media: bool | None = False,
        threads: int | None = None,
    ) -> None:
        self.counts: Counter[Severity] = Counter()
        self.consequences = 0
        self.media = media
        self.profile = Profile(profile)
        self._backup = backup
        self._faults = [] if faults is None else faults
        self._gaps = [] if gaps is None else gaps
        self._told = 0
        self._threads = threads or min(MAX_THREADS, os.cpu_count() or 1)
        self._validator = (
            None if backup is None else Validator(backup.header, profile=profile, edition=edition, purpose=purpose)
        )

    @property
    def backup(self) -> Backup | None:
        """The backup that is validated, None if nothing could be read."""
        return self._backup

    @property
    def readable(self) -> bool:
        """Whether anything in the backup could be read."""
        return self._backup is not None

    @property
    def edition(self) -> Edition | None:
        """The edition that is applied, None while it is unknown."""
        return None if self._validator is None else self._validator.edition

    @property
    def frames(self) -> int:
        """The number of frames read so far, without the header."""
        return 0 if self._validator is None else self._validator.frames

    @property
    def valid(self) -> bool:
        """Whether no finding so far is an error."""
        return not self.counts[Severity.ERROR]

    def __iter__(self) -> Iterator[Finding]:
        for finding in self._findings():
            self.counts[finding.severity] += 1
            self.consequences += finding.consequence
            yield finding

    def _findings(self) -> Iterator[Finding]:
        backup, validator = self._backup, self._validator
        for fault in list(self._faults):
            if fault.part not in INSIDE or backup is None:
                yield from self._explain(fault, None)
        if backup is None or validator is None:
            return
        whole = True
        damage: DamagedBackup | None = None
        try:
            for found, newer in self._blocks(backup, validator):
                yield from validator.emit(found, newer=newer)
        except DamagedBackup as problem:
            damage, whole = problem, False
        inside = [fault for fault in self._faults if fault.part in INSIDE]
        if isinstance(damage, DamagedContainer):
            inside.append(damage)
        elif damage is not None and not inside:
            yield from validator.emit([broken_off(damage, validator.frames + 1)], newer=False)
        cut = any(fault.part is Part.COMPRESSION for fault in inside)
        ending = self._new_gaps()
        if not cut:
            # A record that is truncated where the compressed data end is not another fault.
            yield from validator.emit(ending, newer=False)
        whole = whole and not cut and not self._gaps
        yield from validator.end(whole=whole)
        for fault in inside:
            yield from self._explain(fault, validator.frames + 1)
        yield from check_manifest(backup, self.profile)
        if self.media is not None and whole:
            yield from check_files(backup, self.profile, decrypt=self.media)

    def _new_gaps(self) -> list[RawFinding]:
        """Return findings about the gaps since the last call."""
        new = self._gaps[self._told :]
        self._told += len(new)
        return [RawFinding(gap.frame, gap.offset, WHOLE, gap.size, 0, gap.place) for gap in new]

    def _explain(self, fault: Fault, frame: int | None) -> Iterator[Finding]:
        """Return the finding for a fault that the reader reported."""
        rule = rule_named(RULE_OF[fault.part])
        severity = rule.severity(self.profile)
        if severity is not None:
            place = f"byte {fault.offset:,} of the {fault.stream}" if isinstance(fault, DamagedContainer) else ""
            yield Finding(rule, severity, frame, None, "", place)

    def _blocks(self, backup: Backup, validator: Validator) -> Iterator[BlockFindings]:
        """Check block by block: messages in several threads, all other records in file order."""
        with MessageChecks(self._threads) as checks:
            try:
                for block in backup.blocks():
                    found = self._new_gaps() + validator.scan(block)
                    references = validator.state.reference_tables(shared=checks.shared)
                    checks.add(Task(block, references, found, validator.newer))
                    yield from checks.finished()
            except DamagedBackup:
                yield from checks.remaining()
                raise
            yield from checks.remaining()


@contextmanager
def start_validation(
    source: str | PathLike[str] | BinaryIO,
    key: KeyMaterial | str | None = None,
    *,
    profile: ProfileName = "strict",
    edition: EditionName = "auto",
    purpose: PurposeName = "remote",
    media: bool | None = False,
    threads: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[ValidationRun]:
    """Open a backup to validate it: a damaged file or folder is validated as far as it can be read.

    Unreadable parts of a stream are skipped. A wrong key, and a file that is not a backup, raise an error as they
    do in `open`.
    """
    faults: list[Fault] = []
    gaps: list[Gap] = []
    with ExitStack() as stack:
        backup: Backup | None = None
        try:
            backup = stack.enter_context(
                backup_reader.open(source, key, progress=progress, on_fault=faults.append, on_gap=gaps.append)
            )
        except (DamagedContainer, FolderIncomplete) as fault:
            faults.append(fault)
        except (DamagedBackup, UnreadableBackup):
            # A stream without its beginning cannot be recognised.
            if not any(fault.part in INSIDE for fault in faults):
                raise
        yield ValidationRun(
            backup,
            faults=faults,
            gaps=gaps,
            profile=profile,
            edition=edition,
            purpose=purpose,
            media=media,
            threads=threads,
        )
