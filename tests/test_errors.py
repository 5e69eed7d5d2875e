"""All exceptions that Holdfast raises on purpose have one base class."""

from holdfast.backup.errors import BackupError
from holdfast.errors import HoldfastError
from holdfast.hosting.errors import HostingError
from holdfast.settings import SettingError


def test_all_errors_have_one_base_class() -> None:
    """Whoever embeds Holdfast can catch everything with one clause."""
    for branch in (BackupError, HostingError, SettingError):
        assert issubclass(branch, HoldfastError)
