"""Stars and watches of repositories, and how many of each a repository has."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def to(table: str, name: str) -> sa.Column[int]:
    """Make a column of the primary key that points to a row of another table."""
    return sa.Column(name, NUMBER, sa.ForeignKey(f"{table}.id", ondelete="CASCADE"), primary_key=True)


def upgrade() -> None:
    """Create the tables."""
    op.add_column("repositories", number("star_count"))
    op.add_column("repositories", number("watch_count"))
    for name in ("stars", "watches"):
        op.create_table(name, to("repositories", "repository_id"), to("users", "user_id"), number("created_at"))
        op.create_index(op.f(f"ix_{name}_user_id"), name, ["user_id"])
