"""Rate limit of password guesses, counted in the database and so over all processes.

An attempt is counted before its password is hashed, by one atomic statement for each count: however many
guesses come at once, no more than the limit are hashed. A right password gives its own attempt back. Three counts:

* of a name from an address, which is the limit itself, and starts again with the right password;
* of an address over all names, so that trying one password on many names is limited too; a right password does
  not clear it, or whoever has an account could guess at others without a limit;
* of a name over all addresses, so that guessing from many addresses is limited. It does not hold for an address
  from which the right password came in the last 30 days: strangers cannot lock somebody out of where they work.

An address is an IPv4 address or an IPv6 network of 64 bits, which is what one customer is given.
"""

import hashlib
import time
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, case, delete, or_, update
from sqlalchemy import select as sql_select
from sqlalchemy.dialects.postgresql import insert as postgres_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from holdfast.client_address import network_of
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.tables import login_failures

__all__ = [
    "cancel_attempt",
    "count_wrong_token",
    "expired",
    "reserve_attempt",
    "seconds_to_wait",
    "succeed",
]

# Guesses from one address count over all names; a household or an office shares one. The same for a name over all
# addresses.
TOTAL_FACTOR: Final = 10
# An address from which somebody logged in is known for this long.
KNOWN_SECONDS: Final = 30 * 86_400
KNOWN: Final = "+"


class Sources:
    """The keys of the counts one attempt belongs to."""

    __slots__ = ("account", "address", "both", "known")

    def __init__(self, name: str, address: str) -> None:
        # Hashed, as people type passwords into the wrong field.
        self.account = hashlib.sha256(name.casefold().encode("utf-8", "replace")).hexdigest()[:32]
        network = network_of(address)
        self.address = f"@{network}"
        self.both = f"{self.account}@{network}"
        self.known = f"{KNOWN}{self.both}"

    def limits(self, limit: int, *, is_known: bool) -> dict[str, int]:
        """Return the limit of each count, in the order every transaction locks their rows in."""
        limits = {self.both: limit, self.address: limit * TOTAL_FACTOR}
        return limits if is_known else {**limits, self.account: limit * TOTAL_FACTOR}


def expired(moment: int, window: int) -> ColumnElement[bool]:
    """Return the condition of rows that count no more."""
    is_known = login_failures.c.source.startswith(KNOWN)
    return or_(
        and_(~is_known, login_failures.c.first_at <= moment - window),
        and_(is_known, login_failures.c.first_at <= moment - KNOWN_SECONDS),
    )


def seconds_to_wait(
    database: Database, name: str, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Return for how many seconds this name is refused from this address; 0 when it is not. Reads only."""
    moment = int(time.time() if now is None else now)
    with database.read() as connection:
        return waits(connection, Sources(name, address), limit, window, moment)


def waits(connection: Connection, sources: Sources, limit: int, window: int, moment: int) -> int:
    """Return how long an attempt has to wait, by the counts as they are."""
    keys = (sources.both, sources.address, sources.account, sources.known)
    statement = sql_select(login_failures.c.source, login_failures.c.failures, login_failures.c.first_at).where(
        login_failures.c.source.in_(keys)
    )
    rows = {row.source: row for row in connection.execute(statement)}
    limits = sources.limits(limit, is_known=is_known(rows.get(sources.known), moment))
    return max(
        (
            row.first_at + window - moment
            for key, most in limits.items()
            if (row := rows.get(key)) is not None and row.first_at > moment - window and row.failures >= most
        ),
        default=0,
    )


def is_known(row: object, moment: int) -> bool:
    """Tell whether the row that remembers an address says that it is still known."""
    return row is not None and getattr(row, "first_at", 0) > moment - KNOWN_SECONDS


def reserve_attempt(
    database: Database, name: str, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Count an attempt before it is made, and return 0; over the limit nothing is counted: the seconds to wait."""
    moment = int(time.time() if now is None else now)
    sources = Sources(name, address)
    with database.read() as connection:
        # First without the write lock: a flood of refused guesses must not hold up those who write.
        wait = waits(connection, sources, limit, window, moment)
        known = connection.execute(
            sql_select(login_failures.c.first_at).where(login_failures.c.source == sources.known)
        ).first()
    if wait > 0:
        return wait
    try:
        with database.write() as connection:
            connection.execute(delete(login_failures).where(expired(moment, window)))
            for source, most in sources.limits(limit, is_known=is_known(known, moment)).items():
                count(database, connection, source, most, window=window, moment=moment)
    except OverLimit:
        with database.read() as connection:
            # Whoever came meanwhile may have given theirs back: then the wait is short.
            return max(waits(connection, sources, limit, window, moment), 1)
    return 0


class OverLimit(Exception):
    """Undoes the counts of an attempt that is refused."""


def count(
    database: Database, connection: Connection, source: str, limit: int, *, window: int, moment: int
) -> None:
    """Add one to a count if it is below its limit, in one statement that locks its row; else raise."""
    make = sqlite_insert if database.is_sqlite else postgres_insert
    old = login_failures.c.first_at <= moment - window
    statement = (
        make(login_failures)
        .on_conflict_do_update(
            index_elements=["source"],
            set_={
                "failures": case((old, 1), else_=login_failures.c.failures + 1),
                "first_at": case((old, moment), else_=login_failures.c.first_at),
            },
            where=or_(old, login_failures.c.failures < limit),
        )
        .returning(login_failures.c.failures)
    )
    if connection.execute(statement, {"source": source, "failures": 1, "first_at": moment}).first() is None:
        raise OverLimit


def cancel_attempt(database: Database, name: str, address: str) -> None:
    """Give back an attempt that was counted and not made."""
    sources = Sources(name, address)
    with database.write() as connection:
        give_back(connection, sources.both, sources.address, sources.account)


def give_back(connection: Connection, *sources: str) -> None:
    """Take one from each of some counts."""
    for source in sources:
        connection.execute(
            update(login_failures)
            .where(login_failures.c.source == source, login_failures.c.failures > 0)
            .values(failures=login_failures.c.failures - 1)
        )


def succeed(database: Database, name: str, address: str, *, now: float | None = None) -> None:
    """Give back the attempt that was right, clear the count of this name here, and know its address from now."""
    moment = int(time.time() if now is None else now)
    sources = Sources(name, address)
    make = sqlite_insert if database.is_sqlite else postgres_insert
    known = make(login_failures).on_conflict_do_update(index_elements=["source"], set_={"first_at": moment})
    with database.write() as connection:
        connection.execute(delete(login_failures).where(login_failures.c.source == sources.both))
        give_back(connection, sources.address, sources.account)
        connection.execute(known, {"source": sources.known, "failures": 0, "first_at": moment})


def count_wrong_token(
    database: Database, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Count a token that is nobody's, by its address; return how long that address has to wait, 0 for not at all.

    They are counted apart from passwords: a program that goes on with a revoked token must not keep the people
    who share its address from logging in.
    """
    moment = int(time.time() if now is None else now)
    source, most = f"token@{network_of(address)}", limit * TOTAL_FACTOR
    asked = sql_select(login_failures.c.failures, login_failures.c.first_at).where(
        login_failures.c.source == source, login_failures.c.first_at > moment - window
    )
    with database.read() as connection:
        row = connection.execute(asked).first()
    if row is not None and row.failures >= most:
        return int(row.first_at) + window - moment
    try:
        with database.write() as connection:
            count(database, connection, source, most, window=window, moment=moment)
    except OverLimit:
        return window
    return 0
