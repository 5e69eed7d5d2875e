"""The data folder: opening its database, and what the first start puts there."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.hosting.errors import DatabaseError
from holdfast.hosting.store import accounts, migrate
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.sealing import KEY_FILE, make_key_file
from holdfast.secret import Secret
from holdfast.settings import Settings

__all__ = ["FirstStart", "connect", "open_database", "prepare", "ready_database"]


@dataclass(frozen=True, slots=True)
class FirstStart:
    """The administrator the first start made; `password` is set when it was invented and must be shown."""

    admin: str
    password: Secret | None


def connect(settings: Settings) -> Database:
    """Open the database the settings name, making the data folder when there is none; the caller closes it."""
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
        database.be_silent()
    return database


@contextmanager
def open_database(settings: Settings) -> Iterator[Database]:
    """Open the database as it is and close it afterwards."""
    database = connect(settings)
    try:
        yield database
    finally:
        database.close()


@contextmanager
def ready_database(settings: Settings) -> Iterator[Database]:
    """Open the database, migrated to what this version expects, and close it afterwards."""
    with open_database(settings) as database:
        migrate.upgrade(database)
        yield database


def prepare(database: Database, settings: Settings) -> FirstStart | None:
    """Migrate, make the key for secrets, and the administrator when nobody can log in yet."""
    migrate.upgrade(database)
    if settings.secret_key is None:
        make_key_file(settings.data / KEY_FILE)
    if accounts.count_users(database):
        return None
    given = settings.admin_password
    password = given if given is not None else accounts.new_password()
    accounts.create_user(database, settings.admin_name, password, is_admin=True)
    return FirstStart(settings.admin_name, None if given is not None else password)
