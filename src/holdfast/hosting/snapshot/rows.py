"""Dump and load of tables in a format that is independent of the database: one JSON Lines file per table."""

import base64
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, Any, Final

import msgspec
from sqlalchemy import Column, Connection, LargeBinary, MetaData, Table, bindparam, func, select, text, update

from holdfast.hosting.errors import SnapshotDamaged
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.full_text import SEARCH_TABLES

__all__ = ["dump", "is_blank", "load", "read_sequences", "wipe", "write_sequences"]

# Excluded tables: the schema revision, which is in the header, and the state of running processes.
LEFT_OUT: Final = frozenset({"alembic_version", "leases"})
AT_ONCE: Final = 500
Value = str | int | float | bool | None
Row = dict[str, Value | bytes]
Numbers = dict[str, int]


def described(connection: Connection) -> MetaData:
    """Reflect the tables of the database, whose schema may be of another version than the code.

    The search tables are excluded: triggers fill them.
    """
    metadata = MetaData()
    metadata.reflect(connection, only=lambda name, _: not name.startswith(SEARCH_TABLES))
    return metadata


def dump(connection: Connection, folder: Path) -> Numbers:
    """Write every table to its own file; return the number of rows per table."""
    counts = {}
    encode = msgspec.json.Encoder().encode
    for table in described(connection).sorted_tables:
        if table.name in LEFT_OUT:
            continue
        key = list(table.primary_key.columns)
        count = 0
        with (folder / f"{table.name}.jsonl").open("xb") as file:
            file.write(encode([str(column.name) for column in table.columns]) + b"\n")
            statement = select(table).order_by(*key)
            if table.name == "packs":
                # Superseded packs are deleted after a grace period, and are not needed.
                statement = statement.where(table.c.superseded_at == 0)
            rows = connection.execution_options(yield_per=AT_ONCE).execute(statement)
            for row in rows:
                file.write(encode(tuple(row)) + b"\n")
                count += 1
        counts[str(table.name)] = count
    return counts


def is_blank(database: Database) -> bool:
    """Return whether a database has no tables."""
    with database.read() as connection:
        return not described(connection).tables


def wipe(database: Database) -> None:
    """Drop all tables of a database that was empty before."""
    with database.write() as connection:
        if database.is_sqlite:
            # Dropping a table that refers to itself deletes its rows first, and runs the triggers of that.
            triggers = text("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for name in connection.execute(triggers).scalars().all():
                connection.execute(text(f"DROP TRIGGER {name}"))
        for name in SEARCH_TABLES:
            connection.execute(text(f"DROP TABLE IF EXISTS {name}"))
        described(connection).drop_all(connection)


def load(connection: Connection, folder: Path) -> None:
    """Load the files of a folder into empty tables."""
    tables = described(connection)
    names = {path.stem for path in folder.glob("*.jsonl")}
    unknown = names - set(tables.tables)
    if unknown:
        raise SnapshotDamaged(f"the backup has a table {min(unknown)} that this revision does not know")
    for table in tables.sorted_tables:
        if table.name in names and table.name not in LEFT_OUT:
            fill(connection, table, folder / f"{table.name}.jsonl")


def fill(connection: Connection, table: Table, path: Path) -> None:
    """Load one table; self-references are set after all rows are inserted."""
    with path.open("rb") as file:
        columns = columns_of(table, file)
        later = [column for column in columns if points_to(column, table)]
        statement = insertion(connection, table, columns)
        for batch in batches(rows_of(file, columns, table)):
            first = [{**row, **dict.fromkeys(column.name for column in later)} for row in batch]
            connection.execute(text(statement), first)
        if not later:
            return
        file.seek(0)
        file.readline()
        key = table.primary_key.columns["id"]
        for column in later:
            change = update(table).where(key == bindparam("key")).values({column: bindparam("value")})
            pointing = (row for row in rows_of(file, columns, table) if row[column.name] is not None)
            for batch in batches(pointing):
                connection.execute(change, [{"key": row["id"], "value": row[column.name]} for row in batch])


def columns_of(table: Table, file: IO[bytes]) -> list[Column[Any]]:
    """Read the header line: the column names."""
    try:
        names = msgspec.json.decode(file.readline(), type=list[str])
        return [table.columns[name] for name in names]
    except (msgspec.DecodeError, KeyError):
        raise SnapshotDamaged(f"the table {table.name} has columns that this revision does not know") from None


def rows_of(file: IO[bytes], columns: list[Column[Any]], table: Table) -> Iterator[Row]:
    """Yield the rows of a file."""
    names = [column.name for column in columns]
    # Bytes are stored as base64.
    binary = [column.name for column in columns if isinstance(column.type, LargeBinary)]
    decode = msgspec.json.Decoder(list[Value]).decode
    for line in file:
        try:
            row: Row = dict(zip(names, decode(line), strict=True))
            for name in binary:
                if row[name] is not None:
                    row[name] = base64.b64decode(str(row[name]), validate=True)
            yield row
        except (msgspec.DecodeError, ValueError):
            raise SnapshotDamaged(f"the table {table.name} has a row that cannot be read") from None


def batches(rows: Iterator[Row]) -> Iterator[list[Row]]:
    """Group rows into batches."""
    while batch := list(islice(rows, AT_ONCE)):
        yield batch


def points_to(column: Column[Any], table: Table) -> bool:
    """Return whether a column refers to the same table."""
    return any(key.column.table is table for key in column.foreign_keys)


def insertion(connection: Connection, table: Table, columns: list[Column[Any]]) -> str:
    """Return the INSERT statement with explicit ids (OVERRIDING SYSTEM VALUE on PostgreSQL)."""
    quote = connection.dialect.identifier_preparer.quote
    names = ", ".join(quote(column.name) for column in columns)
    values = ", ".join(f":{column.name}" for column in columns)
    override = " OVERRIDING SYSTEM VALUE" if connection.dialect.name == "postgresql" else ""
    return f"INSERT INTO {quote(table.name)} ({names}){override} VALUES ({values})"  # noqa: S608  # names of our own


def read_sequences(connection: Connection) -> Numbers:
    """Return the highest id ever used in each table, including deleted rows."""
    if connection.dialect.name == "sqlite":
        # A table that a migration copied without rows has the number 0.
        rows = connection.execute(text("SELECT name, seq FROM sqlite_sequence WHERE seq > 0")).all()
        return {str(name): int(number) for name, number in rows}
    numbers = {}
    owned = (
        "SELECT table_name, pg_get_serial_sequence(quote_ident(table_name), 'id') FROM information_schema.columns "
        "WHERE table_schema = current_schema() AND column_name = 'id' AND is_identity = 'YES'"
    )
    for table, sequence in connection.execute(text(owned)).all():
        last, called = connection.execute(text(f"SELECT last_value, is_called FROM {sequence}")).one()  # noqa: S608  # the name of a sequence, from the catalogue
        if called:
            numbers[str(table)] = int(last)
    return numbers


def write_sequences(connection: Connection, numbers: Numbers) -> None:
    """Set the sequences, so that no id is reused."""
    for table in described(connection).sorted_tables:
        if "id" not in table.columns or table.name in LEFT_OUT:
            continue
        highest = connection.execute(select(func.coalesce(func.max(table.c.id), 0))).scalar_one()
        number = max(highest, numbers.get(table.name, 0))
        if not number:
            continue
        if connection.dialect.name == "sqlite":
            parameters = {"name": table.name, "seq": number}
            there = connection.execute(
                text("SELECT 1 FROM sqlite_sequence WHERE name = :name"), parameters
            ).first()
            sql = "UPDATE sqlite_sequence SET seq = :seq WHERE name = :name"
            if there is None and is_numbered(connection, table.name):
                sql = "INSERT INTO sqlite_sequence (name, seq) VALUES (:name, :seq)"
            connection.execute(text(sql), parameters)
        else:
            sql = "SELECT setval(pg_get_serial_sequence(quote_ident(:name), 'id'), :number)"
            connection.execute(text(sql), {"name": table.name, "number": number})


def is_numbered(connection: Connection, table: str) -> bool:
    """Return whether SQLite tracks the highest id of a table."""
    sql = connection.execute(
        text("SELECT sql FROM sqlite_master WHERE name = :name"), {"name": table}
    ).scalar_one()
    return "AUTOINCREMENT" in str(sql)
