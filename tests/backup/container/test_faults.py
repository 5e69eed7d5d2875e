"""Faults around a stream: raised, or passed to a callback so that reading goes on."""

import pytest

from holdfast.backup.container.faults import Fault, reason_for, tell
from holdfast.backup.errors import BackupError, DamagedBackup, DamagedContainer, FolderIncomplete, UnreadableBackup
from holdfast.backup.parts import Part

LOSES = (Part.COMPRESSION, Part.CHECKSUM)


def damage(part: Part) -> DamagedContainer:
    """Make the fault of a part."""
    return DamagedContainer(f"the {part} is wrong", part=part, offset=7, stream="main file")


def test_a_fault_nobody_asked_for_is_raised() -> None:
    """Whoever opens a backup without asking for its faults gets nothing that is damaged."""
    for fault in (damage(Part.MAC), FolderIncomplete("no main file", part=Part.MAIN)):
        with pytest.raises(type(fault)) as caught:
            tell(fault, None)
        assert caught.value is fault


def test_a_fault_that_was_asked_for_is_told_and_reading_goes_on() -> None:
    """Each of them, in its order."""
    reported: list[Fault] = []
    faults: list[Fault] = [
        damage(Part.MAC),
        FolderIncomplete("no metadata", part=Part.METADATA_MISSING),
        damage(Part.PADDING),
    ]
    for fault in faults:
        tell(fault, reported.append)
    assert reported == faults


@pytest.mark.parametrize("part", Part)
def test_only_what_loses_the_beginning_explains_why_nothing_can_be_read(part: Part) -> None:
    """A wrong MAC does not keep a stream from being recognised; one that cannot be decompressed does."""
    refusal = UnreadableBackup("not a backup")
    reason = reason_for(refusal, [FolderIncomplete("no metadata", part=Part.METADATA_MISSING), damage(part)])
    assert (reason is refusal) is (part not in LOSES)
    if part in LOSES:
        assert isinstance(reason, DamagedBackup)
        assert reason.problem == f"the {part} is wrong; nothing of it can be read"
        assert (reason.offset, reason.stream) == (7, "main file")


def test_of_several_reasons_the_first_is_given() -> None:
    """It is where reading stopped; without any the refusal stands."""
    refusal = BackupError("not a backup")
    reason = reason_for(refusal, [damage(Part.MAC), damage(Part.CHECKSUM), damage(Part.COMPRESSION)])
    assert str(reason).startswith("the checksum is wrong")
    assert reason_for(refusal, []) is refusal
