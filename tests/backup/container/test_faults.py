"""Faults around a stream: raised, or passed to a callback so that reading goes on."""

import pytest

from holdfast.backup.container.faults import Fault, reason_for, report_fault
from holdfast.backup.errors import BackupError, DamagedBackup, DamagedContainer, FolderIncomplete, UnreadableBackup
from holdfast.backup.parts import Part

LOSES = (Part.COMPRESSION, Part.CHECKSUM)


def damage(part: Part) -> DamagedContainer:
    """Make the fault of a part."""
    return DamagedContainer(f"the {part} is wrong", part=part, offset=7, stream="main file")


def test_a_fault_nobody_asked_for_is_raised() -> None:
    """Without a callback for faults, the fault itself is raised."""
    for fault in (damage(Part.MAC), FolderIncomplete("no main file", part=Part.MAIN)):
        with pytest.raises(type(fault)) as caught:
            report_fault(fault, None)
        assert caught.value is fault


def test_a_fault_that_was_asked_for_is_told_and_reading_goes_on() -> None:
    """The callback gets all faults in their order, and none is raised."""
    reported: list[Fault] = []
    faults: list[Fault] = [
        damage(Part.MAC),
        FolderIncomplete("no metadata", part=Part.METADATA_MISSING),
        damage(Part.PADDING),
    ]
    for fault in faults:
        report_fault(fault, reported.append)
    assert reported == faults


@pytest.mark.parametrize("part", Part)
def test_only_what_loses_the_beginning_explains_why_nothing_can_be_read(part: Part) -> None:
    """Only a fault that hides the beginning of the stream replaces the refusal as the reason."""
    refusal = UnreadableBackup("not a backup")
    reason = reason_for(refusal, [FolderIncomplete("no metadata", part=Part.METADATA_MISSING), damage(part)])
    assert (reason is refusal) is (part not in LOSES)
    if part in LOSES:
        assert isinstance(reason, DamagedBackup)
        assert reason.problem == f"the {part} is wrong; nothing of it can be read"
        assert (reason.offset, reason.stream) == (7, "main file")


def test_of_several_reasons_the_first_is_given() -> None:
    """The first fault that loses data is the reason, and without faults the refusal is returned."""
    refusal = BackupError("not a backup")
    reason = reason_for(refusal, [damage(Part.MAC), damage(Part.CHECKSUM), damage(Part.COMPRESSION)])
    assert str(reason).startswith("the checksum is wrong")
    assert reason_for(refusal, []) is refusal
