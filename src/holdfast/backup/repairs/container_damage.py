"""Repairs of damage outside of the frame stream: encryption, compression, the snapshot folder."""

from collections.abc import Iterable
from typing import Final

from holdfast.backup.container.faults import Fault
from holdfast.backup.errors import DamagedContainer
from holdfast.backup.parts import Part
from holdfast.backup.repairs.plan import RemainingError, Step
from holdfast.backup.rules.container import RULE_OF
from holdfast.backup.rules.registry import rule_named

__all__ = ["LOSSY_PART", "REWRITTEN_PARTS", "container_steps", "unique_faults"]

# Parts of the container file; if one is damaged, undoing the repair needs a copy of the file.
REWRITTEN_PARTS: Final = frozenset(
    {Part.LENGTH, Part.TOKENS, Part.MAC, Part.PADDING, Part.COMPRESSION, Part.CHECKSUM}
)
# Data after damaged compression is lost; other damage only requires rewriting the file.
LOSSY_PART: Final = Part.COMPRESSION
DESCRIPTIONS: Final = {
    Part.LENGTH: "The backup is written again with what is left of it: {frames}.",
    Part.TOKENS: "The backup is written again without it; it opens with its token.",
    Part.MAC: "The backup is encrypted again with all of its content: {frames}, whose checksum is correct.",
    Part.PADDING: "The backup is written again with the required padding.",
    Part.CHECKSUM: "The backup is written again with what can be read, {frames}, not authenticated.",
    Part.MAIN: "The snapshot, which has no messages, is skipped; the newest with messages is repaired.",
    Part.METADATA: "The backup is written again without it.",
    Part.METADATA_MISSING: "The backup is written again without it.",
}
UNVERIFIED: Final = "The backup is encrypted again with what can be read, which could not be authenticated."


def unique_faults(faults: Iterable[Fault]) -> list[Fault]:
    """Remove duplicate faults, which every pass over a backup reports again."""
    return list({RULE_OF[fault.part] + str(fault): fault for fault in faults}.values())


def container_steps(
    faults: Iterable[Fault], frames: int, *, drop: bool
) -> tuple[list[Step], list[RemainingError]]:
    """Return the repair steps and the remaining errors for faults of the container; `frames` can be read."""
    steps: list[Step] = []
    remaining_errors: list[RemainingError] = []
    damaged_parts = {fault.part for fault in faults}
    frame_count = f"{frames:,} {'frame' if frames == 1 else 'frames'}"
    for fault in faults:
        rule = rule_named(RULE_OF[fault.part])
        if fault.part is not LOSSY_PART:
            is_unverified = fault.part is Part.MAC and damaged_parts & {LOSSY_PART, Part.CHECKSUM}
            description = UNVERIFIED if is_unverified else DESCRIPTIONS[fault.part].format(frames=frame_count)
            steps.append(Step(None, rule.id, "", description, loses=False))
        elif drop:
            location = fault_location(fault)
            description = (
                f"What follows {location} cannot be read and is left out; {frame_count} before it are kept."
            )
            steps.append(Step(frames + 1, rule.id, "", description, loses=True))
        else:
            remaining_errors.append(RemainingError(frames + 1, rule.id, "", rule.wrong, needs_drop=True))
    return steps, remaining_errors


def fault_location(fault: Fault) -> str:
    """Return the location of a fault as text."""
    return f"byte {fault.offset:,} of the {fault.stream}" if isinstance(fault, DamagedContainer) else "this place"
