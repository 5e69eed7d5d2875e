"""What the tests of issues share."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository, with_branches


@pytest.fixture
def ada(world: ServiceClients) -> httpx.Client:
    """Give Ada a repository, and return her client."""
    account = world.account("ada")
    with_branches(world, make_repository(world.database, account))
    return world.holding(account)
