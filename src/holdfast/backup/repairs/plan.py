"""Computes the plan of a repair: applies repairs in memory and validates the result until nothing changes.

Nothing is written here. A plan holds only changed records, so memory grows with the number of repairs.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from holdfast.backup.backup_reader import Backup
from holdfast.backup.errors import DamagedRecord
from holdfast.backup.repairs.field_edits import CannotEdit, EditableRecord, ancestor_path, element_path
from holdfast.backup.repairs.patches import Patches, apply_patches, records_in
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.repairs import Fix, RepairAction
from holdfast.backup.rules.rule import Severity
from holdfast.backup.wire.collect import Selection, collect
from holdfast.backup.wire.varint import encode_varint, varint_at
from holdfast.redacted_repr import redacted

__all__ = ["Check", "RemainingError", "RepairPlan", "Step", "make_plan"]

# Dropping records can leave dangling references, which are repaired in the next round; real chains are short.
MAX_ROUNDS: Final = 16
# Paths that end with this refer to chats, all others to recipients.
CHAT_REFERENCE: Final = "chatId"
# A revision that violates a rule is dropped without its message.
REVISION: Final = "revisions"
IDS: Final = Selection(["Frame.account", "Recipient.id", "Chat.id", "Chat.pinnedOrder"])
NEEDS_INDEX: Final = (RepairAction.MOVE, RepairAction.MOVE_FIRST, RepairAction.RENUMBER)

Check = Callable[[Backup], Iterable[Finding]]


@dataclass(frozen=True, slots=True)
class Step:
    """A repair step: the number of the frame in the original, rule, path of the field, and a description.

    The number is None for a step on the backup as a whole.
    """

    frame: int | None
    rule: str
    path: str
    words: str
    loses: bool


@dataclass(frozen=True, slots=True)
class RemainingError:
    """An error that remains; `needs_drop` if dropping data would fix it."""

    frame: int | None
    rule: str
    path: str
    problem: str
    needs_drop: bool


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """The steps of a repair and the remaining errors.

    `places` maps frames of the original to the records that replace them, `originals` to their original records.
    """

    steps: tuple[Step, ...]
    remaining_errors: tuple[RemainingError, ...]
    places: dict[int, tuple[bytes, ...]] = field(repr=False)
    originals: dict[int, bytes] = field(repr=False)


def make_plan(source: Backup, check: Check, *, drop: bool = False) -> RepairPlan:
    """Return the plan of a repair of a backup, which must support several passes.

    `check` validates a backup. With `drop`, records that cannot be imported are dropped.
    """
    builder = PlanBuilder(drop=drop)
    for _round in range(MAX_ROUNDS):
        view = apply_patches(source, builder.patches())
        errors = [finding for finding in check(view) if finding.severity is Severity.ERROR]
        if not builder.repair_round(view, errors):
            break
    else:
        builder.leave(check(apply_patches(source, builder.patches())))
    return RepairPlan(tuple(builder.steps), tuple(builder.remaining_errors), builder.places(), builder.originals())


@redacted
@dataclass
class FrameIndex:
    """Frame numbers of recipients and chats by id, and pinned positions, needed to move or renumber frames."""

    recipients: dict[int, int] = field(default_factory=dict)
    chats: dict[int, int] = field(default_factory=dict)
    pinned: set[int] = field(default_factory=set)
    account: int | None = None

    def add(self, frame: int, raw: bytes) -> None:
        """Add a frame; a damaged one is ignored."""
        try:
            entries = collect(raw, IDS)
        except DamagedRecord:
            return
        for slot, depth, value, _end in entries:
            if slot == IDS.slots["Recipient.id"]:
                self.recipients.setdefault(value, frame)
            elif slot == IDS.slots["Chat.id"]:
                self.chats.setdefault(value, frame)
            elif slot == IDS.slots["Chat.pinnedOrder"]:
                self.pinned.add(value)
            elif depth == 0 and self.account is None:
                self.account = frame


class PlanBuilder:
    """Builds a plan. Frames are identified by their numbers in the original, wherever they were moved."""

    def __init__(self, *, drop: bool) -> None:
        self._drop = drop
        self._order: dict[int, list[int]] = {}
        self._place: dict[int, int] = {}
        self._current: dict[int, bytes] = {}
        self._originals: dict[int, bytes] = {}
        self.steps: list[Step] = []
        self.remaining_errors: list[RemainingError] = []

    def places(self) -> dict[int, tuple[bytes, ...]]:
        """Return the records that replace changed frames."""
        touched = {*self._order, *self._current}
        return {
            place: tuple(
                self._current.get(frame, self._originals[frame]) for frame in self._order.get(place, [place])
            )
            for place in touched
        }

    def originals(self) -> dict[int, bytes]:
        """Return the original records of changed frames."""
        return {place: self._originals[place] for place in {*self._order, *self._current}}

    def patches(self) -> Patches:
        """Return the replacements as patches."""
        return Patches(self.places())

    def repair_round(self, view: Backup, errors: list[Finding]) -> bool:
        """Repair the errors of a round where possible; return whether anything changed."""
        self.remaining_errors = []
        by_number: dict[int, list[Finding]] = defaultdict(list)
        for finding in errors:
            if finding.frame:
                by_number[finding.frame].append(finding)
            else:
                self._add_remaining(finding.frame, finding, needs_drop=False)
        numbers = self._numbers()
        needs_index = any(fix.action in NEEDS_INDEX for finding in errors for fix in finding.rule.repairs)
        records, frame_index = read_frames(
            view, {*by_number, 1} if needs_index else set(by_number), whole=needs_index
        )
        moves: dict[int, tuple[int, Finding, Fix]] = {}
        changed = False
        for number in sorted(by_number):
            frame_repair = FrameRepair(numbers(number), number, records[number], frame_index, moves)
            changed |= self._repair_frame(frame_repair, by_number[number])
        if moves:
            extra, _frame_index = read_frames(view, set(moves), whole=False)
            for target, (number, finding, fix) in sorted(moves.items()):
                frame, before = numbers(target), numbers(number)
                # Frames dropped in this round are neither moved nor needed.
                if self._is_present(frame) and self._is_present(before):
                    self._move(frame, extra[target], before, records[number])
                    self.steps.append(make_step(before, finding, fix))
                    changed = True
        return changed

    def leave(self, findings: Iterable[Finding]) -> None:
        """Record all errors as remaining."""
        numbers = self._numbers()
        self.remaining_errors = []
        for finding in findings:
            if finding.severity is Severity.ERROR:
                frame = numbers(finding.frame) if finding.frame else finding.frame
                self._add_remaining(frame, finding, needs_drop=False)

    def _numbers(self) -> Callable[[int], int]:
        """Return a function that maps current frame numbers to original ones, as of now."""
        patches = self.patches()
        order = {place: tuple(frames) for place, frames in self._order.items()}

        def frame_at(number: int) -> int:
            place, at = patches.origin(number)
            return order.get(place, (place,))[at]

        return frame_at

    def _is_present(self, frame: int) -> bool:
        """Return whether a frame was not dropped."""
        place = self._place.get(frame, frame)
        return frame in self._order.get(place, [place])

    def _repair_frame(self, frame_repair: "FrameRepair", findings: list[Finding]) -> bool:
        """Repair a frame; return whether it changed."""
        steps: list[Step] = []
        remaining: list[tuple[Finding, bool]] = []
        repaired: list[Finding] = []
        for finding in findings:
            fixes = finding.rule.repairs
            usable = [fix for fix in fixes if self._drop or not fix.loses]
            applied = next((fix for fix in usable if frame_repair.apply(fix, finding)), None)
            if applied is None:
                remaining.append((finding, len(usable) < len(fixes)))
            elif applied.action is RepairAction.DROP_RECORD and REVISION not in finding.path:
                self._save_original(frame_repair.frame, frame_repair.record)
                self._remove(frame_repair.frame)
                self.steps.append(make_step(frame_repair.frame, finding, applied))
                return True
            elif applied.action not in (RepairAction.MOVE, RepairAction.MOVE_FIRST):
                steps.append(make_step(frame_repair.frame, finding, applied))
                repaired.append(finding)
        new = frame_repair.encode()
        if new != frame_repair.record:
            self._save_original(frame_repair.frame, frame_repair.record)
            self._current[frame_repair.frame] = new
            self.steps += steps
        else:
            # A repair without effect has not fixed the error.
            remaining += [(finding, False) for finding in repaired]
        for finding, needs_drop in remaining:
            self._add_remaining(frame_repair.frame, finding, needs_drop=needs_drop)
        return new != frame_repair.record

    def _move(self, frame: int, record: bytes, before: int, record_before: bytes) -> None:
        """Move a frame to before another."""
        self._save_original(frame, record)
        self._save_original(before, record_before)
        self._remove(frame)
        place = self._place.get(before, before)
        order = self._order.setdefault(place, [place])
        order.insert(order.index(before), frame)
        self._place[frame] = place

    def _remove(self, frame: int) -> None:
        """Remove a frame from its position."""
        place = self._place.pop(frame, frame)
        self._order[place] = [number for number in self._order.get(place, [place]) if number != frame]

    def _save_original(self, frame: int, record: bytes) -> None:
        """Store the original record of a frame before its first change."""
        self._originals.setdefault(frame, record)

    def _add_remaining(self, frame: int | None, finding: Finding, *, needs_drop: bool) -> None:
        """Record a remaining error."""
        self.remaining_errors.append(
            RemainingError(frame, finding.rule.id, finding.path, finding.rule.wrong, needs_drop)
        )


class FrameRepair:
    """The repair of one frame, with its original and current number and an index of the others."""

    def __init__(
        self,
        frame: int,
        number: int,
        record: bytes,
        frame_index: "FrameIndex",
        moves: dict[int, tuple[int, Finding, Fix]],
    ) -> None:
        _size, begin = varint_at(record, 0)
        self.frame = frame
        self.record = record
        self._number = number
        self._raw = record[begin:]
        self._fields = EditableRecord(self._raw)
        self._frame_index = frame_index
        self.moves = moves

    def encode(self) -> bytes:
        """Return the record with its changes."""
        new = self._fields.encode()
        return self.record if new == self._raw else encode_varint(len(new)) + new

    def apply(self, fix: Fix, finding: Finding) -> bool:
        """Try to apply a fix; return whether it was possible."""
        try:
            match fix.action:
                case RepairAction.DROP_RECORD:
                    if REVISION in finding.path:
                        self._fields.clear(ancestor_path(finding.path, REVISION))
                case RepairAction.MOVE:
                    return self._request_move(self._referenced_frame(finding.path), self._number, finding, fix)
                case RepairAction.MOVE_FIRST:
                    return self._request_move(self._frame_index.account, 1, finding, fix)
                case RepairAction.DROP_ELEMENT:
                    self._fields.clear(element_path(finding.path))
                case RepairAction.CLEAR | RepairAction.PUT:
                    self._edit(fix, finding.path)
                case RepairAction.RENUMBER:
                    free = max(self._frame_index.pinned) + 1
                    self._fields.put(finding.path, encode_varint(free))
                    self._frame_index.pinned.add(free)
        except CannotEdit:
            return False
        return True

    def _edit(self, fix: Fix, path: str) -> None:
        """Clear or set fields of the record."""
        where = ancestor_path(path, fix.up) if fix.up else path
        if fix.action is RepairAction.CLEAR:
            present = [name for name in fix.down if self._fields.has(f"{where}.{name}")]
            for target in [f"{where}.{name}" for name in present] if fix.down else [where]:
                self._fields.clear(target)
        else:
            for target in [f"{where}.{name}" for name in fix.down] or [where]:
                self._fields.put_near(target, fix.values)

    def _referenced_frame(self, path: str) -> int | None:
        """Return the frame that a field refers to."""
        ids = self._frame_index.chats if path.endswith(CHAT_REFERENCE) else self._frame_index.recipients
        return ids.get(self._fields.number(path))

    def _request_move(self, target: int | None, before: int, finding: Finding, fix: Fix) -> bool:
        """Request a frame to be moved before the first that refers to it; false if it is already before."""
        if target is None or target <= before:
            return False
        if target not in self.moves:
            self.moves[target] = (before, finding, fix)
        return True


def make_step(frame: int, finding: Finding, fix: Fix) -> Step:
    """Return a repair step."""
    return Step(frame, finding.rule.id, finding.path, fix.words, fix.loses)


def read_frames(view: Backup, numbers: set[int], *, whole: bool) -> tuple[dict[int, bytes], FrameIndex]:
    """Read some frames, and with `whole` build the index of all frames."""
    records: dict[int, bytes] = {}
    frame_index = FrameIndex()
    selected = sorted(numbers)
    for block in view.blocks():
        index = bisect_left(selected, block.index)
        if not whole and (index == len(selected) or selected[index] >= block.index + block.count):
            continue
        for number, record in enumerate(records_in(block.data), block.index):
            if number in numbers:
                records[number] = record
            if whole:
                _size, begin = varint_at(record, 0)
                frame_index.add(number, record[begin:])
    return records, frame_index
