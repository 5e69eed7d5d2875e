"""The errors of the host."""

from holdfast.hosting.errors import DatabaseError, DatabaseTooNew, HostingError


def test_a_newer_database_is_a_database_error() -> None:
    """Whoever handles database errors handles this one too."""
    assert issubclass(DatabaseTooNew, DatabaseError)
    assert issubclass(DatabaseError, HostingError)
