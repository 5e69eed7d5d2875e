"""What the tests of pages share."""

import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import app, clients
from tests.web.organization_fixture import OrganizationFixture, guild_in

__all__ = ["app", "clients"]


@pytest.fixture
def guild(clients: ServiceClients) -> OrganizationFixture:
    """Give people a place to look at."""
    return guild_in(clients)
