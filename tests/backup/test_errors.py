"""Errors say where the damage is."""

from holdfast.backup.errors import DamagedBackup


def test_damage_is_located() -> None:
    """The frame and the byte are in the message and on the error."""
    error = DamagedBackup("the record ends too soon", frame=3, offset=1200)
    assert str(error) == "the record ends too soon (frame 3, byte 1200)"
    assert (error.frame, error.offset) == (3, 1200)
