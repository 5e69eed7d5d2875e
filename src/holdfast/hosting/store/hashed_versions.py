"""Versions for optimistic locking of rows that count none: a hash of the values that an edit can change."""

import hashlib

__all__ = ["hashed_version"]


def hashed_version(*values: object) -> str:
    """Return the version of some values; the same values have the same version."""
    return hashlib.sha256(repr(values).encode()).hexdigest()
