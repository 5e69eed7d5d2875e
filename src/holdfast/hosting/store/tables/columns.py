"""The metadata of all tables, and functions for their columns."""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Identity,
    Integer,
    MetaData,
    String,
    text,
)

__all__ = ["Id", "flag", "key", "metadata", "number", "only", "to", "words"]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite assigns ids only to columns of type INTEGER; PostgreSQL needs 64 bits.
Id = BigInteger().with_variant(Integer(), "sqlite")


def key() -> Column[int]:
    """Return the primary key column."""
    return Column("id", Id, Identity(always=True), primary_key=True)


def to(
    table: str, name: str, *, optional: bool = False, index: bool = False, primary: bool = False
) -> Column[int]:
    """Return a foreign key column with ON DELETE CASCADE, or SET NULL if optional."""
    reference = ForeignKey(f"{table}.id", ondelete="SET NULL" if optional else "CASCADE")
    return Column(name, Id, reference, nullable=optional, index=index, primary_key=primary)


def words(name: str, default: str | None = None) -> Column[str]:
    """Return a NOT NULL text column."""
    return Column(name, String, nullable=False, server_default=default)


def flag(name: str, *, default: bool = False) -> Column[bool]:
    """Return a boolean column."""
    return Column(name, Boolean, nullable=False, server_default=text("true" if default else "false"))


def number(name: str, **options: Any) -> Column[int]:
    """Return an integer column with default 0, which for a time means never."""
    return Column(name, BigInteger, nullable=False, server_default=text("0"), **options)


def only(condition: str) -> dict[str, Any]:
    """Return the options of a partial index with a condition."""
    return {"sqlite_where": text(condition), "postgresql_where": text(condition)}
