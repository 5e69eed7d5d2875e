"""Commits through the API: which announcements were made under the repository's lock, and which keys were used."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the flag and the table."""
    op.add_column(
        "ref_updates", sa.Column("under_lock", sa.Boolean(), server_default=sa.text("false"), nullable=False)
    )
    op.create_table(
        "commit_keys",
        sa.Column("repository_id", ID, nullable=False),
        sa.Column("user_id", ID, nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("update_id", ID, nullable=False),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["repository_id"],
            ["repositories.id"],
            name="fk_commit_keys_repository_id_repositories",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_commit_keys_user_id_users", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["update_id"], ["ref_updates.id"], name="fk_commit_keys_update_id_ref_updates", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("repository_id", "user_id", "key", name="pk_commit_keys"),
    )
    op.create_index("ix_commit_keys_user_id", "commit_keys", ["user_id"], unique=False)
    op.create_index("ix_commit_keys_update_id", "commit_keys", ["update_id"], unique=False)
    op.create_index("ix_commit_keys_created_at", "commit_keys", ["created_at"], unique=False)
