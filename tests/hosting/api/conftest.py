"""Fixtures of the API tests."""

import httpx
import pytest

from tests.hosting.api_clients import ServiceClients
from tests.hosting.repository_helpers import make_repository, with_branches


@pytest.fixture
def ada(clients: ServiceClients) -> httpx.Client:
    """Create a repository of Ada, and return her client."""
    account = clients.account("ada")
    with_branches(clients, make_repository(clients.database, account))
    return clients.with_token(account)
