"""The data folder: opening its database, file permissions, and the first start."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import structlog

from holdfast.hosting.errors import DatabaseError, NameTaken, NoData
from holdfast.hosting.storage import instance
from holdfast.hosting.store import accounts, migrate
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.encryption import INSTANCE_FILE, KEY_FILE
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = [
    "DATABASE",
    "FirstStart",
    "connect",
    "open_database",
    "paths_open_to_others",
    "prepare",
    "require_data",
    "restrict_permissions",
]

DATABASE: Final = "holdfast.sqlite3"
# Paths that must not be readable by other users of the machine.
PRIVATE_FOLDERS: Final = (
    *("", "repositories", "packs", "lfs", "attachments", "chats"),
    *("incoming", "cache", "tmp", "lost-and-found"),
)
PRIVATE_FILES: Final = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", KEY_FILE, INSTANCE_FILE, "bucket-owner")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FirstStart:
    """The administrator created by the first start; `password` is set if it was generated and must be shown."""

    admin: str
    password: Secret | None


def connect(settings: Settings) -> Database:
    """Open the database of the settings, creating the data folder if necessary; the caller closes it."""
    url = settings.database_url
    if url is None:
        database = Database.in_folder(settings.data)
    else:
        try:
            settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DatabaseError(f"the data folder {settings.data} cannot be used: {error.strerror}") from error
        database = Database.at(url, connections=settings.database_connections)
    if not settings.webhooks:
        database.disable_webhooks()
    return database


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """Open the database without migrating, and close it afterwards."""
    database = connect(settings)
    try:
        yield database
    finally:
        database.close()


def require_data(settings: Settings) -> None:
    """Raise `NoData` if no service was ever started: maintenance commands must not create a database."""
    hint = "set HOLDFAST_DATA or --data to the folder of the service; `holdfast serve` sets up a new one"
    if not settings.data.is_dir() or (settings.database_url is None and not (settings.data / DATABASE).is_file()):
        raise NoData(f"there is no Holdfast data in {settings.data}; {hint}")
    with open_database(settings) as database:
        if migrate.revision(database) is None:
            raise NoData(f"{database.name} is empty: there is no Holdfast data in it; {hint}")


def paths_open_to_others(data: Path) -> list[Path]:
    """Return the paths of a data folder that other users of the machine can read."""
    paths = [data / name for name in (*PRIVATE_FOLDERS, *PRIVATE_FILES)]
    return [path for path in paths if path.exists() and not path.is_symlink() and path.stat().st_mode & 0o077]


def restrict_permissions(data: Path) -> None:
    """Remove the permissions of other users on a data folder."""
    for path in paths_open_to_others(data):
        try:
            path.chmod(path.stat().st_mode & 0o700)
        except OSError as error:
            log.warning("data folder readable by other users", path=str(path), reason=error.strerror)
        else:
            log.warning("data folder permissions restricted", path=str(path))


def prepare(database: Database, settings: Settings) -> FirstStart | None:
    """Migrate, check that the data folder belongs to the database, and create the first administrator.

    Permissions of other users on the data folder are removed, which is logged.
    """
    restrict_permissions(settings.data)
    instance.establish(database, settings)
    if accounts.count_users(database):
        return None
    configured_password = settings.admin_password
    password = configured_password if configured_password is not None else accounts.new_password()
    try:
        accounts.create_user(database, settings.admin_name, password, is_admin=True)
    except NameTaken:
        # Another node that was started at the same time was first.
        return None
    return FirstStart(settings.admin_name, None if configured_password is not None else password)
