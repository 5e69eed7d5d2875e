"""Prepared statements on the database driver."""

import sqlite3
import threading
from contextlib import suppress

import pytest
from sqlalchemy import bindparam, delete, insert, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Bare, Link, Statement
from holdfast.hosting.store.tables import leases, users

BY_NAME = Statement(
    select(users.c.name, users.c.is_admin, users.c.is_organization).where(
        users.c.folded_name == bindparam("name"), users.c.visibility == "public"
    )
)


def test_rows_have_the_types_of_their_columns(database: Database) -> None:
    """Booleans are booleans on both databases, and a parameter is never executed as SQL."""
    assert database.row(BY_NAME, name="admin") == ("admin", True, False)
    assert database.row(BY_NAME, name="nobody") is None
    assert database.rows(BY_NAME, name="x' OR '1'='1") == []


def test_threads_run_a_statement_at_the_same_time(database: Database) -> None:
    """Four threads that run the same statement concurrently get the same rows."""
    results: list[object] = []

    def query_value() -> None:
        results.extend(database.row(BY_NAME, name="admin") for _ in range(50))

    threads = [threading.Thread(target=query_value) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [("admin", True, False)] * 200


def test_a_statement_sees_what_was_just_written(database: Database) -> None:
    """A prepared statement reads a change that was committed after its last execution."""
    assert database.row(BY_NAME, name="admin") is not None
    with database.write() as connection:
        connection.execute(users.update().values(visibility="private"))
    assert database.row(BY_NAME, name="admin") is None


NOTE = Statement(
    insert(leases).values({name: bindparam(name) for name in ("name", "holder", "until")}).returning(leases.c.name)
)
FORGET = Statement(delete(leases).where(leases.c.name == bindparam("lease")))


@pytest.mark.parametrize("durable", [True, False])
def test_a_quick_write_takes_effect_or_not(database: Database, *, durable: bool) -> None:
    """Returned rows are available, and a failed transaction leaves no row and no lock."""
    with database.quick_write(durable=durable) as link:
        assert NOTE.run(link, name="a", holder="me", until=1) == [("a",)]
        assert FORGET.run(link, lease="nothing") == []
    with pytest.raises(ZeroDivisionError), database.quick_write(durable=durable) as link:
        NOTE.run(link, name="b", holder="me", until=1 // 0)
    with (
        pytest.raises((IntegrityError, sqlite3.IntegrityError)),
        database.quick_write(durable=durable) as link,
    ):
        NOTE.run(link, name="c", holder="me", until=1)
        NOTE.run(link, name="a", holder="you", until=1)
    with database.write() as connection:
        assert connection.execute(select(leases.c.name)).scalars().all() == ["a"]
        # The same statement runs in a transaction of SQLAlchemy's.
        assert NOTE.run(connection, name="d", holder="me", until=1) == [("d",)]
        assert FORGET.run(connection, lease="a") == []
    with database.read() as connection:
        assert connection.execute(select(leases.c.name)).scalars().all() == ["d"]


def test_only_what_need_not_last_is_written_hastily(database: Database) -> None:
    """Synchronous commits are off in a transaction that need not be durable, and on again in the next one."""
    asked = "PRAGMA synchronous" if database.is_sqlite else "SHOW synchronous_commit"
    hasty = 1 if database.is_sqlite else "off"
    with database.quick_write() as link:
        careful = query_value(link, asked)
    assert careful == 2 or not database.is_sqlite
    for fails in (False, True):
        with suppress(ZeroDivisionError), database.quick_write(durable=False) as link:
            assert query_value(link, asked) == hasty
            if fails:
                raise ZeroDivisionError
        with database.quick_write() as link:
            assert query_value(link, asked) == careful


def query_value(link: Link, question: str) -> object:
    """Return the single value of a query."""
    if isinstance(link, Bare):
        return link.execute(question).fetchone()[0]
    return link.exec_driver_sql(question).scalar()


def test_a_failed_statement_raises_the_same_error_on_every_database(database: Database) -> None:
    """The raw driver's errors are raised as SQLAlchemy's, and on SQLite without the values."""
    with database.write() as connection:
        NOTE.run(connection, name="a lease", holder="me", until=1)
    with pytest.raises(IntegrityError) as excinfo, database.write() as connection:
        FORGET.run(connection, lease="a lease")
        NOTE.run(connection, name="other", holder="me", until=1)
        NOTE.run(connection, name="other", holder="me", until=1)
    assert "UNIQUE" in str(excinfo.value).upper()
    assert not database.is_sqlite or "'other'" not in str(excinfo.value)
    with database.read() as connection:
        assert list(connection.execute(select(leases.c.name).where(leases.c.holder == "me")).scalars()) == [
            "a lease"
        ]
