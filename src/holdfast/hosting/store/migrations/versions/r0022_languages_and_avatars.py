"""Language statistics and avatars that are kept, and the teams of a transfer."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def words(name: str, default: str) -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def of(table: str, name: str) -> sa.Column[int]:
    """Make the key of a table with at most one row for a row of another, which it goes with."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=False, primary_key=True)


def upgrade() -> None:
    """Create the tables, and add the columns."""
    op.create_table(
        "repository_languages",
        of("repositories", "repository_id"),
        number("version"),
        words("tree", ""),
        words("counts", "{}"),
    )
    for table, column in (("users", "account_id"), ("repositories", "repository_id")):
        op.create_table(
            "account_avatars" if table == "users" else "repository_avatars",
            of(table, column),
            sa.Column("media_type", sa.String(), nullable=False),
            sa.Column("content", sa.LargeBinary(), nullable=False),
        )
    op.add_column("repositories", words("language", ""))
    op.add_column("repositories", words("avatar", ""))
    op.add_column("repository_transfers", words("team_ids", "[]"))
