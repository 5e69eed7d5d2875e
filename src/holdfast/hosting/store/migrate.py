"""Brings a database to the shape this version expects, in one transaction: wholly or not at all."""

from functools import cache

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError as DriverError

from holdfast.hosting.errors import DatabaseError, DatabaseTooNew
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.faults import is_outage

__all__ = ["knows", "latest", "lock", "revision", "upgrade"]

# Held while migrating, so that two processes starting together on one PostgreSQL do not both migrate.
POSTGRES_LOCK = 0x686F6C64


def script() -> Config:
    """Point Alembic at the migrations inside the package."""
    config = Config()
    config.set_main_option("script_location", "holdfast.hosting.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


@cache
def directory() -> ScriptDirectory:
    """Read the migrations of this version, once per process."""
    return ScriptDirectory.from_config(script())


def latest() -> str:
    """Return the revision this version of Holdfast expects."""
    head = directory().get_current_head()
    assert head is not None, "the package has at least one migration"  # noqa: S101
    return head


def knows(name: str) -> bool:
    """Tell whether this version has a revision of that name."""
    return any(item.revision == name for item in directory().walk_revisions())


def revision(database: Database) -> str | None:
    """Return the revision a database is at, or None for an empty one."""
    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def upgrade(database: Database, to: str = "head") -> bool:
    """Run the migrations a database lacks, up to one of them; return whether there were any."""
    config = script()
    known = {item.revision for item in directory().walk_revisions()}
    try:
        with database.write() as connection:
            lock(connection)
            before = MigrationContext.configure(connection).get_current_revision()
            if before is not None and before not in known:
                raise DatabaseTooNew(
                    f"{database.name} was written by a newer Holdfast; upgrade this one to open it"
                )
            if before == (latest() if to == "head" else to):
                return False
            config.attributes["connection"] = connection
            command.upgrade(config, to)
    except DriverError as error:
        if is_outage(error):
            raise
        raise DatabaseError(f"{database.name} is not a Holdfast database, or it is damaged") from error
    return True


def lock(connection: Connection) -> None:
    """Wait for any other process that is migrating; on SQLite the write lock has done that already."""
    if connection.dialect.name == "postgresql":
        # However long the other one takes.
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": POSTGRES_LOCK})
