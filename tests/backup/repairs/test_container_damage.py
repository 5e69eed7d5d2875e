"""Every container fault has a repair step or a remaining error, and only lossy repairs need `drop`."""

import pytest

from holdfast.backup.container.faults import Fault
from holdfast.backup.errors import DamagedContainer, FolderIncomplete
from holdfast.backup.parts import Part
from holdfast.backup.repairs.container_damage import LOSSY_PART, container_steps, unique_faults
from holdfast.backup.rules.container import RULE_OF


def fault(part: Part, offset: int = 7) -> Fault:
    """Return a fault."""
    if part in {Part.MAIN, Part.METADATA_MISSING}:
        return FolderIncomplete("something is missing", part=part)
    return DamagedContainer("something is damaged", part=part, offset=offset, stream="compressed stream")


@pytest.mark.parametrize("part", Part)
def test_every_part_is_mended_or_waits_for_leave_to_drop(part: Part) -> None:
    """Each damaged part gives one step, or one entry that needs `drop`, under the rule of that part."""
    for drop in (False, True):
        steps, left = container_steps([fault(part)], 12, drop=drop)
        assert [*(step.rule for step in steps), *(entry.rule for entry in left)] == [RULE_OF[part]]
        assert [entry.needs_drop for entry in left] == ([True] if part is LOSSY_PART and not drop else [])
        assert [(step.loses, step.words.endswith(".")) for step in steps if drop] == [
            (part is LOSSY_PART, True)
        ] * drop


def test_what_is_lost_is_said_with_counts() -> None:
    """The step has the position of the damage and the number of frames before it."""
    ((step,), _left) = container_steps([fault(LOSSY_PART)], 12, drop=True)
    assert step.frame == 13
    assert "byte 7 of the compressed stream" in step.words
    assert "12 frames before it are kept" in step.words
    ((first,), _left) = container_steps([fault(Part.LENGTH)], 1, drop=False)
    assert (first.frame, "1 frame." in first.words) == (None, True)


def test_only_a_right_checksum_vouches_for_what_has_a_wrong_mac() -> None:
    """The step says that the checksum is correct only if nothing but the MAC is wrong."""
    for others in ([], [Part.COMPRESSION], [Part.CHECKSUM]):
        steps, _left = container_steps([fault(part) for part in (Part.MAC, *others)], 12, drop=True)
        assert ("checksum is correct" in steps[0].words, "not be authenticated" in steps[0].words) == (
            not others,
            bool(others),
        )


def test_a_fault_is_told_once() -> None:
    """Faults reported by several readings of a backup are listed once."""
    faults = [fault(Part.MAC), fault(LOSSY_PART), fault(Part.MAC), fault(LOSSY_PART), fault(LOSSY_PART, 8)]
    assert [item.part for item in unique_faults(faults)] == [Part.MAC, LOSSY_PART, LOSSY_PART]
