"""The world the API's tests play in."""

from collections.abc import Iterator

import pytest

from tests.conftest import Service
from tests.hosting.world import World, open_world


@pytest.fixture
def world(service: Service) -> Iterator[World]:
    """Run a service and open clients for its people."""
    yield from open_world(service)
