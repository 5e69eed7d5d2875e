"""Migrated SQLite schemas, copied into empty databases instead of running the migrations each time."""

from collections.abc import Callable
from typing import Any

from alembic.config import Config
from sqlalchemy import Connection

__all__ = ["MigratedSchema"]

IS_EMPTY = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_master)"
# A virtual table makes its shadow tables itself, a constraint its index, and SQLite its own tables.
MADE = """
    SELECT type, name, sql FROM sqlite_master
    WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'
        AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
    ORDER BY type <> 'table', rowid
"""


class MigratedSchema:
    """A stand-in for Alembic's `upgrade` command, which it runs for every database that is not empty."""

    def __init__(self, upgrade: Callable[[Config, str], None]) -> None:
        self._upgrade = upgrade
        self._statements: dict[str, list[tuple[str, list[Any]]]] = {}

    def __call__(self, config: Config, revision: str) -> None:
        """Upgrade the database of the connection that the configuration names, in the transaction it is in."""
        connection = config.attributes["connection"]
        assert isinstance(connection, Connection)
        if connection.dialect.name != "sqlite" or not is_empty(connection):
            self._upgrade(config, revision)
        elif revision not in self._statements:
            self._upgrade(config, revision)
            self._statements[revision] = dump(connection)
        else:
            for statement, rows in self._statements[revision]:
                if rows:
                    connection.exec_driver_sql(statement, rows)
                else:
                    connection.exec_driver_sql(statement)


def is_empty(connection: Connection) -> bool:
    """Return whether a database has no tables."""
    return bool(connection.exec_driver_sql(IS_EMPTY).scalar_one())


def dump(connection: Connection) -> list[tuple[str, list[Any]]]:
    """Return the statements that make a database as it is, each with the rows to run it for; tables come first."""
    statements: list[tuple[str, list[Any]]] = []
    for kind, name, definition in connection.exec_driver_sql(MADE).all():
        statements.append((definition, []))
        if kind == "table" and not definition.startswith("CREATE VIRTUAL"):
            rows = [tuple(row) for row in connection.exec_driver_sql(f'SELECT * FROM "{name}"')]
            if rows:
                marks = ", ".join("?" * len(rows[0]))
                statements.append((f'INSERT INTO "{name}" VALUES ({marks})', rows))
    return statements
