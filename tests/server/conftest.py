"""Fixtures for tests of the server process."""

from tests.hosting.conftest import world

__all__ = ["world"]
