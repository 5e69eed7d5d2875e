"""Mirrors of repositories, and migrations in progress."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def words(name: str, default: str | None = None) -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def repository(*, primary: bool) -> sa.Column[int]:
    """Make a column that points to a repository."""
    key = sa.ForeignKey("repositories.id", ondelete="CASCADE")
    return sa.Column("repository_id", NUMBER, key, primary_key=primary, nullable=False)


def upgrade() -> None:
    """Create the tables."""
    op.add_column("repositories", number("mirrored_at"))
    for name in ("issues", "comments"):
        op.add_column(name, words("original_author", ""))
    op.create_table(
        "migrations",
        repository(primary=True),
        sa.Column("actor_id", NUMBER, sa.ForeignKey("users.id", ondelete="SET NULL"), nullable=True),
        words("status"),
        words("phase", ""),
        number("done"),
        number("total"),
        number("started_at"),
        number("updated_at"),
    )
    op.create_index(op.f("ix_migrations_actor_id"), "migrations", ["actor_id"])
    op.create_table(
        "mirrors",
        repository(primary=True),
        words("remote_address"),
        words("username", ""),
        words("secret", ""),
        number("interval"),
        sa.Column("next_sync_at", NUMBER, nullable=True),
        words("last_error", ""),
        number("created_at"),
    )
    op.create_index(op.f("ix_mirrors_next_sync_at"), "mirrors", ["next_sync_at"])
    op.create_table(
        "push_mirrors",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        repository(primary=False),
        words("name"),
        words("remote_address"),
        words("username", ""),
        words("secret", ""),
        number("interval"),
        sa.Column("sync_on_commit", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("next_sync_at", NUMBER, nullable=True),
        number("claimed_until"),
        number("pushed_version"),
        words("last_error", ""),
        number("last_update"),
        number("created_at"),
        sa.UniqueConstraint("repository_id", "name", name="uq_push_mirrors_repository_id_name"),
        sqlite_autoincrement=True,
    )
    op.create_index(op.f("ix_push_mirrors_next_sync_at"), "push_mirrors", ["next_sync_at"])
    op.create_index(
        op.f("ix_push_mirrors_sync_on_commit_repository_id"), "push_mirrors", ["sync_on_commit", "repository_id"]
    )
