"""Transactions, locks, durability and caches on both databases."""

import sqlite3
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import bindparam, text, update
from sqlalchemy.exc import DBAPIError

from holdfast.hosting.data_folder import connect
from holdfast.hosting.errors import DatabaseError
from holdfast.hosting.store import accounts
from holdfast.hosting.store.database import Database, TransactionDatabase
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import users
from holdfast.secret import Secret
from holdfast.settings import Settings


def make_counter(database: Database) -> None:
    """Make a table with one number in it."""
    with database.write() as connection:
        connection.execute(text("CREATE TABLE counter (value INTEGER NOT NULL)"))
        connection.execute(text("INSERT INTO counter VALUES (0)"))


def value_of(database: Database) -> int:
    """Read the number."""
    with database.read() as connection:
        return int(connection.execute(text("SELECT value FROM counter")).scalar_one())


def test_a_failed_write_is_rolled_back(empty_database: Database) -> None:
    """A transaction with a failed statement changes nothing."""
    make_counter(empty_database)
    broken = text("UPDATE counter SET nothing = 1")
    with pytest.raises(DBAPIError), empty_database.write() as connection:
        connection.execute(text("UPDATE counter SET value = 1"))
        connection.execute(broken)
    assert value_of(empty_database) == 0


def test_concurrent_writers_lose_no_update(empty_database: Database) -> None:
    """A hundred concurrent read-modify-write transactions all take effect, and none fails with a lock."""
    make_counter(empty_database)
    locking = "" if empty_database.engine.dialect.name == "sqlite" else " FOR UPDATE"

    def add() -> None:
        for _ in range(25):
            with empty_database.write() as connection:
                before = connection.execute(text(f"SELECT value FROM counter{locking}")).scalar_one()
                connection.execute(text("UPDATE counter SET value = :value"), {"value": before + 1})

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert value_of(empty_database) == 100


def test_the_data_folder_is_private(tmp_path: Path) -> None:
    """Other users of the machine can neither enter the folder nor read the database."""
    database = Database.in_folder(tmp_path / "a" / "data")
    try:
        make_counter(database)
    finally:
        database.close()
    assert stat.S_IMODE((tmp_path / "a" / "data").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "a" / "data" / "holdfast.sqlite3").stat().st_mode) == 0o600


def test_a_folder_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    """A file in the place of the folder raises DatabaseError with a message."""
    (tmp_path / "file").write_text("")
    with pytest.raises(DatabaseError, match="cannot be used"):
        Database.in_folder(tmp_path / "file" / "data")


def test_an_unreachable_server_is_reported_without_the_password() -> None:
    """The error names the server and hides the password."""
    database = Database.at(Secret("postgresql://me:hunter2@127.0.0.1:1/none"))
    with (
        pytest.raises(DatabaseError, match=r"me:\*\*\*@127.0.0.1:1/none cannot be reached") as excinfo,
        database.read(),
    ):
        pass
    assert "hunter2" not in str(excinfo.value)


def test_sqlite_is_durable_after_a_power_failure(tmp_path: Path) -> None:
    """A connection uses WAL, full syncing and foreign keys."""
    database = Database.in_folder(tmp_path)
    with database.read() as connection:
        responses = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    database.close()
    assert responses == ["wal", 2, 1]


def test_a_lock_is_held_against_everybody_who_shares_the_database(postgres_url: Secret) -> None:
    """Another client of the database waits until the lock is released; another number is another lock."""
    here, there = Database.at(postgres_url), Database.at(postgres_url)
    taken = threading.Event()

    def take() -> None:
        with there.advisory_lock(7):
            taken.set()

    other = threading.Thread(target=take)
    assert not there.is_locked(7)
    with here.advisory_lock(7):
        other.start()
        with there.advisory_lock(8):
            assert not taken.wait(0.2)
        assert there.is_locked(7)
        assert not there.is_locked(8)
    other.join(10)
    assert taken.is_set()
    assert not there.is_locked(7)
    here.close()
    there.close()


def test_waiting_for_a_lock_leaves_connections_to_its_holder(postgres_url: Secret) -> None:
    """Twenty threads that wait for a lock leave a connection for the holder's query, and all finish."""
    database = Database.at(postgres_url)
    done: list[int] = []

    def work(number: int) -> None:
        with database.advisory_lock(1), database.read() as connection:
            connection.execute(text("SELECT 1"))
            done.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(done) == list(range(20))
    database.close()


def test_a_connection_in_use_is_closed_once_it_is_released(settings: Settings, database: Database) -> None:
    """A thread that reads while the database is closed finishes, and leaves no open connection behind."""
    opened = connect(settings)
    with opened.read() as connection:
        driver = connection.connection.driver_connection
        opened.close()
        assert driver is not None
        assert connection.execute(text("SELECT 1")).scalar_one() == 1
    with pytest.raises((sqlite3.ProgrammingError, psycopg.OperationalError), match="closed"):
        driver.execute("SELECT 1")
    assert accounts.find_user(database, "admin").name == "admin"


def test_a_transaction_sees_its_own_changes(database: Database) -> None:
    """A transaction reads its own changes in every way, and others read them only after the commit."""
    admin = accounts.find_user(database, "admin")
    with database.write() as connection:
        connection.execute(text("UPDATE users SET full_name = 'Ada'"))
        inside = TransactionDatabase(database, connection)
        for reading in (inside.read, inside.snapshot, inside.write):
            with reading() as result:
                assert result.execute(text("SELECT full_name FROM users")).scalar_one() == "Ada"
        seen = accounts.find_account(inside, admin.id)
        assert (seen.full_name, seen.is_admin) == ("Ada", True)
        assert accounts.find_account(database, admin.id).full_name == admin.full_name
        inside.close()
        assert not connection.closed
    assert accounts.find_account(database, admin.id).full_name == "Ada"


SET_FULL_NAME = Statement(update(users).values(full_name=bindparam("full_name")))


def full_name(database: Database, name: str) -> str:
    """Read the full name of a user."""
    return accounts.find_user(database, name).full_name


def test_a_cached_value_is_read_again_after_a_change(database: Database) -> None:
    """A cached value is read again after a change by the same connection, another one or another thread."""
    loads = []

    def load(source: Database, name: str) -> str:
        loads.append(name)
        return full_name(source, name)

    def rename(name: str) -> None:
        with database.write() as connection:
            connection.execute(text("UPDATE users SET full_name = :name"), {"name": name})

    rename("Ada")
    assert [database.cached(load, "admin") for _ in range(3)] == ["Ada"] * 3
    assert len(loads) == (1 if database.is_sqlite else 3)
    rename("Ben")
    assert database.cached(load, "admin") == "Ben"
    with database.quick_write() as link:
        SET_FULL_NAME.run(link, full_name="Eve")
    assert database.cached(load, "admin") == "Eve"
    thread = threading.Thread(target=rename, args=("Lin",))
    thread.start()
    thread.join()
    assert database.cached(load, "admin") == "Lin"


def test_uncommitted_changes_are_not_cached(database: Database) -> None:
    """A value that was read in a transaction is not in the cache after its rollback."""
    before = full_name(database, "admin")
    with pytest.raises(ZeroDivisionError), database.quick_write() as link:
        SET_FULL_NAME.run(link, full_name="Ada")
        database.cached(full_name, "admin")
        assert TransactionDatabase(database, link).cached(full_name, "admin") == "Ada"
        raise ZeroDivisionError
    assert database.cached(full_name, "admin") == before


def test_a_missing_value_is_read_again(database: Database) -> None:
    """A missing value is not cached, so guessing keys does not displace values."""
    results = iter([None, "Ada"])

    def load(_source: Database, _key: str) -> str | None:
        return next(results)

    assert database.cached(load, "admin") is None
    assert database.cached(load, "admin") == "Ada"


def test_the_cache_is_bounded(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that has reached its limit is cleared, and the values are loaded again."""
    monkeypatch.setattr("holdfast.hosting.store.database.MAX_CACHED", 10)
    loads = []

    def load(_source: Database, key: int) -> int:
        loads.append(key)
        return key + 1

    assert [database.cached(load, key) for key in range(25)] == list(range(1, 26))
    loads.clear()
    assert [database.cached(load, key) for key in (24, 0)] == [25, 1]
    assert loads == ([0] if database.is_sqlite else [24, 0])


@pytest.mark.parametrize("settings", ["sqlite"], indirect=True)
def test_closing_does_not_crash_threads_that_read(settings: Settings, database: Database) -> None:
    """Closing the database ends reading threads with an error; a subprocess runs it, as SQLite could crash."""
    del database
    script = textwrap.dedent(
        """
        import sys, threading
        from pathlib import Path
        from sqlalchemy import select
        from holdfast.hosting.errors import DatabaseUnavailable
        from holdfast.hosting.store.database import Database
        from holdfast.hosting.store.prepared_statements import Statement
        from holdfast.hosting.store.tables import users

        opened = Database.in_folder(Path(sys.argv[1]))
        names = Statement(select(users.c.name))
        started = threading.Barrier(5)
        ends = []

        def read():
            opened.rows(names)
            started.wait()
            try:
                while True:
                    opened.rows(names)
                    with opened.quick_write():
                        pass
            except DatabaseUnavailable:
                ends.append("closed")

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        started.wait()
        opened.close()
        for thread in threads:
            thread.join()
        print(ends)
        """
    )
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", script, str(settings.data)], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, f"{['closed'] * 4}\n"), done.stderr
