"""Repairs a backup as planned, keeps a log of it, and undoes it."""

import base64
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from holdfast.backup import opening
from holdfast.backup.apart import keep_apart
from holdfast.backup.container import KeyMaterial
from holdfast.backup.convert import To, convert
from holdfast.backup.errors import DamagedBackup, UnwritableBackup
from holdfast.backup.opening import Backup
from holdfast.backup.repairing.log import Change, Log, Lost, Repaired, log_beside, read_log, write_log
from holdfast.backup.repairing.patches import Patches, patched
from holdfast.backup.repairing.plan import Plan, Step, Unmended, make_plan
from holdfast.backup.repairing.restoring import measured, restored
from holdfast.backup.repairing.salvage import cut_off, salvaged
from holdfast.backup.rules.book import rule_named
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.rule import Edition, Profile, Purpose
from holdfast.backup.rules.validator import EditionName, ProfileName, PurposeName, Validation
from holdfast.backup.wire.salvage import Gap, OnGap

__all__ = ["Repair", "Wanted", "plan_repair", "repair", "undo_repair"]

CUT_OFF = "stream.whole"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a backup is to pass, and whether what nothing can import may be left out."""

    profile: ProfileName = "strict"
    edition: EditionName = "auto"
    purpose: PurposeName = "remote"
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Repair:
    """A repair as it was planned or made; `edition` is the one the backup was held to.

    `passes` is whether the outcome has no error any more.
    """

    profile: Profile
    edition: Edition
    purpose: Purpose
    steps: tuple[Step, ...]
    unmended: tuple[Unmended, ...]

    @property
    def passes(self) -> bool:
        """Whether the outcome has no error any more."""
        return not self.unmended


def plan_repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    key: KeyMaterial | str | None = None,
    *,
    wanted: Wanted | None = None,
) -> Repair:
    """Tell what a repair of a backup would change, and what would still be wrong with it, and write nothing."""
    with again_and_again(source, key) as readable:
        return draw(readable, wanted or Wanted()).repair


def repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    target: str | PathLike[str],
    key: KeyMaterial | str | None = None,
    *,
    wanted: Wanted | None = None,
    log: str | PathLike[str] | None = None,
    to: To = To.STREAM,
    keys: KeyMaterial | None = None,
) -> Repair:
    """Write a backup in which everything is mended that can be, and everything else is as it was, byte for byte.

    A change log is written to `log`, or beside the target; with it `undo_repair` makes the original again. `to` is
    the form to write, `keys` those to encrypt with.
    """
    path = Path(target)
    log_path = log_beside(path) if log is None else Path(log)
    with again_and_again(source, key) as readable:
        for written in (path, log_path):
            keep_apart(readable.backup, written)
        if path == log_path:
            raise UnwritableBackup(f"{path} cannot be both the backup and its change log")
        drawn = draw(readable, wanted or Wanted())
        if drawn.damage is not None:
            problem = f"{drawn.damage.problem}; {hint(readable)}"
            raise DamagedBackup(problem, frame=drawn.damage.frame, offset=drawn.damage.offset)
        made = patched(drawn.base, Patches(drawn.plan.places))
        before, after = measured(drawn.base, drawn.gaps), measured(made)
        written_down = Log(
            profile=drawn.repair.profile,
            edition=drawn.repair.edition,
            purpose=drawn.repair.purpose,
            original=before,
            repaired=after,
            changes=tuple(changes(drawn.plan)),
            lost=tuple(Lost(gap.frame, gap.offset, base64.b64encode(gap.lost).decode()) for gap in drawn.gaps),
        )
        with write_log(log_path, written_down):
            convert(made, path, to, keys=keys)
        return drawn.repair


def undo_repair(
    source: str | PathLike[str] | BinaryIO | Backup,
    log: str | PathLike[str],
    target: str | PathLike[str],
    key: KeyMaterial | str | None = None,
    *,
    to: To = To.STREAM,
    keys: KeyMaterial | None = None,
) -> int:
    """Write the original of a repaired backup again, with the help of its change log; return how many changes.

    The plain stream is the original's to the byte, or nothing is written. An encrypted file holds the same stream
    under another random start.
    """
    written = read_log(Path(log))
    path = Path(target)
    with again_and_again(source, key) as readable:
        keep_apart(readable.backup, path)
        convert(restored(readable.backup, written), path, to, keys=keys)
    return len(written.changes) + len(written.lost)


@dataclass(frozen=True, slots=True)
class Readable:
    """A backup, and a way to open it anew that goes on behind what cannot be read, where there is one."""

    backup: Backup
    salvage: Callable[[OnGap], Backup] | None


def hint(source: Readable) -> str:
    """Say what to do about a place that cannot be read."""
    if source.salvage is None:
        return "give the file itself with --drop to have what can be read behind it looked for"
    return "with --drop what cannot be read is left out, and what can be read behind it is kept"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan with what it was made of: the records that can be read, and what stood between them.

    `damage` is set where something cannot be read, and could or should not be left out.
    """

    repair: Repair
    plan: Plan
    base: Backup
    damage: DamagedBackup | None
    gaps: tuple[Gap, ...]


def draw(source: Readable, wanted: Wanted) -> Drawn:
    """Draw up a plan."""
    damage = cut_off(source.backup)
    base = source.backup
    gaps: dict[int, Gap] = {}
    if damage is not None and wanted.drop and source.salvage is not None:
        # Each reading finds the same gaps.
        base, damage = source.salvage(lambda gap: gaps.update({gap.offset: gap})), None
    elif damage is not None:
        base = salvaged(base)
        if wanted.drop and damage.rest:
            gaps[damage.offset] = Gap(damage.frame or 0, damage.offset, damage.rest)
            damage = None
    editions: list[Edition] = []

    def check(view: Backup) -> Iterator[Finding]:
        # A repair must not change which year's format the backup is held to.
        edition = editions[0] if editions else wanted.edition
        validation = Validation(view, profile=wanted.profile, edition=edition, purpose=wanted.purpose)
        yield from validation
        if validation.edition is not None:
            editions[:] = [validation.edition]

    plan = make_plan(base, check, drop=wanted.drop)
    lost = [Step(gap.frame, CUT_OFF, "", words_of(gap), loses=True) for gap in gaps.values()]
    plan = replace(plan, steps=(*lost, *plan.steps))
    if damage is not None:
        left = Unmended(damage.frame or 0, CUT_OFF, "", rule_named(CUT_OFF).wrong, needs_drop=True)
        plan = replace(plan, unmended=(*plan.unmended, left))
    made = Repair(
        Profile(wanted.profile), editions[0], Purpose(wanted.purpose), tuple(sorted_steps(plan)), plan.unmended
    )
    return Drawn(made, plan, base, damage, tuple(gaps.values()))


def words_of(gap: Gap) -> str:
    """Say which bytes are left out."""
    last = gap.offset + len(gap.lost) - 1
    return f"The bytes from {gap.offset:,} to {last:,}, in which no record can be read, are left out."


def sorted_steps(plan: Plan) -> list[Step]:
    """Put repairs in the order of the file."""
    return sorted(plan.steps, key=lambda step: step.frame)


def changes(plan: Plan) -> Iterator[Change]:
    """Write down what is replaced, and why, in the order of the file."""
    why: dict[int, list[Repaired]] = defaultdict(list)
    for step in plan.steps:
        why[step.frame].append(Repaired(step.rule, step.path, step.words))
    for frame, records in sorted(plan.places.items()):
        before = base64.b64encode(plan.originals[frame]).decode()
        yield Change(frame, before, len(records), tuple(why[frame]))


@contextmanager
def again_and_again(
    source: str | PathLike[str] | BinaryIO | Backup, key: KeyMaterial | str | None
) -> Iterator[Readable]:
    """Open a backup so that it can be read more than once; what comes through a pipe is kept meanwhile."""
    with ExitStack() as stack:
        if isinstance(source, Backup):
            yield Readable(source, None)
            return
        if not isinstance(source, str | PathLike) and not source.seekable():
            spooled = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(source, spooled)
            source = spooled
        given = source

        def salvage(on_gap: OnGap) -> Backup:
            return stack.enter_context(opening.open(given, key, on_gap=on_gap))

        yield Readable(stack.enter_context(opening.open(given, key)), salvage)
