"""What the tests of issues share."""

import httpx
import pytest

from tests.hosting.places import make_repository, with_branches
from tests.hosting.world import World


@pytest.fixture
def ada(world: World) -> httpx.Client:
    """Give Ada a repository, and return her client."""
    account = world.account("ada")
    with_branches(world, make_repository(world.database, account))
    return world.holding(account)
