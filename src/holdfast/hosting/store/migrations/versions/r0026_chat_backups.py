"""Chat backups that users upload, their files and parts, and whom they are shared with."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def key() -> sa.Column[int]:
    """Make the primary key."""
    return sa.Column("id", NUMBER, sa.Identity(always=True), nullable=False, primary_key=True)


def of(table: str, name: str, *, primary: bool = False) -> sa.Column[int]:
    """Make a column of rows of another table, which these go with."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=False, primary_key=primary)


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def words(name: str, default: str | None = None) -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "chat_backups",
        key(),
        words("uuid"),
        of("users", "owner_id"),
        words("name"),
        words("state"),
        words("kind", ""),
        sa.Column("is_folder", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        words("fingerprint"),
        number("created_at"),
        number("updated_at"),
        sa.UniqueConstraint("uuid", name=op.f("uq_chat_backups_uuid")),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_chat_backups_owner_id_id"), "chat_backups", ["owner_id", "id"])
    op.create_index(op.f("ix_chat_backups_state_updated_at"), "chat_backups", ["state", "updated_at"])
    op.create_table(
        "chat_backup_files",
        key(),
        of("chat_backups", "backup_id"),
        number("position"),
        words("path"),
        sa.Column("size", sa.BigInteger(), nullable=False),
        number("received"),
        sa.UniqueConstraint("backup_id", "position", name=op.f("uq_chat_backup_files_backup_id_position")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "chat_backup_parts",
        of("chat_backup_files", "file_id", primary=True),
        sa.Column("start", sa.BigInteger(), nullable=False, primary_key=True, autoincrement=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        words("uuid"),
        sa.UniqueConstraint("uuid", name=op.f("uq_chat_backup_parts_uuid")),
    )
    op.create_table(
        "chat_backup_shares",
        of("chat_backups", "backup_id", primary=True),
        of("users", "user_id", primary=True),
        number("created_at"),
    )
    op.create_index(op.f("ix_chat_backup_shares_user_id"), "chat_backup_shares", ["user_id"])
