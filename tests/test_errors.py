"""The common base class of all exceptions of Holdfast."""

from holdfast.backup.errors import BackupError
from holdfast.errors import HoldfastError
from holdfast.hosting.errors import HostingError
from holdfast.settings import SettingError


def test_all_errors_have_one_base_class() -> None:
    """A program that embeds Holdfast can catch all errors as `HoldfastError`."""
    for branch in (BackupError, HostingError, SettingError):
        assert issubclass(branch, HoldfastError)
