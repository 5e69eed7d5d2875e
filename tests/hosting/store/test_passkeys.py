"""Passkeys and challenges in the database."""

from concurrent.futures import ThreadPoolExecutor, wait

import msgspec
import pytest
from sqlalchemy import select

from holdfast.hosting.errors import PasskeyTaken, TooManyPasskeys
from holdfast.hosting.store import accounts, passkeys, two_factor
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.passkeys import NewPasskey, PasskeyChallenge
from holdfast.hosting.store.tables import passkey_challenges, users
from holdfast.hosting.store.tables import passkeys as table
from holdfast.secret import Secret

CODES = [Secret("first-code"), Secret("second-code")]
PHONE = NewPasskey("Phone", "cGhvbmU", "a2V5", "aGFuZGxl", 5)
NOW = 1000


@pytest.fixture
def ada(database: Database) -> Account:
    """Add a user."""
    return accounts.create_user(database, "ada", Secret("a-password-for-tests"))


def add(database: Database, user: Account, credential: str, *, sign_count: int = 0) -> bool:
    """Add a passkey."""
    new = msgspec.structs.replace(PHONE, credential_id=credential, sign_count=sign_count)
    return passkeys.add(database, user, new, CODES, limit=20, now=NOW)


def test_the_first_second_factor_takes_the_recovery_codes(database: Database, ada: Account) -> None:
    """Recovery codes are stored with the first second factor and deleted with the last one."""
    assert not two_factor.is_enabled(database, ada)
    assert passkeys.add(database, ada, PHONE, CODES, limit=20, now=NOW)
    assert two_factor.is_enabled(database, ada)
    (phone,) = passkeys.list_passkeys(database, ada)
    assert phone == passkeys.Passkey(phone.id, "Phone", "cGhvbmU", "a2V5", "aGFuZGxl", NOW, 0)
    assert two_factor.use_code(database, ada, CODES[0])
    assert not add(database, ada, "other")
    two_factor.start(database, ada, "sealed")
    assert two_factor.confirm(database, ada, "sealed", 5, ())
    assert two_factor.count_codes(database, ada) == 1
    assert two_factor.remove_secret(database, ada)
    assert passkeys.remove(database, ada, phone.id) == ("Phone", True)
    assert passkeys.remove(database, ada, phone.id) is None
    assert two_factor.count_codes(database, ada) == 1
    (last,) = passkeys.list_passkeys(database, ada)
    assert passkeys.remove(database, ada, last.id) == ("Phone", False)
    assert two_factor.count_codes(database, ada) == 0
    assert not two_factor.is_enabled(database, ada)


def test_the_app_keeps_the_codes_of_the_last_passkey(database: Database, ada: Account) -> None:
    """Recovery codes stay while there is an app, and are deleted with the last second factor."""
    two_factor.start(database, ada, "sealed")
    assert add(database, ada, "phone")
    assert two_factor.confirm(database, ada, "sealed", 5, ())
    (phone,) = passkeys.list_passkeys(database, ada)
    assert passkeys.remove(database, ada, phone.id) == ("Phone", True)
    assert two_factor.count_codes(database, ada) == 2
    assert not two_factor.remove_secret(database, ada)
    assert two_factor.count_codes(database, ada) == 0


def test_of_passkeys_added_concurrently_one_is_the_first(database: Database, ada: Account) -> None:
    """Of passkeys added concurrently only one stores its recovery codes, as the first second factor."""
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda number: add(database, ada, f"key{number}"), range(8))) == 1
    assert two_factor.count_codes(database, ada) == 2


def test_one_waits_for_another_that_is_being_added(database: Database, ada: Account) -> None:
    """Adding a passkey waits for a lock on the user's row, or two could both be the first second factor."""
    with ThreadPoolExecutor(1) as pool:
        with database.write() as connection:
            # What a foreign key needs does not conflict with this.
            held = select(users.c.id).where(users.c.id == ada.id).with_for_update(key_share=True)
            connection.execute(held)
            adding = pool.submit(add, database, ada, "phone")
            assert wait([adding], timeout=0.5).not_done == {adding}
        assert adding.result(timeout=30)


def test_passkeys_are_limited_and_unique(database: Database, ada: Account) -> None:
    """A credential is unique among all users, and a refused passkey changes nothing."""
    eve = accounts.create_user(database, "eve", Secret("a-password-for-tests"))
    add(database, ada, "one")
    for user in (ada, eve):
        with pytest.raises(PasskeyTaken):
            add(database, user, "one")
    assert not two_factor.is_enabled(database, eve)
    with pytest.raises(TooManyPasskeys) as excinfo:
        passkeys.add(database, ada, PHONE, CODES, limit=1)
    assert excinfo.value.limit == 1
    assert len(passkeys.list_passkeys(database, ada)) == 1


def test_a_passkey_is_found_by_its_credential(database: Database, ada: Account) -> None:
    """A passkey is found with its user by its credential id, and only its user can rename or remove it."""
    eve = accounts.create_user(database, "eve", Secret("a-password-for-tests"))
    add(database, ada, "one")
    found_passkey = passkeys.find_credential(database, "one")
    assert found_passkey is not None
    user, passkey = found_passkey
    assert user == ada
    assert not passkeys.rename(database, eve, passkey.id, "Mine")
    assert passkeys.remove(database, eve, passkey.id) is None
    assert passkeys.rename(database, ada, passkey.id, "Key")
    assert [passkey.name for passkey in passkeys.list_passkeys(database, ada)] == ["Key"]
    for unknown in ("two", "", "\0", "ONE"):
        assert passkeys.find_credential(database, unknown) is None
    assert "one" not in repr(passkey)


def test_the_counter_goes_up(database: Database, ada: Account) -> None:
    """A signature counter must increase, also in concurrent requests, unless the authenticator keeps it at 0."""
    add(database, ada, "counts", sign_count=5)
    add(database, ada, "does not")
    counts, still = passkeys.list_passkeys(database, ada)
    assert not passkeys.use(database, counts, 5)
    assert not passkeys.use(database, counts, 0)
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: passkeys.use(database, counts, 6, now=2000), range(8))) == 1
    assert not passkeys.use(database, counts, 3)
    assert passkeys.use(database, counts, 9, now=3000)
    for _ in range(2):
        assert passkeys.use(database, still, 0, now=4000)
    assert [passkey.last_used_at for passkey in passkeys.list_passkeys(database, ada)] == [3000, 4000]
    assert passkeys.use(database, still, 1)
    assert not passkeys.use(database, still, 0)
    passkeys.remove(database, ada, still.id)
    assert not passkeys.use(database, still, 2)


def test_a_challenge_is_taken_once(database: Database, ada: Account) -> None:
    """A challenge is taken once, also by concurrent requests, and only for its purpose and its user."""
    of_ada = PasskeyChallenge("one", "confirmation", ada.id, "handle", NOW + 10)
    of_anybody = PasskeyChallenge("two", "login", None, "", NOW + 10)
    for challenge in (of_ada, of_anybody):
        passkeys.add_challenge(database, challenge, now=NOW)
    for text, purpose, user_id in (
        ("one", "login", ada.id),
        ("one", "confirmation", None),
        ("one", "confirmation", ada.id + 1),
        ("two", "login", ada.id),
        ("two", "confirmation", None),
        ("three", "login", None),
        ("\0", "login", None),
    ):
        assert passkeys.take_challenge(database, text, purpose, user_id, now=NOW) is None
    assert passkeys.take_challenge(database, "one", "confirmation", ada.id, now=NOW) == of_ada
    with ThreadPoolExecutor(4) as pool:
        taken = list(
            pool.map(lambda _: passkeys.take_challenge(database, "two", "login", None, now=NOW), range(8))
        )
    assert [item for item in taken if item is not None] == [of_anybody]


def test_an_expired_challenge_is_refused_and_deleted(database: Database, ada: Account) -> None:
    """An expired challenge is deleted when it is taken, when another one is stored, or with its user."""
    for number, expires_at in enumerate((NOW + 1, NOW + 2, NOW + 3)):
        passkey_challenge = PasskeyChallenge(str(number), "confirmation", ada.id, "", expires_at)
        passkeys.add_challenge(database, passkey_challenge, now=NOW)
    assert passkeys.take_challenge(database, "0", "confirmation", ada.id, now=NOW + 1) is None
    assert passkeys.take_challenge(database, "0", "confirmation", ada.id, now=NOW) is None
    passkeys.add_challenge(database, PasskeyChallenge("3", "login", None, "", NOW + 9), now=NOW + 2)
    with database.write() as connection:
        left = connection.execute(select(passkey_challenges.c.challenge)).scalars().all()
        assert sorted(left) == ["2", "3"]
        connection.exec_driver_sql(f"DELETE FROM users WHERE id = {ada.id}")
        assert connection.execute(select(passkey_challenges.c.challenge)).scalars().all() == ["3"]


def test_passkeys_go_with_two_factor_authentication_and_with_their_user(database: Database, ada: Account) -> None:
    """Disabling it deletes the passkeys and codes of that user, and other users keep theirs."""
    eve = accounts.create_user(database, "eve", Secret("a-password-for-tests"))
    add(database, ada, "one")
    add(database, eve, "two")
    assert two_factor.remove(database, ada)
    assert not two_factor.remove(database, ada)
    assert passkeys.list_passkeys(database, ada) == []
    assert two_factor.count_codes(database, ada) == 0
    assert two_factor.is_enabled(database, eve)
    with database.write() as connection:
        connection.exec_driver_sql(f"DELETE FROM users WHERE id = {eve.id}")
        assert connection.execute(select(table)).all() == []
