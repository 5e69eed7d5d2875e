"""Upgrades from every schema since the seventh, with rows in every table."""

from typing import Any

import pytest
from sqlalchemy import JSON, Connection, MetaData, Table, insert, select
from sqlalchemy.types import Boolean, DateTime, Float, Integer, LargeBinary, Uuid

from holdfast.hosting.store import migrate
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.full_text import SEARCH_TABLES

# The schema of the first version that others ran.
FIRST = "0007"
CHAIN = [item.revision for item in migrate.directory().walk_revisions()][::-1]
# All but the newest, in the order of migration.
EARLIER = CHAIN[CHAIN.index(FIRST) : -1]
# Rows of these are not meant to survive: notes of pushes that were recorded, and what one version only reads.
# Columns that a migration sets: releases were turned on when there were some, and the log gave versions.
CHANGED = {("repositories", "has_releases"), ("repositories", "version")}
TRANSIENT = {"alembic_version", "ref_updates", "commit_keys", "leases"}


def reflect(connection: Connection) -> MetaData:
    """Read the tables of a database as they are, without those that triggers fill."""
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: not name.startswith(SEARCH_TABLES))
    return metadata


def value_of(column: Any, rows: dict[str, dict[str, Any]]) -> Any:
    """Return a value for a column: of the parent row where it refers to one."""
    for key in column.foreign_keys:
        table, _, name = key.target_fullname.rpartition(".")
        return rows.get(table, {}).get(name)
    kind = column.type
    if isinstance(kind, Boolean):
        return False
    if isinstance(kind, Integer):
        return 1
    if isinstance(kind, Float):
        return 1.0
    if isinstance(kind, LargeBinary):
        return b"x"
    assert not isinstance(kind, DateTime | JSON | Uuid), f"{column}: no value for {kind!r}"
    return "{}" if column.name in {"details", "declared", "meta", "rule", "headers"} else f"{column.name} x"


def fill(connection: Connection, skip: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Insert a row into every table that has none yet, parents first; return the rows by table."""
    rows = dict(skip)
    for table in reflect(connection).sorted_tables:
        if table.name in rows or table.name == "alembic_version":
            continue
        # A number that the database gives is not written.
        row = {
            column.name: value_of(column, rows)
            for column in table.columns
            if column.name != "id" or column.foreign_keys or not isinstance(column.type, Integer)
        }
        given = (
            connection.execute(insert(table).values(row).returning(*table.primary_key.columns)).mappings().one()
        )
        rows[table.name] = {**row, **given}
    return rows


def rows_of(connection: Connection, table: Table) -> list[dict[str, Any]]:
    """Return the rows of a table."""
    return [dict(row) for row in connection.execute(select(table)).mappings()]


@pytest.mark.long
@pytest.mark.parametrize("start", EARLIER)
def test_rows_of_every_schema_survive_the_upgrade(empty_database: Database, start: str) -> None:
    """Rows added at the first and at an earlier schema have the same values in the newest one."""
    migrate.upgrade(empty_database, to=FIRST)
    with empty_database.write() as connection:
        rows = fill(connection, {})
    assert {"users", "repositories", "issues", "comments", "hooks", "deliveries"} <= rows.keys()
    if start != FIRST:
        migrate.upgrade(empty_database, to=start)
        with empty_database.write() as connection:
            rows = fill(connection, rows)
    assert migrate.upgrade(empty_database) is True
    with empty_database.read() as connection:
        tables = reflect(connection).tables
        for name, row in rows.items():
            if name in TRANSIENT or name not in tables:
                continue
            (kept,) = rows_of(connection, tables[name])
            shared = [column for column in row if column in kept and (name, column) not in CHANGED]
            assert {column: kept[column] for column in shared} == {column: row[column] for column in shared}, name
        if empty_database.is_sqlite:
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
