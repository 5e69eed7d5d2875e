"""Fixtures of the API tests."""

from tests.hosting.api.conftest import ada

__all__ = ["ada"]
