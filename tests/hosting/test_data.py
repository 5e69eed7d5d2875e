"""The first start, and opening what it made."""

import pytest

from holdfast.hosting.data import FirstStart, open_database, prepare, ready_database
from holdfast.hosting.errors import DatabaseError
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings


def test_the_first_start_makes_an_administrator_with_the_password_given(
    empty_database: Database, settings: Settings
) -> None:
    """A password from the settings is used and not shown again."""
    assert prepare(empty_database, settings) == FirstStart("admin", None)
    assert settings.admin_password is not None
    user = accounts.check_password(empty_database, "admin", settings.admin_password)
    assert user is not None
    assert user.is_admin


def test_without_a_password_one_is_invented_and_told_once(empty_database: Database, settings: Settings) -> None:
    """The second start tells nothing and changes nothing."""
    bare = Settings(data=settings.data, admin_name="root")
    first = prepare(empty_database, bare)
    assert first is not None
    assert first.admin == "root"
    assert isinstance(first.password, Secret)
    assert accounts.check_password(empty_database, "root", first.password) is not None
    assert prepare(empty_database, bare) is None
    assert accounts.count_users(empty_database) == 1


def test_a_ready_database_is_migrated(settings: Settings) -> None:
    """Commands can use it at once."""
    with ready_database(settings) as database:
        assert accounts.all_users(database) == []


def test_an_unreachable_server_is_said_so(settings: Settings) -> None:
    """Opening does not hide the failure."""
    gone = Settings(data=settings.data, database_url=Secret("postgresql://x@127.0.0.1:1/x"))
    with open_database(gone) as database, pytest.raises(DatabaseError, match="cannot be reached"):
        prepare(database, gone)
