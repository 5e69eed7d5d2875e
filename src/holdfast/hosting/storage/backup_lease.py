"""The backup lease: while a backup runs, objects it may still need are not deleted by any machine.

A backup reads a snapshot of the database and then the object store. Packs that were replaced before the snapshot
are not part of the backup. Packs replaced and LFS objects unlinked while it runs are deleted after it.
"""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy import select

from holdfast.hosting.store.database import Database, current_time
from holdfast.hosting.store.leases import release_lease, take_lease
from holdfast.hosting.store.tables import leases

__all__ = ["backup_lease", "is_backup_running"]

PREFIX: Final = "backup "
# How long a killed backup blocks deletions; a running backup renews its lease.
LEASE_SECONDS: Final = 6 * 3600.0
RENEW_SECONDS: Final = 600.0


@contextmanager
def backup_lease(database: Database) -> Iterator[Callable[[], None]]:
    """Hold a lease for a backup; several backups may run at once.

    Yields a function that renews it; call it often.
    """
    name = PREFIX + secrets.token_hex()
    take_lease(database, name, name, seconds=LEASE_SECONDS)
    renewed = time.monotonic()

    def renew() -> None:
        nonlocal renewed
        if time.monotonic() > renewed + RENEW_SECONDS:
            take_lease(database, name, name, seconds=LEASE_SECONDS)
            renewed = time.monotonic()

    try:
        yield renew
    finally:
        release_lease(database, name, name)


def is_backup_running(database: Database) -> bool:
    """Return whether a backup is running on any machine."""
    running = select(leases.c.name).where(
        leases.c.name.startswith(PREFIX), leases.c.until > current_time(database)
    )
    with database.read() as connection:
        return bool(connection.execute(select(running.exists())).scalar())
