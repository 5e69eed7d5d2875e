"""Password checks: rate limits, length limits and e-mail addresses."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import HashingBusy, LoginRequired, TooManyGuesses, WrongPassword
from holdfast.hosting.services import passwords
from holdfast.hosting.store import accounts, email_addresses
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.hash_limit import HashLimiter
from holdfast.secret import Secret
from holdfast.settings import Settings
from tests.conftest import ADMIN_PASSWORD


def test_wrong_passwords_are_rate_limited(database: Database, settings: Settings) -> None:
    """After ten wrong passwords from one address even the right one is refused; a login resets the count."""
    right, wrong = Secret(ADMIN_PASSWORD), Secret("wrong")
    for _ in range(9):
        assert passwords.check(database, settings, "admin", wrong, "192.0.2.1") is None
    assert passwords.check(database, settings, "admin", right, "192.0.2.1") is not None
    for _ in range(10):
        assert passwords.check(database, settings, "admin", wrong, "192.0.2.1") is None
    with pytest.raises(TooManyGuesses) as excinfo:
        passwords.check(database, settings, "admin", right, "192.0.2.1")
    assert 600 < excinfo.value.seconds <= 900
    with pytest.raises(TooManyGuesses) as excinfo:
        passwords.check_limit(database, settings, "admin", "192.0.2.1")
    assert 600 < excinfo.value.seconds <= 900
    passwords.check_limit(database, settings, "admin", "192.0.2.2")
    assert passwords.check(database, settings, "admin", right, "192.0.2.2") is not None


def test_guesses_at_once_are_counted_before_they_are_hashed(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of thirty concurrent guesses only as many are hashed as the limit allows."""
    hashed: list[str] = []
    verify = accounts.verify
    monkeypatch.setattr(accounts, "hashing", HashLimiter(8, queue_length=100))

    def noted(password_hash: str, typed: Secret) -> bool:
        hashed.append(typed.reveal())
        return verify(password_hash, typed)

    monkeypatch.setattr(accounts, "verify", noted)

    def guess(number: int) -> bool:
        try:
            return passwords.check(database, settings, "admin", Secret(f"wrong{number}"), "192.0.2.1") is None
        except TooManyGuesses:
            return False

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(guess, range(30))) == 10
    assert len(hashed) == 10


def test_a_correct_password_is_not_counted(database: Database, settings: Settings) -> None:
    """Any number of logins with the right password does not reach the rate limit."""
    for _ in range(3 * settings.login_failures):
        assert passwords.check(database, settings, "admin", Secret(ADMIN_PASSWORD), "192.0.2.1") is not None


def test_a_busy_password_pool_is_not_counted_as_a_guess(
    database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Attempts that fail because the hash limiter is busy do not reach the rate limit."""
    busy = HashLimiter(1, timeout=0)
    monkeypatch.setattr(accounts, "hashing", busy)
    with busy.slot():
        for _ in range(3 * settings.login_failures):
            with pytest.raises(HashingBusy):
                passwords.check(database, settings, "admin", Secret("wrong"), "192.0.2.1")
    assert passwords.check(database, settings, "admin", Secret(ADMIN_PASSWORD), "192.0.2.1") is not None


def test_a_very_long_name_or_password_matches_no_user(database: Database, settings: Settings) -> None:
    """Names and passwords over the length limit do not match and do not count as guesses."""
    longest = "a" * passwords.LONGEST
    assert passwords.is_too_long(longest, Secret(longest)) is False
    assert passwords.is_too_long(longest + "a", Secret("x")) is True
    for _ in range(2 * settings.login_failures):
        assert passwords.check(database, settings, "admin", Secret(longest + "a"), "192.0.2.1") is None
        assert passwords.check(database, settings, longest + "a", Secret("x"), "192.0.2.1") is None
    assert passwords.check(database, settings, "admin", Secret(ADMIN_PASSWORD), "192.0.2.1") is not None


def test_a_user_confirms_their_password(app: App) -> None:
    """The actor then counts as confirmed by password; a wrong password and anonymous users are refused."""
    admin = Actor(accounts.find_user(app.database, "admin"))
    assert passwords.confirm(app, admin, Secret(ADMIN_PASSWORD), "192.0.2.1").by_password
    with pytest.raises(WrongPassword):
        passwords.confirm(app, admin, Secret("wrong"), "192.0.2.1")
    with pytest.raises(LoginRequired):
        passwords.confirm(app, ANONYMOUS, Secret(ADMIN_PASSWORD), "192.0.2.1")


def test_an_email_address_identifies_its_only_user(database: Database) -> None:
    """A main or further e-mail address, in any letter case, is replaced by the name of its user.

    An address of two users, or of none, is left as it is.
    """
    ada = accounts.create_user(database, "ada", Secret("a-password-for-tests"), email="Ada@example.org")
    for name in ("bob", "eve"):
        accounts.create_user(database, name, Secret("a-password-for-tests"), email="shared@example.org")
    email_addresses.add_addresses(database, ada, ["ada@home.example"])
    results = [
        passwords.account_name(database, typed)
        for typed in (
            "Ada@example.org",
            "ADA@home.example",
            "ada",
            "nobody@example.org",
            "shared@example.org",
            "@",
        )
    ]
    assert results == ["ada", "ada", "ada", "nobody@example.org", "shared@example.org", "@"]
    assert passwords.account_name(database, "a\0@example.org") == "a\0@example.org"
