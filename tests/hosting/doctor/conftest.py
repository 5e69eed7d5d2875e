"""Fixtures of the doctor tests: an intact installation."""

from collections.abc import Iterator

import pytest

from holdfast.hosting.app import App
from holdfast.hosting.services import repositories
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.settings import Settings


@pytest.fixture
def app(settings: Settings, database: Database) -> Iterator[App]:
    """Open a host with two repositories: `admin/full` (1) and `admin/empty` (2)."""
    opened = App.open(settings)
    settings.data.chmod(0o700)
    if database.is_sqlite:
        (settings.data / "holdfast.sqlite3").chmod(0o600)
    admin = accounts.find_user(database, "admin")
    wanted = repositories.NewRepository
    repositories.create(opened, admin, admin, wanted(name="full"), {"README.md": b"# Full\n"})
    repositories.create(opened, admin, admin, wanted(name="empty"))
    yield opened
    opened.close()
