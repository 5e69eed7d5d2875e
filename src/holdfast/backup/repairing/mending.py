"""Repairs a backup as planned, keeps a log of it, and undoes it."""

import base64
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
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
from holdfast.backup.repairing.log import Change, Log, Repaired, log_beside, read_log, write_log
from holdfast.backup.repairing.patches import Patches, patched
from holdfast.backup.repairing.plan import Plan, Step, Unmended, make_plan
from holdfast.backup.repairing.restoring import measured, restored
from holdfast.backup.repairing.salvage import cut_off, salvaged
from holdfast.backup.rules.book import rule_named
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.rule import Edition, Profile, Purpose
from holdfast.backup.rules.validator import EditionName, ProfileName, PurposeName, Validation

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
    with again_and_again(source, key) as backup:
        return draw(backup, wanted or Wanted()).repair


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
    with again_and_again(source, key) as backup:
        for written in (path, log_path):
            keep_apart(backup, written)
        if path == log_path:
            raise UnwritableBackup(f"{path} cannot be both the backup and its change log")
        drawn = draw(backup, wanted or Wanted())
        if drawn.damage is not None and not (wanted and wanted.drop):
            problem = f"{drawn.damage.problem}, and is left out only with drop"
            raise DamagedBackup(problem, frame=drawn.damage.frame, offset=drawn.damage.offset)
        made = patched(drawn.base, Patches(drawn.plan.places))
        before, after = measured(drawn.base, drawn.tail), measured(made)
        written_down = Log(
            profile=drawn.repair.profile,
            edition=drawn.repair.edition,
            purpose=drawn.repair.purpose,
            original=before,
            repaired=after,
            changes=tuple(changes(drawn.plan)),
            tail=base64.b64encode(drawn.tail).decode(),
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
    with again_and_again(source, key) as backup:
        keep_apart(backup, path)
        convert(restored(backup, written), path, to, keys=keys)
    return len(written.changes) + bool(written.tail)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A plan with what it was made of: the records that are whole, and how the stream breaks off behind them."""

    repair: Repair
    plan: Plan
    base: Backup
    damage: DamagedBackup | None
    tail: bytes


def draw(source: Backup, wanted: Wanted) -> Drawn:
    """Draw up a plan."""
    damage = cut_off(source)
    base = source if damage is None else salvaged(source)
    editions: list[Edition] = []

    def check(view: Backup) -> Iterator[Finding]:
        # A repair must not change which year's format the backup is held to.
        edition = editions[0] if editions else wanted.edition
        validation = Validation(view, profile=wanted.profile, edition=edition, purpose=wanted.purpose)
        yield from validation
        if validation.edition is not None:
            editions[:] = [validation.edition]

    plan = make_plan(base, check, drop=wanted.drop)
    if damage is not None:
        frame = damage.frame or 0
        if wanted.drop:
            step = Step(frame, CUT_OFF, "", "What there is of a record that is cut off is left out.", loses=True)
            plan = replace(plan, steps=(*plan.steps, step))
        else:
            left = Unmended(frame, CUT_OFF, "", rule_named(CUT_OFF).wrong, needs_drop=True)
            plan = replace(plan, unmended=(*plan.unmended, left))
    made = Repair(
        Profile(wanted.profile), editions[0], Purpose(wanted.purpose), tuple(sorted_steps(plan)), plan.unmended
    )
    return Drawn(made, plan, base, damage, damage.rest if damage is not None else b"")


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
) -> Iterator[Backup]:
    """Open a backup so that it can be read more than once; what comes through a pipe is kept meanwhile."""
    with ExitStack() as stack:
        if isinstance(source, Backup):
            yield source
            return
        if not isinstance(source, str | PathLike) and not source.seekable():
            spooled = stack.enter_context(tempfile.TemporaryFile())
            shutil.copyfileobj(source, spooled)
            source = spooled
        yield stack.enter_context(opening.open(source, key))
