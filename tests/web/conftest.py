"""Fixtures of the page tests."""

import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.conftest import app, clients
from tests.web.organization_fixture import OrganizationFixture, guild_in

__all__ = ["app", "clients"]


@pytest.fixture
def guild(clients: ServiceClients) -> OrganizationFixture:
    """Create an organization with users and repositories."""
    return guild_in(clients)
