"""Fixtures of the tests of the store."""

import pytest

from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.repositories import Repository
from tests.hosting.repository_helpers import make_repository


@pytest.fixture
def ada(database: Database) -> Account:
    """Return the only account."""
    return find_user(database, "admin")


@pytest.fixture
def repository(database: Database, ada: Account) -> Repository:
    """Create a repository without refs."""
    return make_repository(database, ada)
