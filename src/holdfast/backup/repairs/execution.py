"""Repairs a backup as planned, keeps a log of it, and undoes it."""

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
from holdfast.backup.container import KeyMaterial
from holdfast.backup.container.atomic_write import check_replaceable, write_atomically
from holdfast.backup.container.chunks import CHUNK
from holdfast.backup.container.faults import Fault, reason_for
from holdfast.backup.conversion import OutputFormat, convert, refuse_weak_key
from holdfast.backup.errors import (
    BackupError,
    DamagedBackup,
    DamagedContainer,
    UnwritableBackup,
)
from holdfast.backup.public import public
from holdfast.backup.repairs.container_damage import LOSES, REWRITTEN, around, each_once
from holdfast.backup.repairs.log import Log, LoggedChange, Lost, RepairLogEntry, log_beside, read_log, write_log
from holdfast.backup.repairs.originals import file_of, kept_beside, original_at, put_back, weigh
from holdfast.backup.repairs.patches import Patches, patched
from holdfast.backup.repairs.plan import RemainingError, RepairPlan, Step, make_plan
from holdfast.backup.repairs.salvage import cut_off, salvaged
from holdfast.backup.repairs.shape import Shape, shape_of
from holdfast.backup.repairs.undo import belongs, measured, restored
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.registry import rule_named
from holdfast.backup.rules.rule import Edition, Profile, Purpose
from holdfast.backup.rules.validator import EditionName, ProfileName, PurposeName, ValidationRun
from holdfast.backup.target_check import check_target, check_target_against
from holdfast.backup.wire.salvage import Gap
from holdfast.redacted_repr import redacted

__all__ = ["Repair", "RepairOptions", "plan_repair", "repair", "undo_repair"]

CUT_OFF = "stream.whole"


@public
@redacted
@dataclass(frozen=True, slots=True)
class RepairOptions:
    """What a backup is to pass, and whether what nothing can import may be left out."""

    profile: ProfileName = "strict"
    edition: EditionName = "auto"
    purpose: PurposeName = "remote"
    drop: bool = False


@public
@redacted
@dataclass(frozen=True, slots=True)
class Repair:
    """A repair as it was planned or made; `edition` is the one the backup was held to.

    `passes` is whether the outcome has no error any more. `kept` is where the original is, if the file itself was
    damaged and a repair was made.
    """

    profile: Profile
    edition: Edition
    purpose: Purpose
    steps: tuple[Step, ...]
    unmended: tuple[RemainingError, ...]
    kept: str | None = None

    @property
    def passes(self) -> bool:
        """Whether the outcome has no error any more."""
        return not self.unmended


@public
def plan_repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    key: KeyMaterial | str | None = None,
    *,
    options: RepairOptions | None = None,
) -> Repair:
    """Tell what a repair of a backup would change, and what would still be wrong with it, and write nothing.

    >>> plan = hb.plan_repair("chats.binproto")
    >>> plan.passes, len(plan.steps)
    (True, 0)
    """
    with again_and_again(source, key) as readable:
        return draw(readable, options or RepairOptions()).repair


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
    """Write a backup in which everything is mended that can be, and everything else is as it was, byte for byte.

    A change log is written to `log`, or beside the target; with it `undo_repair` makes the original again. Where
    the file around the stream is damaged, the file itself is kept beside the log. `to` is the form to write, with
    None that of the original; `keys` are those to encrypt with. With `replace` files that are there already are
    replaced; the source never is.

    >>> hb.repair("chats.binproto", "repaired.binproto", log="changes.json").passes
    True
    """
    path = Path(target)
    log_path = log_beside(path) if log is None else Path(log)
    kept_path = kept_beside(log_path)
    with again_and_again(source, key) as readable:
        for written in (path, log_path, kept_path):
            check_target(readable.backup, written)
            check_replaceable(written, replace=replace)
        if path == log_path:
            raise UnwritableBackup(f"{path} cannot be both the backup and its change log")
        drawn = draw(readable, options or RepairOptions())
        if drawn.damage is not None:
            problem = f"{drawn.damage.problem}; {hint(readable, drawn.damage)}"
            raise DamagedBackup(
                problem,
                frame=drawn.damage.frame,
                offset=drawn.damage.offset,
                stream=drawn.damage.stream,
                unit=drawn.damage.unit,
            )
        repaired = patched(drawn.base, Patches(drawn.plan.places))
        before, after = measured(drawn.base, drawn.gaps), measured(repaired)
        written_down = Log(
            profile=drawn.repair.profile,
            edition=drawn.repair.edition,
            purpose=drawn.repair.purpose,
            original=before,
            repaired=after,
            changes=tuple(changes(drawn.plan)),
            lost=tuple(
                Lost(gap.frame, gap.offset, base64.b64encode(gap.lost).decode())
                for gap in drawn.gaps
                if gap.problem is None
            ),
        )
        shape = shape_of(readable.backup, readable.file, to, keys)
        refuse_weak_key(shape.to, shape.keys, [readable.backup])
        repaired.recovery_keys = readable.backup.recovery_keys
        damaged = any(fault.part in REWRITTEN for fault in readable.faults())
        if not damaged and all(gap.problem is None for gap in drawn.gaps):
            with write_log(log_path, written_down, replace=replace):
                write(repaired, path, shape, replace=replace)
            return drawn.repair
        with file_of(readable.backup, readable.file) as file, write_atomically(kept_path, replace=replace) as kept:
            shutil.copyfileobj(file, kept, CHUNK)
            file.seek(0)
            written_down = msgspec.structs.replace(written_down, kept=weigh(file, kept_path))
            with write_log(log_path, written_down, replace=replace):
                write(repaired, path, shape, replace=replace)
        return dataclasses.replace(drawn.repair, kept=str(kept_path))


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
    """Write the original of a repaired backup again, with the help of its change log; return how many changes.

    The plain stream is the original's to the byte, or nothing is written. An encrypted file holds the same stream
    under another random start; one that was damaged was kept, and is itself again to the byte.

    >>> _ = hb.repair("chats.binproto", "repaired.binproto", log="changes.json")
    >>> hb.undo_repair("repaired.binproto", "changes.json", "original.binproto")
    0
    """
    written = read_log(Path(log))
    path = Path(target)
    with again_and_again(source, key) as readable:
        check_target(readable.backup, path)
        kept = [] if written.kept is None else [original_at(written.kept, Path(log).parent)]
        check_target_against([Path(log), *kept], path)
        if written.kept is None:
            shape = shape_of(readable.backup, readable.file, to, keys)
            original = restored(readable.backup, written)
            original.recovery_keys = readable.backup.recovery_keys
            write(original, path, shape, replace=replace)
            return len(written.changes) + len(written.lost)
        belongs(readable.backup, written)
        put_back(written.kept, Path(log).parent, path, replace=replace)
    return len(written.changes) + len(written.lost) + 1


def write(source: Backup, path: Path, shape: Shape, *, replace: bool) -> None:
    """Write a backup in its shape."""
    convert(source, path, to=shape.to, keys=shape.keys, forward_secrecy=shape.forward_secrecy, replace=replace)


@redacted
@dataclass(frozen=True, slots=True)
class Readable:
    """A backup that can be read again and again, and the faults that reading it found.

    `file` is set where it was given open; `reading_faults` where it was opened here to read all that is readable.
    """

    backup: Backup
    file: BinaryIO | None = None
    reading_faults: "ReadingFaults | None" = None

    def faults(self) -> list[Fault]:
        """List what is wrong around the stream."""
        return [] if self.reading_faults is None else each_once(self.reading_faults.faults)

    def gaps(self) -> list[Gap]:
        """List what cannot be read of the stream; each reading finds the same."""
        return (
            []
            if self.reading_faults is None
            else list({(gap.offset, gap.place): gap for gap in self.reading_faults.gaps}.values())
        )


@redacted
@dataclass(frozen=True, slots=True)
class ReadingFaults:
    """The faults and gaps that readings found."""

    faults: list[Fault] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)


def hint(source: Readable, damage: DamagedBackup) -> str:
    """Say what to do about a place that cannot be read."""
    if isinstance(damage, DamagedContainer):
        return "with --drop what follows is left out, and what can be read before it is kept"
    if source.reading_faults is None:
        return "give the file itself with --drop to have what can be read behind it looked for"
    return "with --drop what cannot be read is left out, and what can be read behind it is kept"


@redacted
@dataclass(frozen=True, slots=True)
class PlannedRepair:
    """A plan with what it was made of: the records that can be read, and what stood between them.

    `damage` is set where something cannot be read, and could or should not be left out.
    """

    repair: Repair
    plan: RepairPlan
    base: Backup
    damage: DamagedBackup | None
    gaps: tuple[Gap, ...]


def draw(source: Readable, options: RepairOptions) -> PlannedRepair:
    """Draw up a plan."""
    damage = cut_off(source.backup)
    base = source.backup
    gaps = source.gaps()
    if damage is not None:
        base = salvaged(base)
        if options.drop and damage.rest:
            gaps = [Gap(damage.frame or 0, damage.offset, len(damage.rest), lost=damage.rest)]
            damage = None
    editions: list[Edition] = []
    frames: list[int] = []

    def check(view: Backup) -> Iterator[Finding]:
        # A repair must not change which year's format the backup is held to.
        edition = editions[0] if editions else options.edition
        validation = ValidationRun(
            view, profile=options.profile, edition=edition, purpose=options.purpose, media=None
        )
        yield from validation
        frames.append(validation.frames)
        if validation.edition is not None:
            editions[:] = [validation.edition]

    plan = make_plan(base, check, drop=options.drop)
    steps, remaining_errors = around(source.faults(), frames[0], drop=options.drop)
    cut = next((fault for fault in source.faults() if fault.part is LOSES), None)
    for gap in gaps:
        if cut is not None and gap is gaps[-1] and gap.frame > frames[0]:
            # The record that is cut off where the compressed data are was told of with them.
            continue
        if options.drop:
            steps.append(Step(gap.frame, CUT_OFF, "", words_of(gap), loses=True))
        else:
            remaining_errors.append(RemainingError(gap.frame, CUT_OFF, "", what_is_unread(gap), needs_drop=True))
            damage = damage or unread(gap)
    if damage is not None and not remaining_errors:
        remaining_errors.append(
            RemainingError(damage.frame or 0, CUT_OFF, "", rule_named(CUT_OFF).wrong, needs_drop=True)
        )
    if isinstance(cut, DamagedContainer) and not options.drop:
        damage = damage or cut
    plan = dataclasses.replace(plan, steps=(*steps, *plan.steps), unmended=(*plan.unmended, *remaining_errors))
    planned = Repair(
        Profile(options.profile), editions[0], Purpose(options.purpose), tuple(sorted_steps(plan)), plan.unmended
    )
    return PlannedRepair(planned, plan, base, damage, tuple(gaps))


def what_is_unread(gap: Gap) -> str:
    """Say in a sentence what cannot be read."""
    if gap.problem is not None:
        return f"{sentence(gap.place)} holds no record that can be read."
    size = f"{gap.size:,} {'byte' if gap.size == 1 else 'bytes'}"
    return f"{size} from byte {gap.offset:,} on cannot be read as records."


def sentence(text: str) -> str:
    """Begin a sentence with some words."""
    return f"{text[:1].upper()}{text[1:]}"


def unread(gap: Gap) -> DamagedBackup:
    """Say what cannot be read."""
    if gap.problem is not None:
        return gap.problem
    problem = f"{gap.size:,} {'byte' if gap.size == 1 else 'bytes'} cannot be read as records"
    return DamagedBackup(problem, frame=gap.frame, offset=gap.offset)


def words_of(gap: Gap) -> str:
    """Say what is left out."""
    if gap.problem is not None:
        return f"{sentence(gap.place)}, which holds no record that can be read, is left out."
    last = gap.offset + gap.size - 1
    return f"The bytes from {gap.offset:,} to {last:,}, in which no record can be read, are left out."


def sorted_steps(plan: RepairPlan) -> list[Step]:
    """Put repairs in the order of the file."""
    return sorted(plan.steps, key=lambda step: -1 if step.frame is None else step.frame)


def changes(plan: RepairPlan) -> Iterator[LoggedChange]:
    """Write down what is replaced, and why, in the order of the file."""
    why: dict[int | None, list[RepairLogEntry]] = defaultdict(list)
    for step in plan.steps:
        why[step.frame].append(RepairLogEntry(step.rule, step.path, step.words))
    for frame, records in sorted(plan.places.items()):
        before = base64.b64encode(plan.originals[frame]).decode()
        yield LoggedChange(frame, before, len(records), tuple(why[frame]))


@contextmanager
def again_and_again(
    source: str | PathLike[str] | BinaryIO | Backup, key: KeyMaterial | str | None
) -> Iterator[Readable]:
    """Open a backup so that it can be read more than once; what comes through a pipe is kept meanwhile."""
    if isinstance(source, Backup):
        yield Readable(source)
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
        yield Readable(stack.enter_context(backup), file, reading_faults)
