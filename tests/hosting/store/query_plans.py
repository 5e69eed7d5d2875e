"""Helpers that record queries and check their plans on both databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event, text

from holdfast.hosting.store.database import Database

__all__ = ["is_by_index", "plan_of", "recorded"]


@contextmanager
def recorded(database: Database, containing: str) -> Iterator[list[tuple[str, Any]]]:
    """Record the queries that are run and contain a text, with their parameters."""
    results: list[tuple[str, Any]] = []

    def note(_connection: object, _cursor: object, statement: str, parameters: Any, *_rest: object) -> None:
        if containing in statement:
            results.append((statement, parameters))

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield results
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def plan_of(database: Database, statement: str, parameters: Any) -> str:
    """Return the plan of a query; PostgreSQL is set to use indexes also in a small table."""
    with database.read() as connection:
        if database.is_sqlite:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            return "\n".join(str(row[3]) for row in rows)
        for setting in ("enable_seqscan", "enable_bitmapscan", "enable_sort"):
            connection.execute(text(f"SET LOCAL {setting} = off"))
        return "\n".join(str(row[0]) for row in connection.exec_driver_sql(f"EXPLAIN {statement}", parameters))


def is_by_index(database: Database, plan: str, table: str = "issues") -> bool:
    """Return whether a plan neither reads a whole table nor sorts it."""
    if database.is_sqlite:
        lines = plan.splitlines()
        return "TEMP B-TREE" not in plan and not any(
            line.startswith(f"SCAN {table}") and "INDEX" not in line for line in lines
        )
    return f"Seq Scan on {table}" not in plan and "Sort" not in plan
