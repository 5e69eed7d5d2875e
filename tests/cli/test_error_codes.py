"""The exit status of each kind of error."""

import pytest

from holdfast.backup.errors import DamagedBackup, KeyIncomplete, KeyRefused, UnreadableBackup, WrongKey
from holdfast.cli.error_codes import exit_for
from holdfast.cli.exit_codes import ExitCode
from holdfast.errors import HoldfastError
from holdfast.hosting.errors import DatabaseError, NameTaken
from holdfast.settings import SettingError


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnreadableBackup("x"), 3),
        (DamagedBackup("x", frame=1, offset=2), 3),
        (DatabaseError("x"), 3),
        (WrongKey("x"), 4),
        (KeyRefused("x"), 2),
        (KeyIncomplete("x", missing=("y",)), 2),
        (SettingError("x"), 2),
        (NameTaken("x"), 1),
        (HoldfastError("x"), 1),
    ],
)
def test_errors_map_to_documented_statuses(error: HoldfastError, status: int) -> None:
    """Each class of errors has its documented exit status, which scripts rely on."""
    assert exit_for(error) == status


def test_the_numbers_are_as_documented() -> None:
    """The exit statuses have the documented numbers, and each has a description."""
    numbers = {status.name: int(status) for status in ExitCode}
    assert numbers == {
        "FINE": 0,
        "NO": 1,
        "USAGE": 2,
        "UNREADABLE": 3,
        "WRONG_KEY": 4,
        "BUG": 70,
        "INTERRUPTED": 130,
    }
    assert all(status.meaning for status in ExitCode)
