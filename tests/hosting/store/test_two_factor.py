"""Two-factor secrets and recovery codes in the database."""

from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import select

from holdfast.hosting.store import accounts, two_factor
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import recovery_codes
from holdfast.hosting.store.tables import two_factor as table
from holdfast.secret import Secret

CODES = [Secret("first-code"), Secret("second-code")]


def enable(database: Database, user: Account) -> None:
    """Give a user a confirmed secret and two recovery codes."""
    assert two_factor.start(database, user, "sealed")
    assert two_factor.confirm(database, user, "sealed", 5, CODES)


def test_a_secret_is_pending_until_it_is_confirmed(database: Database, ada: Account) -> None:
    """Only the newest pending secret can be confirmed, and a confirmed one cannot be replaced."""
    assert two_factor.find(database, ada) is None
    assert two_factor.start(database, ada, "first", now=100)
    assert two_factor.start(database, ada, "second", now=200)
    assert not two_factor.is_enabled(database, ada)
    assert not two_factor.confirm(database, ada, "first", 5, CODES)
    assert two_factor.count_codes(database, ada) == 0
    assert two_factor.confirm(database, ada, "second", 5, CODES, now=300)
    assert two_factor.is_enabled(database, ada)
    assert not two_factor.confirm(database, ada, "second", 6, CODES)
    assert not two_factor.start(database, ada, "third")
    two_factor_secret = two_factor.find(database, ada)
    assert two_factor_secret == two_factor.TwoFactorSecret("second", 300, 5)
    assert two_factor.count_codes(database, ada) == 2


def test_a_time_step_is_used_once(database: Database, ada: Account) -> None:
    """A time step is accepted once, also concurrently; earlier steps and an unconfirmed secret are refused."""
    two_factor.start(database, ada, "sealed")
    assert not two_factor.use_step(database, ada, 5)
    two_factor.confirm(database, ada, "sealed", 5, CODES)
    assert not two_factor.use_step(database, ada, 5)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: two_factor.use_step(database, ada, 7), range(8))) == 1
    assert not two_factor.use_step(database, ada, 6)
    assert two_factor.use_step(database, ada, 8)


def test_a_recovery_code_is_used_once_by_its_user(database: Database, ada: Account) -> None:
    """A recovery code is accepted once, also concurrently, and only its hash is stored."""
    eve = accounts.create_user(database, "eve", Secret("a-password-for-tests"))
    enable(database, ada)
    assert not two_factor.use_code(database, eve, CODES[0])
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: two_factor.use_code(database, ada, CODES[0]), range(8))) == 1
    assert two_factor.count_codes(database, ada) == 1
    two_factor.replace_codes(database, ada, [Secret("third-code")])
    assert not two_factor.use_code(database, ada, CODES[1])
    with database.read() as connection:
        (stored,) = connection.execute(select(recovery_codes.c.code_hash)).scalars()
    assert "third" not in stored
    assert len(stored) == 64


def test_secrets_and_codes_are_deleted_with_two_factor_authentication_or_the_user(
    database: Database, ada: Account
) -> None:
    """Removing returns whether two-factor authentication was enabled, and other users keep theirs."""
    eve = accounts.create_user(database, "eve", Secret("a-password-for-tests"))
    assert not two_factor.remove(database, ada)
    two_factor.start(database, ada, "sealed")
    assert not two_factor.remove(database, ada)
    assert two_factor.find(database, ada) is None
    enable(database, ada)
    enable(database, eve)
    assert two_factor.remove(database, ada)
    assert two_factor.count_codes(database, ada) == 0
    assert two_factor.count_codes(database, eve) == 2
    with database.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM users WHERE id = {eve.id}")
        assert connection.execute(select(table)).all() == []
        assert connection.execute(select(recovery_codes)).all() == []
