"""Passwords, checked in one place."""

import pytest

from holdfast.hosting import passwords
from holdfast.hosting.errors import TooManyGuesses
from holdfast.hosting.store.database import Database
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD


def test_whoever_guesses_waits(database: Database, settings: Settings) -> None:
    """From one address; the right password clears the count."""
    right, wrong = Secret(ADMIN_PASSWORD), Secret("wrong")
    for _ in range(9):
        assert passwords.check(database, settings, "admin", wrong, "192.0.2.1") is None
    assert passwords.check(database, settings, "admin", right, "192.0.2.1") is not None
    for _ in range(10):
        assert passwords.check(database, settings, "admin", wrong, "192.0.2.1") is None
    with pytest.raises(TooManyGuesses) as caught:
        passwords.check(database, settings, "admin", right, "192.0.2.1")
    assert 0 < caught.value.seconds <= 900
    assert passwords.check(database, settings, "admin", right, "192.0.2.2") is not None


def test_what_is_too_long_is_nobodys(database: Database, settings: Settings) -> None:
    """And is not worth counting."""
    assert passwords.check(database, settings, "a" * 2000, Secret("x"), "192.0.2.1") is None
