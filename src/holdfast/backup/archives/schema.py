"""The schema of an archive.

An archive is a SQLite file that any tool opens. Table names are singular; the views `messages`, `chats` and
`people` are for users and remain stable. Times are milliseconds since 1970, in these views also text in UTC.

`first_seen` and `last_seen` are the earliest and the latest snapshot with a row; `last_seen` is NULL while the
newest snapshot of the account contains it. Both are independent of the order of imports, and so are all ids except
those of snapshots and blocks: they are derived from what identifies a row.
"""

import sqlite3
from typing import Final

from holdfast.backup.archives.schema_messages import MESSAGES
from holdfast.backup.archives.schema_people import PEOPLE
from holdfast.backup.archives.schema_rest import REST
from holdfast.backup.archives.schema_upgrades import UPGRADES, statements
from holdfast.backup.archives.schema_views import INDEXES, LATER_INDEXES, SEARCH, VIEWS
from holdfast.backup.errors import ArchiveError, ArchiveTooNew, NotAnArchive
from holdfast.backup.file_types import ARCHIVE_ID

__all__ = ["APPLICATION_ID", "VERSION", "check", "check_tables", "create", "upgrade"]

# "HOLD", which `file` and SQLite show.
APPLICATION_ID: Final = ARCHIVE_ID

# Version 1 has no upgrade.
VERSION: Final = 1 + len(UPGRADES)


def create(connection: sqlite3.Connection) -> None:
    """Create the schema in an empty database, inside the open transaction."""
    run = connection.execute
    run(f"PRAGMA application_id = {APPLICATION_ID}")
    for script in (PEOPLE, MESSAGES, REST, INDEXES, VIEWS, SEARCH):
        for statement in statements(script):
            run(statement)
    for statement in LATER_INDEXES.values():
        run(statement)
    run(f"PRAGMA user_version = {VERSION}")


def upgrade(connection: sqlite3.Connection) -> None:
    """Upgrade an archive to this version, inside the open transaction."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    check(connection, version)
    for step in UPGRADES[version - 1 :]:
        step(connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def check(connection: sqlite3.Connection, version: int) -> None:
    """Refuse a database that is not an archive, and an archive of a newer version."""
    (application_id,) = connection.execute("PRAGMA application_id").fetchone()
    if application_id != APPLICATION_ID:
        raise NotAnArchive("this is a SQLite database, but not a Holdfast archive")
    if version > VERSION:
        raise ArchiveTooNew(f"the archive has version {version}, this Holdfast knows versions up to {VERSION}")


def check_tables(connection: sqlite3.Connection) -> None:
    """Refuse to write to an archive from before the first release, whose table `identity` differs."""
    (is_known,) = connection.execute(
        "SELECT count(*) FROM pragma_table_info('identity') WHERE name = 'alias'"
    ).fetchone()
    if not is_known:
        raise ArchiveError("the archive is from before the first release: it is read-only")
