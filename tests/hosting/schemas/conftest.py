"""The world as tests of the API see it."""

from tests.hosting.api.conftest import ada

__all__ = ["ada"]
