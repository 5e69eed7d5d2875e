"""What a repair does about damage around the stream: encryption, compression, the folder."""

from collections.abc import Iterable
from typing import Final

from holdfast.backup.container.faults import Fault
from holdfast.backup.errors import DamagedContainer
from holdfast.backup.parts import Part
from holdfast.backup.repairs.plan import RemainingError, Step
from holdfast.backup.rules.container import RULE_OF
from holdfast.backup.rules.registry import rule_named

__all__ = ["LOSES", "REWRITTEN", "around", "each_once"]

# The parts of the file that holds the stream: with one of them damaged, only the file itself can be put back.
REWRITTEN: Final = frozenset({Part.LENGTH, Part.TOKENS, Part.MAC, Part.PADDING, Part.COMPRESSION, Part.CHECKSUM})
# What follows damaged compression is lost; everything else is only written again.
LOSES: Final = Part.COMPRESSION
WORDS: Final = {
    Part.LENGTH: "The backup is written again with what is left of it: {frames}.",
    Part.TOKENS: "The backup is written again without it; it opens with its token.",
    Part.MAC: "The backup is encrypted again with all of its content: {frames}, whose checksum is correct.",
    Part.PADDING: "The backup is written again with the required padding.",
    Part.CHECKSUM: "The backup is written again with what can be read, {frames}, not authenticated.",
    Part.MAIN: "The snapshot, which has no messages, is skipped; the newest with messages is repaired.",
    Part.METADATA: "The backup is written again without it.",
    Part.METADATA_MISSING: "The backup is written again without it.",
}
UNPROVEN: Final = "The backup is encrypted again with what can be read, which could not be authenticated."


def each_once(faults: Iterable[Fault]) -> list[Fault]:
    """Keep one of each fault: every reading of a backup tells of them anew."""
    return list({RULE_OF[fault.part] + str(fault): fault for fault in faults}.values())


def around(faults: Iterable[Fault], frames: int, *, drop: bool) -> tuple[list[Step], list[RemainingError]]:
    """Tell what is done about faults around a stream of which so many frames can be read, and what stays."""
    steps: list[Step] = []
    remaining_errors: list[RemainingError] = []
    met = {fault.part for fault in faults}
    kept = f"{frames:,} {'frame' if frames == 1 else 'frames'}"
    for fault in faults:
        rule = rule_named(RULE_OF[fault.part])
        if fault.part is not LOSES:
            unproven = fault.part is Part.MAC and met & {LOSES, Part.CHECKSUM}
            description = UNPROVEN if unproven else WORDS[fault.part].format(frames=kept)
            steps.append(Step(None, rule.id, "", description, loses=False))
        elif drop:
            description = (
                f"What follows {place_of(fault)} cannot be read and is left out; {kept} before it are kept."
            )
            steps.append(Step(frames + 1, rule.id, "", description, loses=True))
        else:
            remaining_errors.append(RemainingError(frames + 1, rule.id, "", rule.wrong, needs_drop=True))
    return steps, remaining_errors


def place_of(fault: Fault) -> str:
    """Name the place of a fault."""
    return f"byte {fault.offset:,} of the {fault.stream}" if isinstance(fault, DamagedContainer) else "this place"
