"""Prepared statements for hot paths: compiled to SQL once, run on the raw driver.

For small queries SQLAlchemy's compilation and result handling cost several times the query itself. Queries of
every request (authentication, repository, permissions) are therefore written in SQLAlchemy Core, but compiled
once.
"""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

from sqlalchemy import Boolean, CompoundSelect, Connection, Dialect, Select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.dml import Delete, Insert, Update

__all__ = ["Bare", "Bind", "Link", "Statement"]

Bind = str | int | float | bool | bytes | None


class Bare(sqlite3.Connection):
    """A raw SQLite connection."""

    webhooks_disabled = False
    """Whether events are recorded without queueing webhook deliveries."""
    renderer: Callable[..., str] | None = None
    """Renders the payloads of recorded events."""
    uses = 0
    """The number of callers in its thread that use it; it must not be closed meanwhile."""
    version: tuple[int, int] | None = None
    """The version of the database that `cache` was read from."""
    cache: Final[dict[object, Any]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cache = {}


Link = Connection | Bare
"""A transaction: SQLAlchemy's, or on SQLite the raw driver's, for hot paths that write."""
DIALECTS: Final[dict[str, Dialect]] = {
    "sqlite": sqlite.dialect(paramstyle="named"),
    "postgresql": postgresql.dialect(paramstyle="pyformat"),  # type: ignore[no-untyped-call]  # SQLAlchemy does not type it
}


class Statement:
    """A statement whose parameters are all named with `bindparam`."""

    def __init__(
        self,
        statement: Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]] | Insert | Update | Delete,
    ) -> None:
        self._texts: dict[str, str] = {}
        self._constants: dict[str, dict[str, Bind]] = {}
        for name, dialect in DIALECTS.items():
            compiled = statement.compile(dialect=dialect)
            self._texts[name] = str(compiled)
            self._constants[name] = {key: value for key, value in compiled.params.items() if value is not None}
        # Precomputed for SQLite.
        self._sqlite = self._texts["sqlite"]
        self._sqlite_constants = self._constants["sqlite"]
        # SQLite has no boolean type: its driver returns 1 and 0.
        columns = statement.exported_columns
        self._flags = [index for index, column in enumerate(columns) if isinstance(column.type, Boolean)]

    def text(self, dialect: str) -> str:
        """Return the SQL for a dialect."""
        return self._texts[dialect]

    def binds(self, dialect: str, parameters: dict[str, Bind]) -> dict[str, Bind]:
        """Return all bind values: those given, and the constants of the statement."""
        constants = self._constants[dialect]
        return {**constants, **parameters} if constants else parameters

    def typed(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Convert a row of SQLite to the declared column types."""
        values = list(row)
        for index in self._flags:
            values[index] = bool(values[index])
        return tuple(values)

    def run(self, link: Link, **binds: Bind) -> list[tuple[Any, ...]]:
        """Run it in a transaction and return the rows."""
        if isinstance(link, Bare):
            return self.run_bare(link, binds)
        if link.dialect.name == "sqlite":
            return self.run_on_driver(link, binds)
        result = link.exec_driver_sql(self._texts["postgresql"], self.binds("postgresql", binds))
        return [tuple(row) for row in result] if result.returns_rows else []

    def run_on_driver(self, link: Connection, binds: dict[str, Bind]) -> list[tuple[Any, ...]]:
        """Run it on the SQLite driver's connection of a transaction; errors are SQLAlchemy's."""
        driver: Any = link.connection.driver_connection
        try:
            return self.run_bare(driver, binds)
        except sqlite3.Error as error:
            raise DBAPIError.instance(
                self._sqlite, None, error, sqlite3.Error, hide_parameters=True, dialect=link.dialect
            ) from error

    def read(self, link: Link, **binds: Bind) -> list[tuple[Any, ...]]:
        """Run a query in a transaction, on SQLite always with the raw driver.

        Errors are then the driver's own, so statements that write use `run`.
        """
        if isinstance(link, Bare):
            return self.run_bare(link, binds)
        if link.dialect.name != "sqlite":
            return self.run(link, **binds)
        driver: Any = link.connection.driver_connection
        return self.run_bare(driver, binds)

    def run_bare(self, link: sqlite3.Connection, parameters: dict[str, Bind]) -> list[tuple[Any, ...]]:
        """Run it on a raw SQLite connection."""
        constants = self._sqlite_constants
        rows = link.execute(self._sqlite, {**constants, **parameters} if constants else parameters).fetchall()
        return [self.typed(row) for row in rows] if self._flags and rows else rows

    def run_many(self, link: Link, rows: Sequence[dict[str, Bind]]) -> None:
        """Run it in a transaction once per row of values (executemany)."""
        if isinstance(link, Bare):
            link.executemany(self._texts["sqlite"], [self.binds("sqlite", row) for row in rows])
        else:
            dialect = link.dialect.name
            link.exec_driver_sql(self._texts[dialect], [self.binds(dialect, row) for row in rows])
