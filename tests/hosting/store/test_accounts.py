"""Users and passwords: names, lookup and hashing."""

import argon2
import pytest
from argon2.exceptions import VerifyMismatchError
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.hosting.errors import NameRefused, NameTaken, NoSuchUser, PasswordRefused
from holdfast.hosting.store import accounts, sessions
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from tests.conftest import ADMIN_PASSWORD

PASSWORD = Secret("long enough")


def test_a_user_is_found_in_whatever_case_it_is_typed(database: Database) -> None:
    """A user is found by the name in any case, and the name keeps its original case."""
    account = accounts.create_user(database, "Ada", PASSWORD, full_name="Ada Byron")
    assert accounts.find_user(database, "aDA") == account
    assert (account.name, account.full_name, account.is_admin) == ("Ada", "Ada Byron", False)


def test_names_that_differ_by_case_only_are_the_same_name(database: Database) -> None:
    """A name that differs only by case is taken, as its user could impersonate the other one."""
    with pytest.raises(NameTaken, match="exists already"):
        accounts.create_user(database, "ADMIN", PASSWORD)


LOOK_ALIKE = "\N{CYRILLIC SMALL LETTER A}dmin"
MISLEADING = [
    "",
    "-a",
    "a-",
    "a..b",
    "a/b",
    "a b",
    "x" * 81,
    "ä",
    LOOK_ALIKE,
    "..",
    "a\n",
    "a\x00b",
    "api",
    "Login",
]


@pytest.mark.parametrize("name", MISLEADING)
def test_names_that_could_mislead_are_refused(database: Database, name: str) -> None:
    """Names are parts of URLs, so only letters, digits and single separators are accepted."""
    with pytest.raises(NameRefused):
        accounts.create_user(database, name, PASSWORD)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.from_regex(r"[A-Za-z0-9]([._-]?[A-Za-z0-9]){0,19}", fullmatch=True))
def test_names_made_by_the_rule_are_accepted(name: str) -> None:
    """Every name that matches the documented rule and is not reserved is accepted."""
    if name.casefold() not in accounts.RESERVED:
        accounts.check_name(name)


def test_only_the_right_password_is_right(database: Database) -> None:
    """A wrong password, an empty password and an unknown name return no user."""
    admin = accounts.find_user(database, "admin")
    assert accounts.check_password(database, "Admin", Secret(ADMIN_PASSWORD)) == admin
    assert accounts.check_password(database, "admin", Secret(ADMIN_PASSWORD + "x")) is None
    assert accounts.check_password(database, "admin", Secret("")) is None
    assert accounts.check_password(database, "nobody", Secret(ADMIN_PASSWORD)) is None


def test_a_new_password_replaces_the_old_one_and_ends_every_session(database: Database) -> None:
    """After a change of the password the old one is wrong, and earlier sessions have no user."""
    admin = accounts.find_user(database, "admin")
    tokens = [sessions.start_session(database, admin, days=1) for _ in range(2)]
    accounts.set_password(database, "ADMIN", Secret("something else"))
    assert accounts.check_password(database, "admin", Secret(ADMIN_PASSWORD)) is None
    now = accounts.check_password(database, "admin", Secret("something else"))
    assert now is not None
    assert now.id == admin.id
    assert [sessions.user_of(database, token) for token in tokens] == [None, None]


def test_short_passwords_and_unknown_names_are_refused(database: Database) -> None:
    """A short password raises PasswordRefused, and an unknown name NoSuchUser."""
    with pytest.raises(PasswordRefused, match="at least 8"):
        accounts.create_user(database, "ada", Secret("short"))
    with pytest.raises(PasswordRefused):
        accounts.set_password(database, "admin", Secret("short"))
    with pytest.raises(NoSuchUser):
        accounts.set_password(database, "nobody", PASSWORD)


def test_everybody_is_listed_by_name(database: Database) -> None:
    """Users are sorted by name without regard to case."""
    for name in ("Zoe", "bob"):
        accounts.create_user(database, name, PASSWORD)
    assert [user.name for user in accounts.all_users(database)] == ["admin", "bob", "Zoe"]
    assert accounts.count_users(database) == 3


def test_the_database_does_not_hold_the_password(database: Database) -> None:
    """The database has an argon2id hash, which does not contain the password."""
    with database.read() as connection:
        stored = connection.exec_driver_sql("SELECT password_hash FROM users").scalar_one()
    assert stored.startswith("$argon2id$")
    assert ADMIN_PASSWORD not in stored


def test_invented_passwords_differ_and_can_be_used() -> None:
    """Two generated passwords differ, are accepted, and contain no characters that look alike."""
    first, second = accounts.new_password(), accounts.new_password()
    assert first != second
    accounts.check_new_password(first)
    assert not set("0O1l") & set(first.reveal())


def test_the_hash_for_unknown_users_costs_what_others_cost() -> None:
    """It has the parameters of a computed hash, and is verified to the end, without a match."""
    computed, unmatched = accounts.hasher.hash("a password"), accounts.unmatched_hash()
    assert argon2.extract_parameters(unmatched) == argon2.extract_parameters(computed)
    assert list(map(len, unmatched.split("$"))) == list(map(len, computed.split("$")))
    with pytest.raises(VerifyMismatchError):
        accounts.hasher.verify(unmatched, "a password")
    assert accounts.unmatched_hash() != unmatched
