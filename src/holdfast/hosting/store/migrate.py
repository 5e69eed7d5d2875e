"""Database migrations with Alembic; an upgrade is one transaction."""

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

__all__ = ["knows", "latest", "lock", "require_known", "revision", "upgrade"]

# The advisory lock held while migrating, for processes that start at once on one PostgreSQL.
POSTGRES_LOCK = 0x686F6C64


def script() -> Config:
    """Return the Alembic configuration for the migrations in this package."""
    config = Config()
    config.set_main_option("script_location", "holdfast.hosting.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


@cache
def directory() -> ScriptDirectory:
    """Load the migration scripts, once per process."""
    return ScriptDirectory.from_config(script())


def latest() -> str:
    """Return the newest revision of this version."""
    head = directory().get_current_head()
    assert head is not None, "the package has at least one migration"  # noqa: S101  # a migration is part of the package
    return head


def knows(name: str) -> bool:
    """Return whether a revision is known to this version."""
    return any(item.revision == name for item in directory().walk_revisions())


def revision(database: Database) -> str | None:
    """Return the revision of a database, or None for an empty one."""
    with database.read() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def require_known(database: Database, name: str | None) -> None:
    """Raise `DatabaseTooNew` if the revision of a database is that of a newer version."""
    if name is not None and not knows(name):
        raise DatabaseTooNew(f"{database.name} was written by a newer Holdfast; upgrade this one to open it")


def upgrade(database: Database, to: str = "head") -> bool:
    """Run the missing migrations up to a revision; return whether there were any."""
    config = script()
    try:
        with database.write() as connection:
            lock(connection)
            before = MigrationContext.configure(connection).get_current_revision()
            require_known(database, before)
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
    """Wait for another process that is migrating; on SQLite the write lock does that."""
    if connection.dialect.name == "postgresql":
        # Without a timeout.
        connection.execute(text("SET LOCAL lock_timeout = 0"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": POSTGRES_LOCK})
