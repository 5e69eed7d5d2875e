"""Rate limit of password guesses, counted in the database and so across processes.

An attempt is counted before its password is hashed, by one atomic statement per counter: no more than the limit
are hashed, whatever the concurrency. While it is hashed, it is pending; pending attempts count for half a minute,
so that those of a process that was killed do not lock a user out. There are three counters:

- per user name and address, the limit itself, reset by the right password;
- per address over all names, against password spraying;
- per name over all addresses, against distributed guessing. It does not apply to an address from which the user
  logged in during the last 30 days, so that strangers cannot lock a user out.

A right password subtracts from the other two what the first one had counted: the user's own typing errors, and
pending attempts. The attempts on other names, or from other addresses, stay counted, or any account could be used
to bypass the limit.

An address is an IPv4 address or an IPv6 /64 network, the usual allocation of one customer.
"""

import hashlib
import time
from typing import Final

from sqlalchemy import ColumnElement, Connection, and_, case, delete, or_, update
from sqlalchemy import select as sql_select

from holdfast.client_address import network_of
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.tables import login_failures

__all__ = [
    "cancel_attempt",
    "count_wrong_token",
    "expired",
    "fail",
    "forget_challenge",
    "forget_codes",
    "reserve_attempt",
    "reserve_challenge",
    "reserve_code",
    "seconds_to_wait",
    "succeed",
]

# The factor for the counters over all names and over all addresses: a household or an office shares one address.
TOTAL_FACTOR: Final = 10
# How long an address counts as known after a log-in.
KNOWN_SECONDS: Final = 30 * 86_400
KNOWN: Final = "+"
# An attempt is queued for at most 5 seconds before it is hashed; one that has no result after this has ended.
PENDING_SECONDS: Final = 30


class Sources:
    """The keys of an attempt's counters."""

    __slots__ = ("account", "address", "both", "known")

    def __init__(self, name: str, address: str) -> None:
        # Hashed, as users type passwords into the wrong field.
        self.account = hashlib.sha256(name.casefold().encode("utf-8", "replace")).hexdigest()[:32]
        network = network_of(address)
        self.address = f"@{network}"
        self.both = f"{self.account}@{network}"
        self.known = f"{KNOWN}{self.both}"

    def limits(self, limit: int, *, is_known: bool) -> dict[str, int]:
        """Return the limit of each counter, in the lock order of all transactions."""
        limits = {self.both: limit, self.address: limit * TOTAL_FACTOR}
        return limits if is_known else {**limits, self.account: limit * TOTAL_FACTOR}


def expired(moment: int, window: int) -> ColumnElement[bool]:
    """Return the condition of counters whose window has passed."""
    is_known = login_failures.c.source.startswith(KNOWN)
    return or_(
        and_(~is_known, login_failures.c.first_at <= moment - window),
        and_(is_known, login_failures.c.first_at <= moment - KNOWN_SECONDS),
    )


def seconds_to_wait(
    database: Database, name: str, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Return for how many seconds this name is refused from this address; 0 if it is not. Reads only."""
    moment = int(time.time() if now is None else now)
    with database.read() as connection:
        return waits(connection, Sources(name, address), limit, window, moment)


def waits(connection: Connection, sources: Sources, limit: int, window: int, moment: int) -> int:
    """Return how long an attempt has to wait according to the counters."""
    keys = (sources.both, sources.address, sources.account, sources.known)
    statement = sql_select(login_failures).where(login_failures.c.source.in_(keys))
    rows = {row.source: row for row in connection.execute(statement)}
    limits = sources.limits(limit, is_known=is_known(rows.get(sources.known), moment))
    wait = 0
    for key, most in limits.items():
        row = rows.get(key)
        if row is None or row.first_at <= moment - window:
            continue
        if row.failures >= most:
            wait = max(wait, row.first_at + window - moment)
        elif row.failures + row.pending >= most:
            wait = max(wait, row.pending_at + PENDING_SECONDS - moment)
    return wait


def is_known(row: object, moment: int) -> bool:
    """Return whether the row of a known address is still valid."""
    return row is not None and getattr(row, "first_at", 0) > moment - KNOWN_SECONDS


def logged_in_before(connection: Connection, sources: Sources, moment: int) -> bool:
    """Return whether the user logged in from this address during the last 30 days."""
    statement = sql_select(login_failures.c.first_at).where(login_failures.c.source == sources.known)
    return is_known(connection.execute(statement).first(), moment)


def reserve_attempt(
    database: Database, name: str, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Count an attempt and return 0; over the limit, count nothing and return the seconds to wait."""
    moment = int(time.time() if now is None else now)
    sources = Sources(name, address)
    with database.read() as connection:
        # First without the write lock: a flood of refused guesses must not block writers.
        wait = waits(connection, sources, limit, window, moment)
        from_known_address = logged_in_before(connection, sources, moment)
    if wait > 0:
        return wait
    try:
        with database.write() as connection:
            connection.execute(delete(login_failures).where(expired(moment, window)))
            forget_abandoned(connection, sources, moment)
            for source, most in sources.limits(limit, is_known=from_known_address).items():
                reserve = count_pending if source == sources.both else count
                reserve(database, connection, source, most, window=window, moment=moment)
    except OverLimit:
        with database.read() as connection:
            # A concurrent attempt may have been subtracted again: then the wait is short.
            return max(waits(connection, sources, limit, window, moment), 1)
    return 0


class OverLimit(Exception):
    """Raised to roll back the counters of a refused attempt."""


def count(
    database: Database, connection: Connection, source: str, limit: int, *, window: int, moment: int
) -> None:
    """Increment a counter if it is below its limit, in one statement that locks its row, or raise `OverLimit`."""
    old = login_failures.c.first_at <= moment - window
    statement = (
        upsert(database, login_failures)
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


def count_pending(
    database: Database, connection: Connection, source: str, limit: int, *, window: int, moment: int
) -> None:
    """Increment the pending attempts of a counter if it is below its limit, or raise `OverLimit`."""
    columns = login_failures.c
    old = columns.first_at <= moment - window
    statement = (
        upsert(database, login_failures)
        .on_conflict_do_update(
            index_elements=["source"],
            set_={
                "failures": case((old, 0), else_=columns.failures),
                "first_at": case((old, moment), else_=columns.first_at),
                "pending": case((old, 1), else_=columns.pending + 1),
                "pending_at": case((or_(old, columns.pending == 0), moment), else_=columns.pending_at),
            },
            where=or_(old, columns.failures + columns.pending < limit),
        )
        .returning(columns.pending)
    )
    values = {"source": source, "failures": 0, "first_at": moment, "pending": 1, "pending_at": moment}
    if connection.execute(statement, values).first() is None:
        raise OverLimit


def forget_abandoned(connection: Connection, sources: Sources, moment: int) -> None:
    """Subtract pending attempts that have no result after `PENDING_SECONDS`: their process has ended."""
    columns = login_failures.c
    is_abandoned = and_(
        columns.source == sources.both, columns.pending > 0, columns.pending_at <= moment - PENDING_SECONDS
    )
    abandoned = connection.execute(sql_select(columns.pending).where(is_abandoned).with_for_update()).scalar()
    if abandoned:
        connection.execute(update(login_failures).where(is_abandoned).values(pending=0))
        subtract_from_totals(connection, sources, abandoned, moment)


def fail(database: Database, name: str, address: str) -> None:
    """Record the result of a pending attempt: the password was wrong."""
    columns = login_failures.c
    with database.write() as connection:
        connection.execute(
            update(login_failures)
            .where(columns.source == Sources(name, address).both)
            .values(
                failures=columns.failures + 1, pending=case((columns.pending > 0, columns.pending - 1), else_=0)
            )
        )


def cancel_attempt(database: Database, name: str, address: str, *, now: float | None = None) -> None:
    """Subtract a pending attempt that was not made."""
    moment = int(time.time() if now is None else now)
    sources = Sources(name, address)
    pending = login_failures.c.pending
    with database.write() as connection:
        connection.execute(
            update(login_failures)
            .where(login_failures.c.source == sources.both)
            .values(pending=case((pending > 0, pending - 1), else_=0))
        )
        subtract_from_totals(connection, sources, 1, moment)


def subtract(connection: Connection, source: str, attempts: int) -> None:
    """Decrement a counter by a number of attempts, down to zero."""
    failures = login_failures.c.failures
    connection.execute(
        update(login_failures)
        .where(login_failures.c.source == source)
        .values(failures=case((failures > attempts, failures - attempts), else_=0))
    )


def subtract_from_totals(connection: Connection, sources: Sources, attempts: int, moment: int) -> None:
    """Decrement the counter of the address, and that of the name unless its limit does not apply here."""
    subtract(connection, sources.address, attempts)
    if not logged_in_before(connection, sources, moment):
        subtract(connection, sources.account, attempts)


def succeed(database: Database, name: str, address: str, *, now: float | None = None) -> None:
    """Subtract what was counted for this name and address, and mark the address as known."""
    moment = int(time.time() if now is None else now)
    sources = Sources(name, address)
    statement = upsert(database, login_failures).on_conflict_do_update(
        index_elements=["source"], set_={"first_at": moment}
    )
    with database.write() as connection:
        counted = connection.execute(
            delete(login_failures)
            .where(login_failures.c.source == sources.both)
            .returning(login_failures.c.failures + login_failures.c.pending)
        ).scalar()
        # Nothing is left to subtract when a concurrent attempt of this name and address succeeded first.
        if counted:
            subtract_from_totals(connection, sources, counted, moment)
        connection.execute(statement, {"source": sources.known, "failures": 0, "first_at": moment})


def count_wrong_token(
    database: Database, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Count an unknown token by address; return how long that address has to wait, or 0.

    Counted apart from passwords: a program with a revoked token must not keep the users who share its address from
    logging in.
    """
    moment = int(time.time() if now is None else now)
    most = limit * TOTAL_FACTOR
    return reserve_one(database, f"token@{network_of(address)}", most, window=window, moment=moment)


def reserve_one(database: Database, source: str, most: int, *, window: int, moment: int) -> int:
    """Count an attempt by one counter alone and return 0; over its limit, return the seconds to wait."""
    counter = sql_select(login_failures.c.failures, login_failures.c.first_at).where(
        login_failures.c.source == source, login_failures.c.first_at > moment - window
    )
    with database.read() as connection:
        row = connection.execute(counter).first()
    if row is not None and row.failures >= most:
        return int(row.first_at) + window - moment
    try:
        with database.write() as connection:
            count(database, connection, source, most, window=window, moment=moment)
    except OverLimit:
        return window
    return 0


def reserve_code(database: Database, user_id: int, *, limit: int, window: int, now: float | None = None) -> int:
    """Count a guess of a second-factor code and return 0; over the limit, return the seconds to wait.

    There is one counter per user, over all addresses: a code has a million values, and a client that guesses one
    has given the right password before, so strangers cannot lock a user out.
    """
    moment = int(time.time() if now is None else now)
    return reserve_one(database, code_source(user_id), limit, window=window, moment=moment)


def forget_codes(database: Database, user_id: int) -> None:
    """Delete the counter of codes, after a correct one."""
    with database.write() as connection:
        connection.execute(delete(login_failures).where(login_failures.c.source == code_source(user_id)))


def reserve_challenge(
    database: Database, address: str, *, limit: int, window: int, now: float | None = None
) -> int:
    """Count a passkey challenge by address and return 0; over the limit, return the seconds to wait.

    Clients may request one without logging in, and each is a row of the database.
    """
    moment = int(time.time() if now is None else now)
    most = limit * TOTAL_FACTOR
    return reserve_one(database, challenge_source(address), most, window=window, moment=moment)


def forget_challenge(database: Database, address: str) -> None:
    """Subtract a challenge that was answered with a passkey."""
    with database.write() as connection:
        subtract(connection, challenge_source(address), 1)


def challenge_source(address: str) -> str:
    """Return the key of the counter of challenges requested by an address."""
    return f"passkey@{network_of(address)}"


def code_source(user_id: int) -> str:
    """Return the key of the counter of a user's second-factor codes."""
    return f"code:{user_id}"
