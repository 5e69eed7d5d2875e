"""What the tests of issues share."""

import pytest

from holdfast.hosting.store.accounts import Account, find_user
from holdfast.hosting.store.database import Database


@pytest.fixture
def ada(database: Database) -> Account:
    """Return the only account there is."""
    return find_user(database, "admin")
