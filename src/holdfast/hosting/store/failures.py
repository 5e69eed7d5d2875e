"""Wrong passwords, counted so that guessing is slow however many processes answer.

Two counts are kept: one for a name from an address, so that a stranger cannot lock somebody out everywhere, and
one for an address alone, so that trying one password on many names is slow too.
"""

import hashlib
import time
from typing import Final

from sqlalchemy import case, delete
from sqlalchemy import select as sql_select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import login_failures

__all__ = ["clear_failures", "note_failure", "seconds_to_wait"]

# Wrong passwords from one address count over all names; a household or an office shares one.
ADDRESS_FACTOR: Final = 10


def sources(name: str, address: str) -> tuple[str, str]:
    """Return what is counted; a name is hashed, as people type passwords into the wrong field."""
    hidden = hashlib.sha256(name.casefold().encode()).hexdigest()[:32]
    return f"{hidden}@{address}", f"@{address}"


def seconds_to_wait(
    database: Database, name: str, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Return how long nobody may try again with this name from this address; 0 when they may."""
    moment = int(time.time() if now is None else now)
    by_name, by_address = sources(name, address)
    statement = sql_select(login_failures.c.source, login_failures.c.failures, login_failures.c.first_at).where(
        login_failures.c.source.in_((by_name, by_address)), login_failures.c.first_at > moment - window
    )
    with database.read() as connection:
        rows = connection.execute(statement).all()
    waits = [
        row.first_at + window - moment
        for row in rows
        if row.failures >= (limit if row.source == by_name else limit * ADDRESS_FACTOR)
    ]
    return max(waits, default=0)


def note_failure(database: Database, name: str, address: str, *, window: int, now: float | None = None) -> None:
    """Count one wrong password; counts older than the window start again."""
    moment = int(time.time() if now is None else now)
    make = sqlite_insert if database.is_sqlite else postgres_insert
    old = login_failures.c.first_at <= moment - window
    statement = make(login_failures).on_conflict_do_update(
        index_elements=["source"],
        set_={
            "failures": case((old, 1), else_=login_failures.c.failures + 1),
            "first_at": case((old, moment), else_=login_failures.c.first_at),
        },
    )
    with database.write() as connection:
        connection.execute(delete(login_failures).where(login_failures.c.first_at <= moment - window))
        for source in sources(name, address):
            connection.execute(statement, {"source": source, "failures": 1, "first_at": moment})


def clear_failures(database: Database, name: str, address: str) -> None:
    """Forget the wrong passwords of somebody who has now given the right one."""
    with database.write() as connection:
        connection.execute(delete(login_failures).where(login_failures.c.source == sources(name, address)[0]))
