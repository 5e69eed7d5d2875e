"""The class hierarchy of the host's errors."""

from holdfast.hosting.errors import DatabaseError, DatabaseTooNew, HostingError


def test_a_newer_database_is_a_database_error() -> None:
    """DatabaseTooNew is a DatabaseError, so code that handles database errors handles it too."""
    assert issubclass(DatabaseTooNew, DatabaseError)
    assert issubclass(DatabaseError, HostingError)
