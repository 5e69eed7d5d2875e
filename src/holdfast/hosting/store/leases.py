"""Leases: at most one process runs a task at a time, until it releases the lease or the lease expires.

A lease expires by the clock of the database, since the clocks of two machines may differ by more than its
duration.
"""

from collections.abc import Collection

from sqlalchemy import delete, literal, or_

from holdfast.hosting.store.database import Database, current_time, upsert
from holdfast.hosting.store.tables import leases

__all__ = ["release_lease", "release_leases", "take_lease"]


def take_lease(database: Database, name: str, holder: str, *, seconds: float, now: float | None = None) -> bool:
    """Acquire or renew a lease; return False if another holder has it."""
    moment = current_time(database) if now is None else literal(int(now))
    values = {"holder": holder, "until": moment + int(seconds)}
    statement = (
        upsert(database, leases)
        .values(name=name, **values)
        .on_conflict_do_update(
            index_elements=["name"],
            set_=values,
            where=or_(leases.c.until <= moment, leases.c.holder == holder),
        )
        .returning(leases.c.name)
    )
    with database.write() as connection:
        return connection.execute(statement).first() is not None


def release_lease(database: Database, name: str, holder: str) -> None:
    """Release a lease before it expires."""
    release_leases(database, [name], holder)


def release_leases(database: Database, names: Collection[str], holder: str) -> None:
    """Release several leases in one transaction; without any, nothing is written."""
    if names:
        with database.write() as connection:
            connection.execute(delete(leases).where(leases.c.name.in_(names), leases.c.holder == holder))
