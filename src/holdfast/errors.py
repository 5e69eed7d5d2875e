"""The base class of all errors Holdfast raises on purpose.

    HoldfastError
    ├── SettingError                 holdfast.settings
    ├── BackupError ...              holdfast.backup.errors
    └── HostingError ...             holdfast.hosting.errors

A message says what happened, to what, and what to do next. It never contains message text, a key, a password or a
token.
"""

__all__ = ["HoldfastError"]


class HoldfastError(Exception):
    """The base class of Holdfast's errors; the message says what failed and why."""
