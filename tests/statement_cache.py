"""A cache of compiled SQL statements, shared by all databases of a test run."""

from typing import Any

from sqlalchemy.engine import Dialect

__all__ = ["StatementCache"]


class StatementCache(dict[Any, Any]):
    """A value for SQLAlchemy's execution option `compiled_cache`.

    SQLAlchemy's keys name the dialect object of an engine. Engines of one kind have equal dialects here, so the
    dialect's name stands for it.
    """

    def get(self, key: Any, default: Any = None) -> Any:
        """Return a compiled statement, or the default."""
        return super().get(with_dialect_name(key), default)

    def __getitem__(self, key: Any) -> Any:
        return super().__getitem__(with_dialect_name(key))

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(with_dialect_name(key), value)

    def __contains__(self, key: Any) -> bool:
        return super().__contains__(with_dialect_name(key))


def with_dialect_name(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace the dialect object in a key with its name."""
    return tuple(part.name if isinstance(part, Dialect) else part for part in key)
