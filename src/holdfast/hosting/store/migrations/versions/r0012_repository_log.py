"""The repository log: refs, their history and packs in the database."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
REF_NAME = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def to(table: str, name: str, *, optional: bool = False, primary: bool = False) -> sa.Column[int]:
    """Make a column that points to a row of another table."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="SET NULL" if optional else "CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=optional, primary_key=primary)


def upgrade() -> None:
    """Make the tables; the repositories in the data folder are adopted when the service starts."""
    op.add_column("repositories", number("version"))
    op.add_column("repositories", number("compaction"))
    op.drop_column("repositories", "measured_at")
    op.create_table(
        "refs",
        to("repositories", "repository_id", primary=True),
        sa.Column("name", REF_NAME, primary_key=True),
        sa.Column("target", sa.String(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ref_log",
        to("repositories", "repository_id", primary=True),
        sa.Column("version", sa.BigInteger(), primary_key=True),
        sa.Column("ref", REF_NAME, primary_key=True),
        sa.Column("old", sa.String(), nullable=False),
        sa.Column("new", sa.String(), nullable=False),
        to("users", "actor_id", optional=True),
        number("created_at"),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_ref_log_repository_id_ref"), "ref_log", ["repository_id", "ref"])
    op.create_table(
        "packs",
        sa.Column("id", NUMBER, sa.Identity(always=True), primary_key=True),
        to("repositories", "repository_id"),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        number("size"),
        number("object_count"),
        number("created_at"),
        number("superseded_at"),
        sa.Column("store_key", sa.String(), server_default="", nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
    )
    op.create_index(op.f("ix_packs_repository_id_version"), "packs", ["repository_id", "version"])
    large = sa.text("store_key <> ''")
    op.create_index(op.f("ix_packs_store_key"), "packs", ["store_key"], sqlite_where=large, postgresql_where=large)
    # Repositories from before are in the data folder only, until they are adopted.
    op.execute("UPDATE repositories SET version = -1")
    # Constraints of PostgreSQL keep their names when a table is renamed, so the rows wait elsewhere.
    op.execute(
        "CREATE TEMPORARY TABLE kept_keys AS "
        "SELECT k.repository_id, k.user_id, k.key, k.fingerprint, u.ref, u.new AS commit_id, k.created_at "
        "FROM commit_keys k JOIN ref_updates u ON u.id = k.update_id"
    )
    op.drop_table("commit_keys")
    op.create_table(
        "commit_keys",
        to("repositories", "repository_id", primary=True),
        to("users", "user_id", primary=True),
        sa.Column("key", sa.String(), primary_key=True),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("ref", sa.String(), nullable=False),
        sa.Column("commit_id", sa.String(), nullable=False),
        number("created_at"),
    )
    op.create_index(op.f("ix_commit_keys_user_id"), "commit_keys", ["user_id"])
    op.create_index(op.f("ix_commit_keys_created_at"), "commit_keys", ["created_at"])
    op.execute(
        "INSERT INTO commit_keys (repository_id, user_id, key, fingerprint, ref, commit_id, created_at) "
        "SELECT repository_id, user_id, key, fingerprint, ref, commit_id, created_at FROM kept_keys"
    )
    op.execute("DROP TABLE kept_keys")
    # What is left was pending when a process was killed; adoption looks at the refs and records it, or forgets it.
    op.execute("DELETE FROM ref_updates WHERE is_done")
