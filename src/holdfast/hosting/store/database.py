"""Database connections: SQLite in the data folder, or PostgreSQL by URL.

A transaction declares at the start whether it writes. On SQLite a writing one takes the write lock at once (`BEGIN
IMMEDIATE`), since upgrading a read transaction fails with `SQLITE_BUSY` regardless of the busy timeout.

On PostgreSQL a process has one connection pool of configurable size for queries and advisory locks. Connections
are tested before use (pre-ping), so a restart of the server goes unnoticed. `DatabaseUnavailable` is raised when
the pool or the lock timeout is exhausted.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    Table,
    cast,
    create_engine,
    event,
    extract,
    func,
    make_url,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from holdfast.hosting import traces
from holdfast.hosting.errors import DatabaseError, DatabaseUnavailable
from holdfast.hosting.store.prepared_statements import Bare, Bind, Link, Statement
from holdfast.secret import Secret

__all__ = ["Database", "TransactionDatabase", "current_time", "upsert"]

LOCK_TIMEOUT_MS: Final = 10_000
# Timeout for a connection of the pool.
POOL_TIMEOUT_SECONDS: Final = 10.0
POOL_SIZE: Final = 10
# libpq defaults unless the URL sets them: a server that vanished is detected within seconds.
LIBPQ_DEFAULTS: Final = {"connect_timeout": "5", "keepalives_idle": "30", "tcp_user_timeout": "10000"}
# Key space of the advisory locks; the first byte separates it from other locks.
ADVISORY_KEY_SPACE: Final = 0x46 << 56
NO_LOCK: Final = nullcontext()
MAX_CACHED: Final = 1024

K = TypeVar("K")
V = TypeVar("V")


class RawTransaction:
    """A write transaction on a raw driver connection."""

    __slots__ = ("_durable", "_raw")

    def __init__(self, raw: Bare, *, durable: bool) -> None:
        self._raw = raw
        self._durable = durable

    def __enter__(self) -> Link:
        try:
            if not self._durable:
                self._raw.execute("PRAGMA synchronous = NORMAL")
            try:
                self._raw.execute("BEGIN IMMEDIATE")
            except BaseException:
                self._restore_synchronous()
                raise
        except BaseException:
            self._raw.uses -= 1
            raise
        return self._raw

    def __exit__(self, kind: type[BaseException] | None, *_rest: object) -> None:
        try:
            if kind is None:
                self._raw.execute("COMMIT")
        finally:
            try:
                if self._raw.in_transaction:
                    self._raw.execute("ROLLBACK")
                self._restore_synchronous()
            finally:
                self._raw.uses -= 1

    def _restore_synchronous(self) -> None:
        if not self._durable:
            self._raw.execute("PRAGMA synchronous = FULL")


class Database:
    """A database and its connections."""

    def __init__(self, engine: Engine, *, locks: int = 1, wait: float = POOL_TIMEOUT_SECONDS) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self._reading = engine.execution_options(isolation_level="AUTOCOMMIT")
        self._local = threading.local()
        self._webhooks_disabled = False
        self._renderer: Callable[..., str] | None = None
        self._raw: list[Bare] = []
        self._is_closed = False
        # Only half of the pool may hold or wait for advisory locks: lock holders need connections to finish.
        self._lock_slots = threading.BoundedSemaphore(locks)
        self._wait = wait

    @classmethod
    def in_folder(cls, folder: Path) -> Self:
        """Open the SQLite database in a data folder, creating both if necessary."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / "holdfast.sqlite3"
            path.touch(mode=0o600)
        except OSError as error:
            raise DatabaseError(f"the data folder {folder} cannot be used: {error.strerror}") from error
        engine = create_engine(
            URL.create("sqlite", database=str(path)),
            creator=lambda: open_sqlite(path),
            pool_timeout=POOL_TIMEOUT_SECONDS,
        )
        event.listen(engine, "connect", prepare_sqlite)
        event.listen(engine, "begin", begin_sqlite)
        return cls(engine)

    @classmethod
    def at(cls, url: Secret, *, connections: int = POOL_SIZE, wait: float = POOL_TIMEOUT_SECONDS) -> Self:
        """Open a PostgreSQL database with a pool of `connections`; `wait` is the pool timeout in seconds."""
        try:
            parsed = make_url(url.reveal()).set(drivername="postgresql+psycopg")
            defaults = {name: value for name, value in LIBPQ_DEFAULTS.items() if name not in parsed.query}
            engine = create_engine(
                parsed,
                connect_args=defaults,
                pool_pre_ping=True,
                pool_size=connections,
                max_overflow=0,
                pool_timeout=wait,
                # LIFO lets idle connections be closed by the server or a proxy.
                pool_use_lifo=True,
            )
        except (NoSuchModuleError, ModuleNotFoundError) as error:
            raise DatabaseError("PostgreSQL needs an extra: pip install 'holdfast[postgres]'") from error
        event.listen(engine, "connect", prepare_postgres)
        return cls(engine, locks=max(connections // 2, 1), wait=wait)

    def disable_webhooks(self) -> None:
        """Record events from now on without queueing webhook deliveries."""
        self.engine.update_execution_options(holdfast_webhooks_disabled=True)
        self._webhooks_disabled = True
        for connection in self._raw:
            connection.webhooks_disabled = True

    @property
    def webhooks_disabled(self) -> bool:
        """Whether events are recorded without queueing webhook deliveries."""
        return self._webhooks_disabled

    def render_with(self, renderer: Callable[..., str]) -> None:
        """Render event payloads with `renderer`, in the transaction that records the event."""
        self.engine.update_execution_options(holdfast_renderer=renderer)
        self._renderer = renderer
        for connection in self._raw:
            connection.renderer = renderer

    @property
    def name(self) -> str:
        """The kind and location of the database, without its password."""
        if self.is_sqlite:
            return f"SQLite in {self.engine.url.database}"
        return f"PostgreSQL {self.engine.url.render_as_string(hide_password=True)}"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run a read-only transaction."""
        with self._span("read"), self._connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Run a read-only transaction in which all statements see the same snapshot (repeatable read)."""
        level = None if self.is_sqlite else self.engine.execution_options(isolation_level="REPEATABLE READ")
        with self._span("read"), self._connect(level) as connection, connection.begin():
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run a write transaction: it commits as a whole or not at all."""
        with self._span("write"), self._connect() as connection:
            writing = connection.execution_options(holdfast_write=True)
            with writing.begin():
                yield writing

    def quick_write(self, *, durable: bool = True) -> AbstractContextManager[Link]:
        """Run a write transaction of `Statement`s only; on SQLite it uses the raw driver.

        Without `durable` the commit is not synced to disk: it is visible at once but may be lost on power failure,
        until the next durable commit.
        """
        if not self.is_sqlite:
            return self._postgres_write(durable=durable)
        transaction = RawTransaction(self._take_raw_connection(), durable=durable)
        return transaction if traces.exporter is None else self._in_span(transaction)

    @contextmanager
    def _in_span(self, transaction: RawTransaction) -> Iterator[Link]:
        with self._span("write"), transaction as link:
            yield link

    def _span(self, operation: str) -> traces.TraceSpan:
        """Start the span of a transaction, from its wait for a connection to its commit."""
        return traces.span(f"database {operation}", db_system_name=self.engine.dialect.name)

    @contextmanager
    def _postgres_write(self, *, durable: bool) -> Iterator[Link]:
        with self.write() as connection:
            if not durable:
                connection.exec_driver_sql("SET LOCAL synchronous_commit = off")
            yield connection

    def advisory_lock(self, number: int) -> AbstractContextManager[None]:
        """Hold an advisory lock across all processes and machines that share the database.

        On SQLite this does nothing: there is one machine, and the lock file of the repository's folder suffices.
        """
        return NO_LOCK if self.is_sqlite else self._postgres_lock(number)

    def is_locked(self, number: int) -> bool:
        """Return whether another process holds an advisory lock or waits for it; on SQLite none does."""
        if self.is_sqlite:
            return False
        with self._connect(self._reading) as connection:
            # Held until the end of this transaction, if no other process wants it.
            statement = text("SELECT pg_try_advisory_xact_lock_shared(:key)")
            return not connection.execute(statement, {"key": ADVISORY_KEY_SPACE | number}).scalar_one()

    @contextmanager
    def _postgres_lock(self, number: int) -> Iterator[None]:
        if not self._lock_slots.acquire(timeout=self._wait):
            raise DatabaseUnavailable(f"{self.name} has no free connection in its pool")
        try:
            with self._connect(self._reading) as connection:
                key = {"key": ADVISORY_KEY_SPACE | number}
                connection.execute(text("SELECT pg_advisory_lock(:key)"), key)
                try:
                    yield
                finally:
                    self._unlock(connection, key)
        finally:
            self._lock_slots.release()

    @staticmethod
    def _unlock(connection: Connection, key: dict[str, int]) -> None:
        """Release an advisory lock; a lost connection has released it already and is invalidated."""
        try:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), key)
        except DBAPIError:
            connection.invalidate()

    def rows(self, statement: Statement, **binds: Bind) -> list[tuple[Any, ...]]:
        """Run a prepared statement on the raw driver, outside any transaction."""
        if self.is_sqlite:
            raw = self._take_raw_connection()
            try:
                return statement.run_bare(raw, binds)
            finally:
                raw.uses -= 1
        with self._connect(self._reading) as connection:
            result = connection.exec_driver_sql(statement.text("postgresql"), statement.binds("postgresql", binds))
            return [tuple(row) for row in result]

    def row(self, statement: Statement, **binds: Bind) -> tuple[Any, ...] | None:
        """Run a prepared statement that returns one row or None."""
        rows = self.rows(statement, **binds)
        return rows[0] if rows else None

    def version(self) -> tuple[int, int] | None:
        """Return the version of the database as this thread sees it; None in a transaction and on PostgreSQL.

        SQLite's `data_version` identifies the version of the database a connection sees; it does not count the
        connection's own changes, which `total_changes` does. Versions of different threads cannot be compared.
        """
        if not self.is_sqlite:
            return None
        connection = self._take_raw_connection()
        try:
            if connection.in_transaction:
                return None
            return connection.execute("PRAGMA data_version").fetchone()[0], connection.total_changes
        finally:
            connection.uses -= 1

    def cached(self, load: Callable[["Database", K], V | None], key: K) -> V | None:
        """Return the value that `load` reads for a key; on SQLite it is cached until the database changes.

        Each thread has a cache and a connection of its own.
        """
        if not self.is_sqlite:
            return load(self, key)
        connection = self._raw_connection()
        version = self.version()
        if version is None:
            return load(self, key)
        cache = connection.cache
        if version != connection.version or len(cache) >= MAX_CACHED:
            cache.clear()
            connection.version = version
        value: V | None = cache.get((load, key))
        if value is None:
            value = load(self, key)
            if value is not None:
                cache[load, key] = value
        return value

    def close(self) -> None:
        """Close all connections, those in use once they are released; the database cannot be used afterwards.

        SQLite crashes if a connection is closed while another thread runs a statement on it. A thread increments
        `uses` before it checks whether the database is closed, and this method checks `uses` after it sets the
        closed flag, so one of them notices the other.
        """
        self._is_closed = True
        self.engine.dispose()
        while self._raw:
            connection = self._raw.pop()
            if not connection.uses:
                connection.close()

    def _take_raw_connection(self) -> Bare:
        """Return the raw SQLite connection of this thread; the caller decrements `uses` when it is done."""
        connection = self._raw_connection()
        connection.uses += 1
        if self._is_closed:
            connection.uses -= 1
            raise DatabaseUnavailable(f"{self.name} is closed")
        return connection

    def _raw_connection(self) -> Bare:
        """Return the raw SQLite connection of this thread."""
        connection: Bare | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = open_sqlite(Path(str(self.engine.url.database)), Bare)
            connection.webhooks_disabled = self._webhooks_disabled
            connection.renderer = self._renderer
            prepare_sqlite(connection, None)
            self._local.connection = connection
            self._raw.append(connection)
        return connection

    @contextmanager
    def _connect(self, engine: Engine | None = None) -> Iterator[Connection]:
        try:
            connection = (engine or self.engine).connect()
        except PoolTimeout as error:
            raise DatabaseUnavailable(f"{self.name} has no free connection in its pool") from error
        except DBAPIError as error:
            if self.is_sqlite:
                raise sqlite_problem(self.name, error) from error
            raise DatabaseUnavailable(f"{self.name} cannot be reached") from error
        with connection:
            try:
                yield connection
            finally:
                # The pool that it would return to is no longer there to close it.
                if self._is_closed and not connection.invalidated:
                    connection.detach()


def sqlite_problem(name: str, error: DBAPIError) -> DatabaseError:
    """Return the error for a SQLite database that cannot be opened: damaged, or temporarily unavailable."""
    code = getattr(error.orig, "sqlite_errorcode", sqlite3.SQLITE_NOTADB) & 0xFF
    if code in {sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_FORMAT}:
        return DatabaseError(f"{name} is not a Holdfast database, or it is damaged")
    return DatabaseUnavailable(f"{name} cannot be opened: {error.orig}")


class TransactionDatabase(Database):
    """The database as seen inside an open transaction, including its uncommitted changes."""

    def __init__(self, database: Database, link: Link) -> None:
        self.engine = database.engine
        self.is_sqlite = database.is_sqlite
        self._link = link

    @property
    def _connection(self) -> Connection:
        if isinstance(self._link, Bare):
            raise TypeError("only a Statement can be run in a raw driver transaction")
        return self._link

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Return the transaction's connection."""
        yield self._connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Return the transaction's connection."""
        yield self._connection

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Return the transaction's connection; it is committed or rolled back by its owner."""
        yield self._connection

    def rows(self, statement: Statement, **binds: Bind) -> list[tuple[Any, ...]]:
        """Run a prepared statement in the transaction, on the raw driver."""
        return statement.read(self._link, **binds)

    def version(self) -> None:
        """Return None: a transaction sees its own changes."""

    def cached(self, load: Callable[[Database, K], V | None], key: K) -> V | None:
        """Return the value that `load` reads for a key; not cached in a transaction."""
        return load(self, key)

    def close(self) -> None:
        """Do nothing: the connection belongs to the transaction's owner."""


def current_time(database: Database) -> ColumnElement[int]:
    """Return an expression for the time of the database's clock in seconds, the same for all machines."""
    if database.is_sqlite:
        return cast(func.strftime("%s", "now"), BigInteger)
    return cast(func.floor(extract("epoch", func.clock_timestamp())), BigInteger)


def upsert(target: Database | Connection, table: Table) -> sqlite.Insert | postgresql.Insert:
    """Return an INSERT of the database's dialect, which has ON CONFLICT clauses."""
    is_sqlite = target.is_sqlite if isinstance(target, Database) else target.dialect.name == "sqlite"
    return sqlite.insert(table) if is_sqlite else postgresql.insert(table)


ConnectionType = TypeVar("ConnectionType", bound=sqlite3.Connection)


def open_sqlite(path: Path, factory: type[ConnectionType] = sqlite3.Connection) -> ConnectionType:  # type: ignore[assignment]  # the default of a type variable
    """Connect to an existing SQLite file (`mode=rw`); a missing file must not be created empty."""
    # Not bound to this thread: another one may close the database.
    return sqlite3.connect(f"file:{quote(str(path))}?mode=rw", uri=True, check_same_thread=False, factory=factory)


def prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    """Configure a new SQLite connection; transactions are begun by SQLAlchemy's events, not by the driver."""
    connection.isolation_level = None
    for pragma in (
        "journal_mode = WAL",  # a write-ahead log: readers do not wait for a writer
        "synchronous = FULL",  # each commit ends with an fsync
        "foreign_keys = ON",
        f"busy_timeout = {LOCK_TIMEOUT_MS}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def prepare_postgres(connection: Any, _record: object) -> None:
    """Configure a new PostgreSQL connection with a lock timeout."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET lock_timeout = {LOCK_TIMEOUT_MS}")
    connection.commit()


def begin_sqlite(connection: Connection) -> None:
    """Begin a transaction, with the write lock if it writes."""
    writes = connection.get_execution_options().get("holdfast_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
