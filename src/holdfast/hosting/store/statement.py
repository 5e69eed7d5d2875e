"""Statements of hot paths: compiled once, run on the bare driver.

SQLAlchemy costs several times what the query itself costs when it compiles and wraps each run. What every request
needs (who is asking, which repository, what they may do there) is therefore written in SQLAlchemy Core like
everything else, but turned into text once.
"""

from typing import Any, Final

from sqlalchemy import Boolean, CompoundSelect, Dialect, Select
from sqlalchemy.dialects import postgresql, sqlite

__all__ = ["Statement"]

Bind = str | int | bool | None
DIALECTS: Final[dict[str, Dialect]] = {
    "sqlite": sqlite.dialect(paramstyle="named"),
    "postgresql": postgresql.dialect(paramstyle="pyformat"),  # type: ignore[no-untyped-call]
}


class Statement:
    """A SELECT whose parameters are all named with `bindparam`."""

    def __init__(self, select: Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]]) -> None:
        self._texts: dict[str, str] = {}
        self._constants: dict[str, dict[str, Bind]] = {}
        for name, dialect in DIALECTS.items():
            compiled = select.compile(dialect=dialect)
            self._texts[name] = str(compiled)
            self._constants[name] = {key: value for key, value in compiled.params.items() if value is not None}
        # SQLite has no type for true and false: its driver gives 1 and 0.
        self._flags = [
            index for index, column in enumerate(select.selected_columns) if isinstance(column.type, Boolean)
        ]

    def text(self, dialect: str) -> str:
        """Return the SQL for one kind of database."""
        return self._texts[dialect]

    def binds(self, dialect: str, given: dict[str, Bind]) -> dict[str, Bind]:
        """Return the values to run it with: those given, and the constants that stand in the statement."""
        constants = self._constants[dialect]
        return {**constants, **given} if constants else given

    def typed(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        """Give a row of SQLite's the types its columns were declared with."""
        if not self._flags:
            return row
        values = list(row)
        for index in self._flags:
            values[index] = bool(values[index])
        return tuple(values)
