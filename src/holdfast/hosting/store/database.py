"""Opens the database: SQLite in the data folder, or a PostgreSQL server by its URL.

A transaction says from the start whether it will write. On SQLite a writing one takes the write lock at once
(`BEGIN IMMEDIATE`): a reader that turns into a writer half-way fails however long it would wait.

On PostgreSQL a process has one connection pool, of a size that is set, for its queries and its locks alike. Every
connection is tested before it is used (pre-ping), so that a restart of the server is not noticed. Whoever gets no
connection in time, or waits too long for a lock, gets `DatabaseUnavailable`.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from holdfast.hosting.errors import DatabaseError, DatabaseUnavailable
from holdfast.hosting.store.prepared_statements import Bare, Bind, Link, Statement
from holdfast.secret import Secret

__all__ = ["Database", "Within"]

BUSY_MS: Final = 10_000
# How long somebody waits for a connection of the pool.
WAIT_SECONDS: Final = 10.0
CONNECTIONS: Final = 10
# What libpq is told unless the URL says otherwise: a server that is gone without a word is noticed.
LIBPQ: Final = {"connect_timeout": "5", "keepalives_idle": "30", "tcp_user_timeout": "10000"}
# The first byte keeps them apart from locks of other kinds.
LOCKS: Final = 0x46 << 56
NOTHING: Final = nullcontext()


class BareWrite:
    """A transaction that writes, on a connection of the driver's own."""

    __slots__ = ("_bare", "_durable")

    def __init__(self, bare: Bare, *, durable: bool) -> None:
        self._bare = bare
        self._durable = durable

    def __enter__(self) -> Link:
        if not self._durable:
            self._bare.execute("PRAGMA synchronous = NORMAL")
        try:
            self._bare.execute("BEGIN IMMEDIATE")
        except BaseException:
            self._be_durable()
            raise
        return self._bare

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        try:
            if kind is None:
                self._bare.execute("COMMIT")
        finally:
            if self._bare.in_transaction:
                self._bare.execute("ROLLBACK")
            self._be_durable()

    def _be_durable(self) -> None:
        if not self._durable:
            self._bare.execute("PRAGMA synchronous = FULL")


class Database:
    """One database and its connections."""

    def __init__(self, engine: Engine, *, locks: int = 1, wait: float = WAIT_SECONDS) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._local = threading.local()
        self._is_silent = False
        self._renderer: Callable[..., str] | None = None
        self._bare: list[Bare] = []
        # Those who wait for a lock must not keep those who have one from the connections they need to finish: only
        # some of the pool's connections may hold or wait for locks.
        self._lock_slots = threading.BoundedSemaphore(locks)
        self._wait = wait

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """Open the SQLite database of a data folder, making the folder when there is none."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / "holdfast.sqlite3"
            path.touch(mode=0o600)
        except OSError as error:
            raise DatabaseError(f"the data folder {folder} cannot be used: {error.strerror}") from error
        engine = create_engine(
            URL.create("sqlite", database=str(path)), creator=lambda: open_sqlite(path), pool_timeout=WAIT_SECONDS
        )
        event.listen(engine, "connect", prepare_sqlite)
        event.listen(engine, "begin", begin_sqlite)
        return cls(engine)

    @classmethod
    def at(cls, url: Secret, *, connections: int = CONNECTIONS, wait: float = WAIT_SECONDS) -> Self:
        """Open a PostgreSQL database with at most so many connections; `wait` is how long one is waited for."""
        try:
            parsed = make_url(url.reveal()).set(drivername="postgresql+psycopg")
            given = {name: value for name, value in LIBPQ.items() if name not in parsed.query}
            engine = create_engine(
                parsed,
                connect_args=given,
                pool_pre_ping=True,
                pool_size=connections,
                max_overflow=0,
                pool_timeout=wait,
                # The connection used last is used first, and the rest may be closed by the server or a proxy.
                pool_use_lifo=True,
            )
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise DatabaseError("PostgreSQL needs an extra: pip install 'holdfast[postgres]'") from error
        event.listen(engine, "connect", prepare_postgres)
        return cls(engine, locks=max(connections // 2, 1), wait=wait)

    def be_silent(self) -> None:
        """Record events from now on without telling anybody, as where webhooks are switched off."""
        self.engine.update_execution_options(holdfast_silent=True)
        self._is_silent = True
        for connection in self._bare:
            connection.is_silent = True

    @property
    def is_silent(self) -> bool:
        """Whether nobody is told of the events that are recorded."""
        return self._is_silent

    def render_with(self, renderer: Callable[..., str]) -> None:
        """Render the payloads of events with `renderer`, in the transactions that record them."""
        self.engine.update_execution_options(holdfast_renderer=renderer)
        self._renderer = renderer
        for connection in self._bare:
            connection.renderer = renderer

    @property
    def name(self) -> str:
        """What kind of database it is and where, without its password."""
        if self.is_sqlite:
            return f"SQLite in {self.engine.url.database}"
        return f"PostgreSQL {self.engine.url.render_as_string(hide_password=True)}"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run statements that only read, all seeing one state of the database."""
        with self._connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Run statements that only read, all seeing the state at the first of them, however long they take."""
        level = None if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        with self._connect(level) as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run statements that change something: all of them take effect, or none."""
        with self._connect() as connection:
            writing = connection.execution_options(holdfast_write=True)
            with writing.begin():
                yield writing

    def quick_write(self, *, durable: bool = True) -> AbstractContextManager[Link]:
        """Write as `write` does, for a hot path: on SQLite with the bare driver; only a `Statement` can be run.

        What need not be durable is seen by everybody at once, but may be forgotten when the machine loses its
        power; whatever is written durably after it keeps it too.
        """
        if self.is_sqlite:
            return BareWrite(self._bare_connection(), durable=durable)
        return self._server_write(durable=durable)

    @contextmanager
    def _server_write(self, *, durable: bool) -> Iterator[Link]:
        with self.write() as connection:
            if not durable:
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            yield connection

    def holding(self, number: int) -> AbstractContextManager[None]:
        """Hold a lock of a number against everybody who shares the database, on whatever machine.

        SQLite is for one machine, where the lock of a repository's folder does the same.
        """
        return NOTHING if self.is_sqlite else self._server_holding(number)

    @contextmanager
    def _server_holding(self, number: int) -> Iterator[None]:
        if not self._lock_slots.acquire(timeout=self._wait):
            raise DatabaseUnavailable(f"{self.name} has no connection to spare")
        try:
            with self._connect(self._reading) as connection:
                key = {"key": LOCKS | number}
                connection.execute(text("SELECT pg_advisory_lock(:key)"), key)
                try:
                    yield
                finally:
                    self._unlock(connection, key)
        finally:
            self._lock_slots.release()

    @staticmethod
    def _unlock(connection: Connection, key: dict[str, int]) -> None:
        """Let go of a lock; a connection that is lost has let go of it already, and is not used again."""
        try:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), key)
        except DBAPIError:
            connection.invalidate()

    def rows(self, statement: Statement, **binds: Bind) -> list[tuple[Any, ...]]:
        """Run one statement of a hot path on the bare driver, outside any transaction."""
        if self.is_sqlite:
            return statement.run_bare(self._bare_connection(), binds)
        with self._connect(self._reading) as connection:
            result = connection.exec_driver_sql(statement.text("postgresql"), statement.binds("postgresql", binds))
            return [tuple(row) for row in result]

    def row(self, statement: Statement, **binds: Bind) -> tuple[Any, ...] | None:
        """Run one statement of a hot path that finds one row or none."""
        found = self.rows(statement, **binds)
        return found[0] if found else None

    def close(self) -> None:
        """Give every connection back."""
        self.engine.dispose()
        while self._bare:
            self._bare.pop().close()

    def _bare_connection(self) -> Bare:
        """Return this thread's own connection: SQLite's cost nothing to keep, and none is shared."""
        connection: Bare | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = open_sqlite(Path(str(self.engine.url.database)), Bare)
            connection.is_silent = self._is_silent
            connection.renderer = self._renderer
            prepare_sqlite(connection, None)
            self._local.connection = connection
            self._bare.append(connection)
        return connection

    @contextmanager
    def _connect(self, engine: Engine | None = None) -> Iterator[Connection]:
        try:
            connection = (engine or self.engine).connect()
        except PoolTimeout as error:
            raise DatabaseUnavailable(f"{self.name} has no connection to spare") from error
        except DBAPIError as error:
            if self.is_sqlite:
                raise sqlite_problem(self.name, error) from error
            raise DatabaseUnavailable(f"{self.name} cannot be reached") from error
        with connection:
            yield connection


def sqlite_problem(name: str, error: DBAPIError) -> DatabaseError:
    """Say why a SQLite database cannot be opened: it is something else, or it cannot be used at the moment."""
    code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT}:
        return DatabaseError(f"{name} is not a Holdfast database, or it is damaged")
    return DatabaseUnavailable(f"{name} cannot be opened: {error.orig}")


class Within(Database):
    """A database as it is inside a transaction that is going on: all is read there, with what it has changed."""

    def __init__(self, database: Database, link: Link) -> None:
        self.engine = database.engine
        self.is_sqlite = database.is_sqlite
        self._link = link

    @property
    def _connection(self) -> Connection:
        if isinstance(self._link, Bare):
            raise TypeError("in a transaction of the bare driver only a Statement can be run")
        return self._link

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run statements in the transaction."""
        yield self._connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Run statements in the transaction."""
        yield self._connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run statements in the transaction, which takes effect or not as a whole."""
        yield self._connection

    def rows(self, statement: Statement, **binds: Bind) -> list[tuple[Any, ...]]:
        """Run one statement of a hot path that reads, in the transaction and on the bare driver."""
        return statement.read(self._link, **binds)

    def close(self) -> None:
        """Leave the connection to whoever opened it."""


ConnectionType = TypeVar("ConnectionType", bound=sqlite3.Connection)


def open_sqlite(path: Path, factory: type[ConnectionType] = sqlite3.Connection) -> ConnectionType:  # type: ignore[assignment]
    """Connect to a database that is there: in a folder that vanished, an empty one must not take its place."""
    # Closed by whichever thread closes the database, hence not tied to this one.
    return sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, check_same_thread=False, factory=factory)


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


def prepare_postgres(connection: Any, _record: object) -> None:
    """Set up a new PostgreSQL connection: nobody waits for a lock for ever, as on SQLite."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {BUSY_MS}")
    connection.commit()


def begin_sqlite(connection: Connection) -> None:
    """Begin a transaction with the lock it will need."""
    writes = connection.get_execution_options().get("holdfast_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
