"""Checks untrusted archives: their schema executes nothing, and their values have the declared types.

SQLite evaluates expressions of a schema (triggers, views, constraints, generated columns, expression indexes), and
a column can hold values of any type.
"""

import sqlite3
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, get_args, get_type_hints

from msgspec import Struct

from holdfast.backup.archives import schema
from holdfast.backup.errors import ArchiveError, NotAnArchive
from holdfast.errors import HoldfastError

__all__ = [
    "UNEXPECTED",
    "check_old_schema",
    "check_schema",
    "check_types",
    "damage_error",
    "harden",
    "wrong_value",
]

StructT = TypeVar("StructT", bound=Struct)

# Exceptions that reading values of wrong types can raise.
UNEXPECTED: Final = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, sqlite3.Error)
# No value of an archive is larger; an expression must not build one that fills the memory.
MAX_VALUE_BYTES: Final = 256 << 20
STORED: Final = {"INTEGER": "integer", "TEXT": "text", "BLOB": "blob"}
OBJECTS: Final = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"
# Codes of I/O and concurrency errors; the archive may be intact.
ENVIRONMENT_ERRORS: Final = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_READONLY,
    }
)
PRIMARY_CODE: Final = 0xFF


def harden(connection: sqlite3.Connection) -> None:
    """Restrict what a schema can execute, and limit the size of values."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)


def check_schema(connection: sqlite3.Connection, *, writing: bool = False) -> None:
    """Refuse a database whose schema would execute expressions when it is read or, with `writing`, written."""
    own = own_objects()
    for kind, name, table, sql in connection.execute(OBJECTS).fetchall():
        if kind == "trigger":
            raise NotAnArchive(f"the archive has a trigger, {shorten_name(name)}, which Holdfast never creates")
        if name not in own:
            if kind == "index" and writing and table in own:
                check_index(connection, name, table)
            continue
        expected_kind, expected = own[name]
        is_virtual = sql.upper().startswith("CREATE VIRTUAL")
        text = " ".join(sql.split())
        exact = writing or kind == "view" or is_virtual or expected.upper().startswith("CREATE VIRTUAL")
        if kind != expected_kind or (exact and kind != "index" and text != expected):
            raise NotAnArchive(f"{name} in the archive is not the {expected_kind} that Holdfast creates")
        if kind == "table" and not is_virtual:
            check_columns(connection, name)


def check_old_schema(connection: sqlite3.Connection) -> None:
    """Refuse an archive of an older version whose schema would execute expressions when it is copied."""
    own = own_objects()
    for kind, name, _, sql in connection.execute(OBJECTS).fetchall():
        if kind == "trigger":
            raise NotAnArchive(f"the archive has a trigger, {shorten_name(name)}, which Holdfast never creates")
        if kind != "table":
            continue
        if sql.upper().startswith("CREATE VIRTUAL"):
            if own.get(name) != (kind, " ".join(sql.split())):
                raise NotAnArchive(f"{shorten_name(name)} in the archive is not a table that Holdfast creates")
        else:
            check_columns(connection, name)


def check_columns(connection: sqlite3.Connection, table: str) -> None:
    """Refuse a table with generated columns."""
    computed = connection.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden <> 0", (table,)).fetchone()
    if computed is not None:
        raise NotAnArchive(f"{table} in the archive has a generated column, which Holdfast never creates")


def check_index(connection: sqlite3.Connection, name: str, table: str) -> None:
    """Refuse a foreign index with an expression or a WHERE clause, which writing would evaluate."""
    (computed,) = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pragma_index_xinfo(?1) WHERE cid = -2) OR "
        "EXISTS (SELECT 1 FROM pragma_index_list(?2) WHERE name = ?1 AND partial)",
        (name, table),
    ).fetchone()
    if computed:
        raise NotAnArchive(
            f"the archive has an index with an expression, {shorten_name(name)}; drop it before writing"
        )


@lru_cache(maxsize=1)
def own_objects() -> dict[str, tuple[str, str]]:
    """Return the type and the normalised SQL of each table, view and index of a new archive."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(connection)
    objects = {name: (kind, " ".join(sql.split())) for kind, name, _, sql in connection.execute(OBJECTS)}
    connection.close()
    return objects


@lru_cache(maxsize=1)
def own_columns() -> dict[str, tuple[tuple[str, str, bool], ...]]:
    """Return the columns of each table of a new archive: name, storage class, whether NULL is allowed."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.create(connection)
    columns: dict[str, tuple[tuple[str, str, bool], ...]] = {}
    for name, (kind, sql) in own_objects().items():
        if kind == "table" and "STRICT" in sql.rpartition(")")[2]:
            rows = connection.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,))
            columns[name] = tuple(
                (column, STORED[stored], not (not_null or key))
                for column, stored, not_null, key in rows
                if stored in STORED
            )
    connection.close()
    return columns


def wrong_value(connection: sqlite3.Connection) -> str:
    """Return the first `table.column` with a value of a wrong type, or an empty string."""
    tables = {name for kind, name, _, _ in connection.execute(OBJECTS).fetchall() if kind == "table"}
    for table, columns in own_columns().items():
        if table not in tables:
            continue
        present = {name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))}
        checks = [
            f"""WHEN typeof("{name}") NOT IN ('{stored}'{", 'null'" if empty else ""}) THEN '{name}'"""
            for name, stored, empty in columns
            if name in present
        ]
        if not checks:
            continue
        case = f"CASE {' '.join(checks)} END"
        row = connection.execute(f'SELECT {case} FROM "{table}" WHERE {case} IS NOT NULL LIMIT 1').fetchone()
        if row is not None:
            return f"{table}.{row[0]}"
    return ""


def damage_error(connection: sqlite3.Connection, problem: BaseException) -> ArchiveError | None:
    """Return the error to raise if reading failed because of the content of an archive; None if it did not.

    SQLite's messages may quote content, so they are not repeated.
    """
    if not isinstance(problem, UNEXPECTED) or isinstance(problem, HoldfastError):
        return None
    if isinstance(problem, sqlite3.Error):
        code = getattr(problem, "sqlite_errorcode", None)
        if code is not None and code & PRIMARY_CODE in ENVIRONMENT_ERRORS:
            return None
        if code is None and not isinstance(problem, sqlite3.DataError | sqlite3.OperationalError):
            return None
        return ArchiveError("the archive is damaged")
    try:
        column = wrong_value(connection)
    except sqlite3.Error:
        return ArchiveError("the archive is damaged")
    return ArchiveError(f"the archive is damaged: {column} holds a value of a wrong type") if column else None


def check_types(record: StructT) -> StructT:
    """Return a struct built from rows; raise `ArchiveError` if a field has another type than declared."""
    for name, allowed in field_types(type(record)):
        if not isinstance(getattr(record, name), allowed):
            raise ArchiveError(
                f"the archive is damaged: a value of {type(record).__name__.lower()}.{name} has a wrong type"
            )
    for name in record.__struct_fields__:
        value = getattr(record, name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Struct):
                check_types(part)
    return record


@lru_cache(maxsize=32)
def field_types(kind: type[Struct]) -> tuple[tuple[str, tuple[type, ...]], ...]:
    """Return the fields of a struct that have plain types, with these types."""
    fields = []
    for name, hint in get_type_hints(kind).items():
        parts: tuple[Any, ...] = get_args(hint) if isinstance(hint, UnionType) else (hint,)
        if all(part in {int, str, bool, bytes, NoneType} for part in parts):
            fields.append((name, parts))
    return tuple(fields)


def shorten_name(name: str) -> str:
    """Shorten and escape an untrusted name."""
    return f"{name[:40]!a}"
