"""Opens the database: SQLite in the data folder, or a PostgreSQL server by its URL.

A transaction says from the start whether it will write. On SQLite a writing one takes the write lock at once
(`BEGIN IMMEDIATE`): a reader that turns into a writer half-way fails however long it would wait.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, NoSuchModuleError

from holdfast.hosting.errors import DatabaseError
from holdfast.secret import Secret

__all__ = ["Database"]

BUSY_MS: Final = 10_000


class Database:
    """One database and its connections."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """Open the SQLite database of a data folder, making the folder when there is none."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / "holdfast.sqlite3"
            path.touch(mode=0o600)
        except OSError as error:
            raise DatabaseError(f"the data folder {folder} cannot be used: {error.strerror}") from error
        engine = create_engine(URL.create("sqlite", database=str(path)))
        event.listen(engine, "connect", prepare_sqlite)
        event.listen(engine, "begin", begin_sqlite)
        return cls(engine)

    @classmethod
    def at(cls, url: Secret) -> Self:
        """Open a PostgreSQL database."""
        try:
            parsed = make_url(url.reveal()).set(drivername="postgresql+psycopg")
            engine = create_engine(parsed, pool_pre_ping=True)
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise DatabaseError("PostgreSQL needs an extra: pip install 'holdfast[postgres]'") from error
        return cls(engine)

    @property
    def name(self) -> str:
        """What kind of database it is and where, without its password."""
        if self.engine.dialect.name == "sqlite":
            return f"SQLite in {self.engine.url.database}"
        return f"PostgreSQL {self.engine.url.render_as_string(hide_password=True)}"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run statements that only read, all seeing one state of the database."""
        with self._connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run statements that change something: all of them take effect, or none."""
        with self._connect() as connection:
            writing = connection.execution_options(holdfast_write=True)
            with writing.begin():
                yield writing

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        try:
            connection = self.engine.connect()
        except DBAPIError as error:
            server = self.engine.dialect.name == "postgresql"
            problem = "cannot be reached" if server else "is not a Holdfast database, or it is damaged"
            raise DatabaseError(f"{self.name} {problem}") from error
        with connection:
            yield connection


def prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Set up a new SQLite connection; SQLAlchemy's events then start every transaction, not the driver."""
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        f"busy_timeout = {BUSY_MS}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def begin_sqlite(connection: Connection) -> None:
    """Begin a transaction with the lock it will need."""
    writes = connection.get_execution_options().get("holdfast_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
