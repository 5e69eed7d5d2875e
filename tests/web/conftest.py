"""What the tests of pages share."""

import pytest

from tests.hosting.conftest import world
from tests.hosting.world import World
from tests.web.visitors import Guild, guild_in

__all__ = ["world"]


@pytest.fixture
def guild(world: World) -> Guild:
    """Give people a place to look at."""
    return guild_in(world)
