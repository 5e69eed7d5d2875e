"""Wrong passwords."""

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.failures import clear_failures, note_failure, seconds_to_wait


def waits(database: Database, name: str, address: str, now: float) -> int:
    """Ask with the rules of these tests: three in a hundred seconds."""
    return seconds_to_wait(database, name, address, limit=3, window=100, now=now)


def fail(database: Database, name: str, address: str, now: float) -> None:
    """Count one."""
    note_failure(database, name, address, window=100, now=now)


def test_a_name_from_an_address_waits_after_too_many(database: Database) -> None:
    """The same name from elsewhere does not: a stranger cannot lock somebody out."""
    for second in range(3):
        assert waits(database, "ada", "192.0.2.1", second) == 0
        fail(database, "ADA", "192.0.2.1", second)
    assert waits(database, "ada", "192.0.2.1", 10) == 90
    assert waits(database, "ada", "192.0.2.2", 10) == 0
    assert waits(database, "bob", "192.0.2.1", 10) == 0
    assert waits(database, "ada", "192.0.2.1", 100) == 0


def test_an_address_waits_after_many_names(database: Database) -> None:
    """One password tried on everybody is guessing too."""
    for number in range(30):
        fail(database, f"user{number}", "192.0.2.1", 1)
    assert waits(database, "somebody else", "192.0.2.1", 2) == 99


def test_the_right_password_clears_the_count(database: Database) -> None:
    """And an old count starts again."""
    for _ in range(3):
        fail(database, "ada", "192.0.2.1", 1)
    clear_failures(database, "ada", "192.0.2.1")
    assert waits(database, "ada", "192.0.2.1", 2) == 0
    for second in (3, 300, 301):
        fail(database, "ada", "192.0.2.1", second)
    assert waits(database, "ada", "192.0.2.1", 302) == 0


def test_names_are_not_kept(database: Database) -> None:
    """People type passwords into the wrong field."""
    fail(database, "my secret password", "192.0.2.1", 1)
    with database.read() as connection:
        rows = connection.exec_driver_sql("SELECT source FROM login_failures").all()
    assert not any("secret" in row[0] for row in rows)
