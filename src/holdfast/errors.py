"""The root of every error Holdfast raises on purpose.

    HoldfastError
    ├── SettingError                 holdfast.settings
    ├── BackupError ...              holdfast.backup.errors
    └── HostingError ...             holdfast.hosting.errors

A message says what happened, to what, and what to do next. It never holds message text, a key, a password or a
token.
"""

__all__ = ["HoldfastError"]


class HoldfastError(Exception):
    """Something Holdfast was asked to do cannot be done, and its message says why."""
