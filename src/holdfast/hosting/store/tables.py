"""The tables, as SQLAlchemy Core describes them; `migrations/` is what makes and changes them.

Times are whole seconds since 1970 in UTC, which both databases compare and sort alike.
"""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Identity, Index, Integer, MetaData, String, Table

__all__ = ["metadata", "sessions", "users"]

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite fills only a column of type INTEGER by itself; PostgreSQL wants 64 bits.
Id = BigInteger().with_variant(Integer(), "sqlite")

users = Table(
    "users",
    metadata,
    Column("id", Id, Identity(always=True), primary_key=True),
    Column("name", String, nullable=False),
    Column("folded_name", String, nullable=False, unique=True),
    Column("full_name", String, nullable=False),
    Column("password_hash", String, nullable=False),
    Column("is_admin", Boolean, nullable=False),
    Column("created_at", BigInteger, nullable=False),
)

sessions = Table(
    "sessions",
    metadata,
    Column("token_hash", String, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index(None, "expires_at"),
)
