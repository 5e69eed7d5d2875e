"""Passkeys."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def user(table: str, *, nullable: bool) -> sa.Column[int]:
    """Make the column of the user a row belongs to, which it is deleted with."""
    name = f"fk_{table}_user_id_users"
    reference = sa.ForeignKey("users.id", name=name, ondelete="CASCADE")
    return sa.Column("user_id", NUMBER, reference, nullable=nullable)


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "passkeys",
        sa.Column("id", NUMBER, sa.Identity(always=True), nullable=False),
        user("passkeys", nullable=False),
        sa.Column("credential_id", sa.String(), nullable=False),
        sa.Column("public_key", sa.String(), nullable=False),
        sa.Column("user_handle", sa.String(), nullable=False),
        number("sign_count"),
        sa.Column("name", sa.String(), nullable=False),
        number("created_at"),
        number("last_used_at"),
        sa.PrimaryKeyConstraint("id", name="pk_passkeys"),
        sa.UniqueConstraint("credential_id", name="uq_passkeys_credential_id"),
    )
    op.create_index("ix_passkeys_user_id", "passkeys", ["user_id"])
    op.create_table(
        "passkey_challenges",
        sa.Column("challenge", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        user("passkey_challenges", nullable=True),
        sa.Column("user_handle", sa.String(), server_default="", nullable=False),
        number("expires_at"),
        sa.PrimaryKeyConstraint("challenge", name="pk_passkey_challenges"),
    )
    op.create_index("ix_passkey_challenges_user_id", "passkey_challenges", ["user_id"])
    op.create_index("ix_passkey_challenges_expires_at", "passkey_challenges", ["expires_at"])
