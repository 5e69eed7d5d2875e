"""The rate limit of password attempts."""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.login_rate_limit import (
    KNOWN_SECONDS,
    PENDING_SECONDS,
    cancel_attempt,
    count_wrong_token,
    expired,
    fail,
    forget_challenge,
    forget_codes,
    reserve_attempt,
    reserve_challenge,
    reserve_code,
    seconds_to_wait,
    succeed,
)
from holdfast.hosting.store.tables import login_failures


def is_limited(database: Database, name: str, address: str, now: float) -> int:
    """Return the seconds to wait, with a limit of three attempts in a hundred seconds."""
    return seconds_to_wait(database, name, address, limit=3, window=100, now=now)


def count_failure(database: Database, name: str, address: str, now: float) -> int:
    """Count a wrong password, with a limit of three in a hundred seconds; return the seconds to wait."""
    wait = reserve(database, name, address, now)
    if wait == 0:
        fail(database, name, address)
    return wait


def reserve(database: Database, name: str, address: str, now: float) -> int:
    """Count a pending attempt, with the same limit; return the seconds to wait."""
    return reserve_attempt(database, name, address, limit=3, window=100, now=now)


def addresses(count: int) -> Iterable[str]:
    """Return distinct addresses."""
    return (f"198.51.100.{number}" for number in range(count))


def test_a_name_from_an_address_waits_after_too_many(database: Database) -> None:
    """The name is not limited from other addresses, so that a stranger cannot lock a user out."""
    for second in range(3):
        assert is_limited(database, "ada", "192.0.2.1", second) == 0
        assert count_failure(database, "ADA", "192.0.2.1", second) == 0
    assert is_limited(database, "ada", "192.0.2.1", 10) == 90
    assert count_failure(database, "ada", "192.0.2.1", 10) == 90
    assert is_limited(database, "ada", "192.0.2.2", 10) == 0
    assert is_limited(database, "bob", "192.0.2.1", 10) == 0
    assert is_limited(database, "ada", "192.0.2.1", 100) == 0


def test_attempts_at_once_are_limited_as_those_in_turn_are(database: Database) -> None:
    """Each attempt is counted by one atomic statement, so concurrent ones do not exceed the limit."""
    with ThreadPoolExecutor(8) as threads:
        for attempt in (reserve, count_failure):
            outcomes = list(threads.map(lambda _, make=attempt: make(database, "ada", "192.0.2.1", 1), range(24)))
            assert outcomes.count(0) == 3
            succeed(database, "ada", "192.0.2.1", now=1)


def test_an_attempt_that_is_refused_counts_nowhere(database: Database) -> None:
    """Refused attempts for one name do not count for its address, which can still try other names."""
    for _ in range(200):
        count_failure(database, "ada", "192.0.2.1", 1)
    assert is_limited(database, "bob", "192.0.2.1", 2) == 0


def test_an_address_waits_after_many_names(database: Database) -> None:
    """An address is limited after guesses at many names, as one password may be tried on all users."""
    for number in range(30):
        count_failure(database, f"user{number}", "192.0.2.1", 1)
    assert is_limited(database, "somebody else", "192.0.2.1", 2) == 99


def test_a_right_password_does_not_clear_the_count_of_its_address(database: Database) -> None:
    """A log-in does not reset the count of its address, or a user could guess other passwords without limit."""
    for number in range(30):
        assert count_failure(database, f"user{number}", "192.0.2.1", 1) == 0
        if number % 3 == 2 and number < 29:
            # Their own attempt is given back, and no more.
            assert count_failure(database, "mallory", "192.0.2.1", 1) == 0
            succeed(database, "mallory", "192.0.2.1", now=1)
    assert is_limited(database, "somebody else", "192.0.2.1", 2) == 99


def test_a_name_waits_after_guesses_from_many_addresses(database: Database) -> None:
    """A name is limited over all addresses, except from one where its owner recently logged in."""
    assert count_failure(database, "ada", "192.0.2.1", 1) == 0
    succeed(database, "ada", "192.0.2.1", now=1)
    for address in addresses(10):
        for _ in range(3):
            assert count_failure(database, "ada", address, 2) == 0
    assert is_limited(database, "ada", "203.0.113.9", 3) > 0
    assert count_failure(database, "ada", "203.0.113.9", 3) > 0
    assert count_failure(database, "ada", "192.0.2.1", 3) == 0
    late = KNOWN_SECONDS + 50
    for address in addresses(10):
        for _ in range(3):
            count_failure(database, "ada", address, late)
    assert count_failure(database, "ada", "192.0.2.1", late) > 0


def test_the_right_password_clears_the_count_of_its_name(database: Database) -> None:
    """The right password resets the count of its name, and an expired count starts again."""
    for _ in range(3):
        count_failure(database, "ada", "192.0.2.1", 1)
    succeed(database, "ada", "192.0.2.1", now=1)
    assert is_limited(database, "ada", "192.0.2.1", 2) == 0
    for second in (3, 300, 301):
        count_failure(database, "ada", "192.0.2.1", second)
    assert is_limited(database, "ada", "192.0.2.1", 302) == 0


def test_attempts_without_a_result_do_not_add_up(database: Database) -> None:
    """Attempts of a process that died while hashing are subtracted by the next right password."""
    for _ in range(50):
        for _ in range(3):
            assert reserve(database, "ada", "192.0.2.1", 1) == 0
        succeed(database, "ada", "192.0.2.1", now=1)
    assert is_limited(database, "bob", "192.0.2.1", 2) == 0
    assert is_limited(database, "ada", "192.0.2.2", 2) == 0


def test_attempts_without_a_result_are_forgotten_after_half_a_minute(database: Database) -> None:
    """Attempts of killed processes limit a user for seconds only, and are subtracted from the totals."""

    def attempt(now: int) -> int:
        return reserve_attempt(database, "ada", "192.0.2.1", limit=3, window=10_000, now=now)

    for start in range(0, 12 * PENDING_SECONDS, PENDING_SECONDS):
        for second in range(3):
            assert attempt(start + second) == 0
        # Counted from the first of them, so that later ones do not keep it alive.
        assert (
            seconds_to_wait(database, "ada", "192.0.2.1", limit=3, window=10_000, now=start + 10)
            == PENDING_SECONDS - 10
        )
        assert attempt(start + 10) == PENDING_SECONDS - 10
    assert attempt(12 * PENDING_SECONDS) == 0
    fail(database, "ada", "192.0.2.1")
    with database.read() as connection:
        rows = connection.execute(login_failures.select()).all()
    assert [(row.failures, row.pending) for row in rows] == [(1, 0)] * 3


def test_a_wrong_password_counts_longer_than_a_pending_attempt(database: Database) -> None:
    """Wrong passwords and pending attempts are limited together, and only the former outlast half a minute."""
    assert count_failure(database, "ada", "192.0.2.1", 0) == 0
    assert count_failure(database, "ada", "192.0.2.1", 0) == 0
    assert reserve(database, "ada", "192.0.2.1", 0) == 0
    assert reserve(database, "ada", "192.0.2.1", 1) == PENDING_SECONDS - 1
    assert reserve(database, "ada", "192.0.2.1", PENDING_SECONDS) == 0
    fail(database, "ada", "192.0.2.1")
    assert reserve(database, "ada", "192.0.2.1", PENDING_SECONDS) == 100 - PENDING_SECONDS


def test_attempts_that_succeed_at_once_are_subtracted_once(database: Database) -> None:
    """The first of concurrent successes subtracts the open attempts, and no guesses at other names."""
    for number in range(27):
        assert count_failure(database, f"user{number}", "192.0.2.1", 1) == 0
    for _ in range(3):
        assert reserve(database, "ada", "192.0.2.1", 1) == 0
    for _ in range(3):
        succeed(database, "ada", "192.0.2.1", now=1)
    for number in range(3):
        assert count_failure(database, f"other{number}", "192.0.2.1", 1) == 0
    assert is_limited(database, "somebody else", "192.0.2.1", 2) == 99


def test_a_log_in_from_a_known_address_subtracts_no_guess_of_strangers(database: Database) -> None:
    """Log-ins from a known address do not reset the count of guesses from other addresses."""
    assert count_failure(database, "ada", "192.0.2.1", 1) == 0
    succeed(database, "ada", "192.0.2.1", now=1)
    for address in addresses(10):
        for _ in range(3):
            assert count_failure(database, "ada", address, 2) == 0
            assert count_failure(database, "ada", "192.0.2.1", 2) == 0
            succeed(database, "ada", "192.0.2.1", now=2)
    assert reserve(database, "ada", "192.0.2.1", 2) == 0
    cancel_attempt(database, "ada", "192.0.2.1", now=2)
    assert is_limited(database, "ada", "203.0.113.9", 3) > 0


def test_an_attempt_that_was_not_made_is_given_back(database: Database) -> None:
    """An attempt that is cancelled because the service is busy does not count as a guess."""
    for _ in range(50):
        assert reserve(database, "ada", "192.0.2.1", 1) == 0
        cancel_attempt(database, "ada", "192.0.2.1", now=1)
    assert is_limited(database, "ada", "192.0.2.1", 2) == 0


def test_names_are_not_stored(database: Database) -> None:
    """Names are not stored in plain text, as users type passwords into the wrong field."""
    count_failure(database, "my secret password", "192.0.2.1", 1)
    with database.read() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM login_failures").all()
    assert rows
    assert "secret" not in str(rows)


def test_an_address_of_any_text_can_be_counted(database: Database) -> None:
    """An address of any length can be counted, although PostgreSQL limits the length of a key."""
    for _ in range(3):
        assert count_failure(database, "ada", "é" * 20_000, 1) == 0
    assert count_failure(database, "ada", "é" * 20_000, 1) > 0


def test_wrong_tokens_are_counted_by_address_and_apart(database: Database) -> None:
    """Wrong tokens have a count of their own, so a revoked token does not prevent log-ins."""
    outcomes = [count_wrong_token(database, "192.0.2.1", limit=3, window=100, now=1) for _ in range(32)]
    assert outcomes[:30] == [0] * 30
    assert min(outcomes[30:]) > 0
    assert is_limited(database, "ada", "192.0.2.1", 2) == 0
    assert count_wrong_token(database, "192.0.2.2", limit=3, window=100, now=1) == 0
    assert count_wrong_token(database, "192.0.2.1", limit=3, window=100, now=102) == 0


def test_challenges_are_counted_by_address_and_apart(database: Database) -> None:
    """Challenges have a count of their own, from which an answered one is subtracted."""
    outcomes = [reserve_challenge(database, "192.0.2.1", limit=3, window=100, now=1) for _ in range(31)]
    assert outcomes[:30] == [0] * 30
    assert outcomes[30] == 100
    assert reserve_challenge(database, "192.0.2.2", limit=3, window=100, now=1) == 0
    assert count_wrong_token(database, "192.0.2.1", limit=3, window=100, now=1) == 0
    forget_challenge(database, "192.0.2.1")
    outcomes = [reserve_challenge(database, "192.0.2.1", limit=3, window=100, now=2) for _ in range(2)]
    assert outcomes == [0, 99]
    assert reserve_challenge(database, "192.0.2.1", limit=3, window=100, now=102) == 0


def test_known_addresses_outlive_the_counts(database: Database) -> None:
    """Deleting expired counts keeps the known addresses until they expire too."""
    count_failure(database, "ada", "192.0.2.1", 1)
    succeed(database, "ada", "192.0.2.1", now=1)
    count_failure(database, "bob", "192.0.2.1", 1)
    with database.write() as connection:
        connection.execute(login_failures.delete().where(expired(1000, 100)))
        left = connection.execute(login_failures.select()).all()
        assert [row.source[0] for row in left] == ["+"]
        connection.execute(login_failures.delete().where(expired(KNOWN_SECONDS + 2, 100)))
        assert connection.execute(login_failures.select()).all() == []


def test_guesses_of_codes_are_counted_for_each_user(database: Database) -> None:
    """Codes are counted by user over all addresses, apart from passwords, and a right one resets the count."""

    def guess(user: int, now: float) -> int:
        return reserve_code(database, user, limit=3, window=100, now=now)

    assert [guess(1, 0), guess(1, 1), guess(1, 2), guess(1, 10)] == [0, 0, 0, 90]
    assert guess(2, 10) == 0
    assert count_failure(database, "1", "192.0.2.1", 10) == 0
    assert guess(1, 100) == 0
    forget_codes(database, 1)
    assert [guess(1, 101), guess(1, 101), guess(1, 101)] == [0, 0, 0]
    assert guess(1, 101) == 100
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda _: guess(3, 1), range(24))).count(0) == 3
