"""Fixtures: a service with clients, and a host without a service."""

from collections.abc import Iterator

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings
from tests.conftest import Service
from tests.hosting.api_clients import ServiceClients, open_clients


@pytest.fixture
def clients(service: Service) -> Iterator[ServiceClients]:
    """Run a service and open clients for its users."""
    yield from open_clients(service)


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open everything the service has, on a database that is ready."""
    del database
    opened = App.open(settings)
    yield opened
    opened.close()
