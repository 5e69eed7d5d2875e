"""Fixtures for tests of the server process."""

from tests.hosting.conftest import clients

__all__ = ["clients"]
