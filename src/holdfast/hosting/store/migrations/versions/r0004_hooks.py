"""Webhooks, and what they are to be told."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def words(name: str, default: str | None = None) -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def upgrade() -> None:
    """Add the tables, and the place where an event keeps what is sent of it."""
    op.add_column("events", words("payload", ""))
    op.create_table(
        "hooks",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        words("scope"),
        sa.Column("repository_id", ID, nullable=True),
        sa.Column("owner_id", ID, nullable=True),
        words("type"),
        words("name", ""),
        words("url"),
        words("content_type"),
        words("secret", ""),
        words("authorization", ""),
        words("meta", "{}"),
        words("events"),
        words("branch_filter", ""),
        sa.Column("is_active", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        number("paused_at"),
        words("pause_reason", ""),
        words("holder", ""),
        number("held_until"),
        number("created_at"),
        number("updated_at"),
        sa.ForeignKeyConstraint(
            ["repository_id"], ["repositories.id"], name="fk_hooks_repository_id_repositories", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_hooks_owner_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_hooks"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_hooks_repository_id", "hooks", ["repository_id"], unique=False)
    op.create_index("ix_hooks_owner_id", "hooks", ["owner_id"], unique=False)
    op.create_index("ix_hooks_scope", "hooks", ["scope"], unique=False)
    op.create_table(
        "deliveries",
        sa.Column("id", ID, sa.Identity(always=True), nullable=False),
        words("uuid"),
        sa.Column("hook_id", ID, nullable=False),
        sa.Column("event_id", ID, nullable=False),
        words("kind"),
        words("state"),
        sa.Column("again_of", ID, nullable=True),
        number("tries"),
        number("due_at"),
        number("created_at"),
        number("ended_at"),
        words("method", ""),
        words("url", ""),
        words("headers", "{}"),
        words("body", ""),
        number("status"),
        words("answer_headers", "{}"),
        sa.Column("answer", sa.LargeBinary(), server_default=sa.text("''"), nullable=False),
        words("error", ""),
        number("milliseconds"),
        sa.ForeignKeyConstraint(["hook_id"], ["hooks.id"], name="fk_deliveries_hook_id_hooks", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["event_id"], ["events.id"], name="fk_deliveries_event_id_events", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["again_of"], ["deliveries.id"], name="fk_deliveries_again_of_deliveries", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        sa.UniqueConstraint("uuid", name="uq_deliveries_uuid"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_deliveries_event_id", "deliveries", ["event_id"], unique=False)
    op.create_index("ix_deliveries_again_of", "deliveries", ["again_of"], unique=False)
    op.create_index("ix_deliveries_hook_id_state_id", "deliveries", ["hook_id", "state", "id"], unique=False)
    op.create_index(
        "ix_deliveries_waiting",
        "deliveries",
        ["hook_id", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'waiting'"),
        postgresql_where=sa.text("state = 'waiting'"),
    )
    op.create_index("ix_deliveries_created_at", "deliveries", ["created_at"], unique=False)
