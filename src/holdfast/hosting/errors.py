"""What can go wrong in the repository host.

HostingError
├── DatabaseError            the database cannot be used
│   └── DatabaseTooNew       it was written by a newer Holdfast
├── NameRefused              a user name breaks a rule
├── NameTaken                a user of that name exists already
└── NoSuchUser               no user has that name
"""

from holdfast.errors import HoldfastError

__all__ = [
    "DatabaseError",
    "DatabaseTooNew",
    "HostingError",
    "NameRefused",
    "NameTaken",
    "NoSuchUser",
    "PasswordRefused",
]


class HostingError(HoldfastError):
    """The host cannot do what it was asked to."""


class DatabaseError(HostingError):
    """The database cannot be used."""


class DatabaseTooNew(DatabaseError):
    """The database was written by a newer Holdfast than this one."""


class NameRefused(HostingError):
    """A name breaks a rule; the message says which."""


class NameTaken(HostingError):
    """A user of that name exists already; names that differ only by case count as the same."""


class NoSuchUser(HostingError):
    """No user has that name."""


class PasswordRefused(HostingError):
    """A password is too short to protect anything."""
