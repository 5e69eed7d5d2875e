"""Fixtures of the schema tests."""

from tests.hosting.api.conftest import ada

__all__ = ["ada"]
