"""Public functions to plan, execute and undo repairs."""

import base64
import dataclasses
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import BinaryIO

import msgspec

from holdfast.backup import backup_reader
from holdfast.backup.backup_reader import Backup
from holdfast.backup.container.atomic_write import check_replaceable, write_atomically
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.faults import Fault, reason_for
from holdfast.backup.container.material import KeyMaterial
from holdfast.backup.conversion import OutputFormat, convert, refuse_weak_key
from holdfast.backup.errors import (
    BackupError,
    DamagedBackup,
    DamagedContainer,
    UnwritableBackup,
)
from holdfast.backup.public import public
from holdfast.backup.repairs.container_damage import LOSSY_PART, REWRITTEN_PARTS, container_steps, unique_faults
from holdfast.backup.repairs.log import (
    ChangeLog,
    LoggedChange,
    LostBytes,
    RepairLogEntry,
    default_log_path,
    read_log,
    write_log,
)
from holdfast.backup.repairs.originals import (
    default_original_path,
    file_digest,
    open_source_file,
    original_path,
    restore_file,
)
from holdfast.backup.repairs.patches import Patches, apply_patches
from holdfast.backup.repairs.plan import RemainingError, RepairPlan, Step, make_plan
from holdfast.backup.repairs.salvage import find_damage, salvage_records
from holdfast.backup.repairs.shape import TargetShape, choose_shape
from holdfast.backup.repairs.undo import check_log, restore_original, stream_digest
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.registry import rule_named
from holdfast.backup.rules.rule import Edition, Profile, Purpose
from holdfast.backup.rules.validator import EditionName, ProfileName, PurposeName, ValidationRun
from holdfast.backup.target_check import check_target, check_target_against
from holdfast.backup.wire.salvage import Gap
from holdfast.redacted_repr import redacted

__all__ = ["Repair", "RepairOptions", "plan_repair", "repair", "undo_repair"]

UNREADABLE_RULE = "stream.whole"


@public
@redacted
@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Validation options of a repair, and whether records that cannot be imported may be dropped."""

    profile: ProfileName = "strict"
    edition: EditionName = "auto"
    purpose: PurposeName = "remote"
    drop: bool = False


@public
@redacted
@dataclass(frozen=True, slots=True)
class Repair:
    """A planned or executed repair; `edition` is the one the backup was validated against.

    `passes` is whether the result has no errors. `kept` is the path of the original file, if that was damaged and
    the repair was executed.
    """

    profile: Profile
    edition: Edition
    purpose: Purpose
    steps: tuple[Step, ...]
    remaining_errors: tuple[RemainingError, ...]
    kept: str | None = None

    @property
    def passes(self) -> bool:
        """Whether the result has no errors."""
        return not self.remaining_errors


@public
def plan_repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    key: KeyMaterial | str | None = None,
    *,
    options: RepairOptions | None = None,
) -> Repair:
    """Return what a repair of a backup would change and which errors would remain, without writing anything.

    >>> plan = hb.plan_repair("chats.binproto")
    >>> plan.passes, len(plan.steps)
    (True, 0)
    """
    with open_rereadable(source, key) as readable:
        return prepare_repair(readable, options or RepairOptions()).repair


@public
def repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    target: str | PathLike[str],
    key: KeyMaterial | str | None = None,
    *,
    options: RepairOptions | None = None,
    log: str | PathLike[str] | None = None,
    to: OutputFormat | None = OutputFormat.STREAM,
    keys: KeyMaterial | None = None,
    replace: bool = False,
) -> Repair:
    """Write a repaired copy of a backup; everything that is not repaired stays byte for byte the same.

    A change log is written to `log`, or next to the target; `undo_repair` restores the original with it. If the
    container file is damaged, a copy of it is written next to the log. `to` is the output format, None for that of
    the original; `keys` encrypt the result. With `replace` existing files are replaced, but never the source.

    >>> hb.repair("chats.binproto", "repaired.binproto", log="changes.json").passes
    True
    """
    path = Path(target)
    log_path = default_log_path(path) if log is None else Path(log)
    kept_path = default_original_path(log_path)
    with open_rereadable(source, key) as readable:
        for output_path in (path, log_path, kept_path):
            check_target(readable.backup, output_path)
            check_replaceable(output_path, replace=replace)
        if path == log_path:
            raise UnwritableBackup(f"{path} cannot be both the backup and its change log")
        planned_repair = prepare_repair(readable, options or RepairOptions())
        if planned_repair.damage is not None:
            problem = f"{planned_repair.damage.problem}; {hint(readable, planned_repair.damage)}"
            raise DamagedBackup(
                problem,
                frame=planned_repair.damage.frame,
                offset=planned_repair.damage.offset,
                stream=planned_repair.damage.stream,
                unit=planned_repair.damage.unit,
            )
        repaired = apply_patches(planned_repair.base, Patches(planned_repair.plan.places))
        before, after = stream_digest(planned_repair.base, planned_repair.gaps), stream_digest(repaired)
        change_log = ChangeLog(
            profile=planned_repair.repair.profile,
            edition=planned_repair.repair.edition,
            purpose=planned_repair.repair.purpose,
            original=before,
            repaired=after,
            changes=tuple(logged_changes(planned_repair.plan)),
            lost=tuple(
                LostBytes(gap.frame, gap.offset, base64.b64encode(gap.lost).decode())
                for gap in planned_repair.gaps
                if gap.problem is None
            ),
        )
        shape = choose_shape(readable.backup, readable.file, to, keys)
        refuse_weak_key(shape.to, shape.keys, [readable.backup])
        repaired.recovery_keys = readable.backup.recovery_keys
        damaged = any(fault.part in REWRITTEN_PARTS for fault in readable.faults())
        if not damaged and all(gap.problem is None for gap in planned_repair.gaps):
            with write_log(log_path, change_log, replace=replace):
                write(repaired, path, shape, replace=replace)
            return planned_repair.repair
        with (
            open_source_file(readable.backup, readable.file) as file,
            write_atomically(kept_path, replace=replace) as kept,
        ):
            shutil.copyfileobj(file, kept, CHUNK)
            file.seek(0)
            change_log = msgspec.structs.replace(change_log, kept=file_digest(file, kept_path))
            with write_log(log_path, change_log, replace=replace):
                write(repaired, path, shape, replace=replace)
        return dataclasses.replace(planned_repair.repair, kept=str(kept_path))


@public
def undo_repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    log: str | PathLike[str],
    target: str | PathLike[str],
    key: KeyMaterial | str | None = None,
    *,
    to: OutputFormat | None = OutputFormat.STREAM,
    keys: KeyMaterial | None = None,
    replace: bool = False,
) -> int:
    """Restore the original of a repaired backup from its change log; return the number of changes undone.

    The plain stream is identical to the original, or nothing is written. An encrypted file has the same stream
    with a different initialization vector; a damaged file is restored from its copy, byte for byte.

    >>> _ = hb.repair("chats.binproto", "repaired.binproto", log="changes.json")
    >>> hb.undo_repair("repaired.binproto", "changes.json", "original.binproto")
    0
    """
    change_log = read_log(Path(log))
    path = Path(target)
    with open_rereadable(source, key) as readable:
        check_target(readable.backup, path)
        kept = [] if change_log.kept is None else [original_path(change_log.kept, Path(log).parent)]
        check_target_against([Path(log), *kept], path)
        if change_log.kept is None:
            shape = choose_shape(readable.backup, readable.file, to, keys)
            original = restore_original(readable.backup, change_log)
            original.recovery_keys = readable.backup.recovery_keys
            write(original, path, shape, replace=replace)
            return len(change_log.changes) + len(change_log.lost)
        check_log(readable.backup, change_log)
        restore_file(change_log.kept, Path(log).parent, path, replace=replace)
    return len(change_log.changes) + len(change_log.lost) + 1


def write(source: Backup, path: Path, shape: TargetShape, *, replace: bool) -> None:
    """Write a backup in an output format."""
    convert(source, path, to=shape.to, keys=shape.keys, forward_secrecy=shape.forward_secrecy, replace=replace)


@redacted
@dataclass(frozen=True, slots=True)
class RereadableBackup:
    """A backup that can be read several times, and the faults found while reading.

    `file` is set if the caller passed an open file; `reading_faults` if it was opened here, in tolerant mode.
    """

    backup: Backup
    file: BinaryIO | None = None
    reading_faults: "ReadingFaults | None" = None

    def faults(self) -> list[Fault]:
        """List the faults of the container."""
        return [] if self.reading_faults is None else unique_faults(self.reading_faults.faults)

    def gaps(self) -> list[Gap]:
        """List the unreadable gaps of the stream, without the duplicates of repeated passes."""
        return (
            []
            if self.reading_faults is None
            else list({(gap.offset, gap.place): gap for gap in self.reading_faults.gaps}.values())
        )


@redacted
@dataclass(frozen=True, slots=True)
class ReadingFaults:
    """The faults and gaps found while reading."""

    faults: list[Fault] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)


def hint(source: RereadableBackup, damage: DamagedBackup) -> str:
    """Return what to do about unreadable data."""
    if isinstance(damage, DamagedContainer):
        return "--drop drops everything after this and keeps the records before it"
    if source.reading_faults is None:
        return "pass the file itself with --drop to search for the records after it"
    return "--drop drops the unreadable bytes and keeps the records after them"


@redacted
@dataclass(frozen=True, slots=True)
class PlannedRepair:
    """A plan with its inputs: the readable records and the gaps between them.

    `damage` is set if there is unreadable data that cannot or must not be dropped.
    """

    repair: Repair
    plan: RepairPlan
    base: Backup
    damage: DamagedBackup | None
    gaps: tuple[Gap, ...]


def prepare_repair(source: RereadableBackup, options: RepairOptions) -> PlannedRepair:
    """Validate a backup and return the plan of its repair."""
    damage = find_damage(source.backup)
    base = source.backup
    gaps = source.gaps()
    if damage is not None:
        base = salvage_records(base)
        if options.drop and damage.rest:
            gaps = [Gap(damage.frame or 0, damage.offset, len(damage.rest), lost=damage.rest)]
            damage = None
    editions: list[Edition] = []
    frames: list[int] = []

    def check(view: Backup) -> Iterator[Finding]:
        # A repair must not change the edition that the backup is validated against.
        edition = editions[0] if editions else options.edition
        validation = ValidationRun(
            view, profile=options.profile, edition=edition, purpose=options.purpose, media=None
        )
        yield from validation
        frames.append(validation.frames)
        if validation.edition is not None:
            editions[:] = [validation.edition]

    plan = make_plan(base, check, drop=options.drop)
    steps, remaining_errors = container_steps(source.faults(), frames[0], drop=options.drop)
    cut = next((fault for fault in source.faults() if fault.part is LOSSY_PART), None)
    for gap in gaps:
        if cut is not None and gap is gaps[-1] and gap.frame > frames[0]:
            # The record truncated by damaged compression is reported with that damage.
            continue
        if options.drop:
            steps.append(Step(gap.frame, UNREADABLE_RULE, "", drop_description(gap), loses=True))
        else:
            remaining_errors.append(
                RemainingError(gap.frame, UNREADABLE_RULE, "", unread_problem(gap), needs_drop=True)
            )
            damage = damage or unread_error(gap)
    if damage is not None and not remaining_errors:
        remaining_errors.append(
            RemainingError(
                damage.frame or 0, UNREADABLE_RULE, "", rule_named(UNREADABLE_RULE).wrong, needs_drop=True
            )
        )
    if isinstance(cut, DamagedContainer) and not options.drop:
        damage = damage or cut
    plan = dataclasses.replace(
        plan, steps=(*steps, *plan.steps), remaining_errors=(*plan.remaining_errors, *remaining_errors)
    )
    planned = Repair(
        Profile(options.profile),
        editions[0],
        Purpose(options.purpose),
        tuple(sorted_steps(plan)),
        plan.remaining_errors,
    )
    return PlannedRepair(planned, plan, base, damage, tuple(gaps))


def unread_problem(gap: Gap) -> str:
    """Return a sentence about what cannot be read."""
    if gap.problem is not None:
        return f"{capitalize(gap.place)} holds no record that can be read."
    size = f"{gap.size:,} {'byte' if gap.size == 1 else 'bytes'}"
    return f"{size} from byte {gap.offset:,} on cannot be read as records."


def capitalize(text: str) -> str:
    """Capitalize the first letter."""
    return f"{text[:1].upper()}{text[1:]}"


def unread_error(gap: Gap) -> DamagedBackup:
    """Return the error for unreadable data."""
    if gap.problem is not None:
        return gap.problem
    problem = f"{gap.size:,} {'byte' if gap.size == 1 else 'bytes'} cannot be read as records"
    return DamagedBackup(problem, frame=gap.frame, offset=gap.offset)


def drop_description(gap: Gap) -> str:
    """Return a sentence about what is dropped."""
    if gap.problem is not None:
        return f"{capitalize(gap.place)}, which holds no record that can be read, is left out."
    last = gap.offset + gap.size - 1
    return f"The bytes from {gap.offset:,} to {last:,}, in which no record can be read, are left out."


def sorted_steps(plan: RepairPlan) -> list[Step]:
    """Sort repair steps by frame."""
    return sorted(plan.steps, key=lambda step: -1 if step.frame is None else step.frame)


def logged_changes(plan: RepairPlan) -> Iterator[LoggedChange]:
    """Yield the log entries of replaced frames with their reasons, by frame."""
    why: dict[int | None, list[RepairLogEntry]] = defaultdict(list)
    for step in plan.steps:
        why[step.frame].append(RepairLogEntry(step.rule, step.path, step.words))
    for frame, records in sorted(plan.places.items()):
        before = base64.b64encode(plan.originals[frame]).decode()
        yield LoggedChange(frame, before, len(records), tuple(why[frame]))


@contextmanager
def open_rereadable(
    source: str | PathLike[str] | BinaryIO | Backup, key: KeyMaterial | str | None
) -> Iterator[RereadableBackup]:
    """Open a backup for several passes; a pipe is copied to a temporary file."""
    if isinstance(source, Backup):
        yield RereadableBackup(source)
        return
    with ExitStack() as stack:
        file: BinaryIO | None = None
        if not isinstance(source, str | PathLike):
            file = source
            if not source.seekable():
                file = stack.enter_context(tempfile.TemporaryFile())
                shutil.copyfileobj(source, file)
        reading_faults = ReadingFaults()
        try:
            backup = backup_reader.open(
                source if file is None else file,
                key,
                on_fault=reading_faults.faults.append,
                on_gap=reading_faults.gaps.append,
                keep_gaps=True,
            )
        except BackupError as refusal:
            raise reason_for(refusal, reading_faults.faults) from None
        yield RereadableBackup(stack.enter_context(backup), file, reading_faults)
