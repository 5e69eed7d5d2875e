"""Two-factor authentication."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def user(table: str) -> sa.Column[int]:
    """Make the column of the user a row belongs to, which it is deleted with."""
    name = f"fk_{table}_user_id_users"
    reference = sa.ForeignKey("users.id", name=name, ondelete="CASCADE")
    return sa.Column("user_id", NUMBER, reference, nullable=False)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "two_factor",
        user("two_factor"),
        sa.Column("secret", sa.String(), nullable=False),
        number("created_at"),
        number("confirmed_at"),
        number("last_step"),
        sa.PrimaryKeyConstraint("user_id", name="pk_two_factor"),
    )
    op.create_table(
        "recovery_codes",
        user("recovery_codes"),
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "code_hash", name="pk_recovery_codes"),
    )
