"""Checks before an upgrade: whether this version can migrate the existing database, without changing it."""

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from holdfast.hosting.app import App
from holdfast.hosting.data_folder import DATABASE
from holdfast.hosting.doctor import disk, rows
from holdfast.hosting.doctor.findings import DoctorFinding, FindingKind
from holdfast.hosting.errors import HostingError
from holdfast.hosting.store import migrate
from holdfast.hosting.store.database import Database

__all__ = ["examine_upgrade"]

# A migration may rewrite every table beside the old one, and SQLite writes its journal.
SPACE_FACTOR = 3


def examine_upgrade(app: App) -> Iterator[DoctorFinding]:
    """Yield problems that would prevent an upgrade to this version.

    On SQLite the migrations are rehearsed on a copy of the database. On PostgreSQL they are not: they would lock
    the tables of a running service. An upgrade is one transaction on both, so a failed one changes nothing.
    """
    revision = migrate.revision(app.database)
    if revision is not None and not migrate.knows(revision):
        yield from rows.check_schema(app)
        return
    damaged = list(rows.check_integrity(app, deep=True))
    yield from damaged
    yield from disk.check_permissions(app)
    if revision == migrate.latest():
        # The tables it reads may be different in an earlier revision.
        yield from disk.check_identity(app)
    if app.database.is_sqlite and not damaged:
        yield from rehearse(app)


def rehearse(app: App) -> Iterator[DoctorFinding]:
    """Run the missing migrations on a copy of an SQLite database, in the same folder."""
    source = app.settings.data / DATABASE
    needed, free = source.stat().st_size * SPACE_FACTOR, shutil.disk_usage(app.settings.data).free
    if free < needed:
        problem = f"has {free} bytes left; migrating the database may take {needed}"
        yield DoctorFinding(FindingKind.DISK_SPACE, str(app.settings.data), problem)
        return
    with tempfile.TemporaryDirectory(prefix="upgrade-", dir=app.settings.data) as folder:
        with (
            closing(sqlite3.connect(source)) as original,
            closing(sqlite3.connect(Path(folder) / DATABASE)) as copy,
        ):
            original.backup(copy)
        database = Database.in_folder(Path(folder))
        try:
            migrate.upgrade(database)
        except HostingError as error:
            problem = f"the migrations to revision {migrate.latest()} fail on a copy: {error.__cause__ or error}"
            yield DoctorFinding(FindingKind.MIGRATION_FAILS, app.database.name, problem)
        finally:
            database.close()
