"""Which issues wait for which others."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "issue_dependencies",
        sa.Column("issue_id", ID, nullable=False),
        sa.Column("blocker_id", ID, nullable=False),
        sa.Column("actor_id", ID, nullable=True),
        sa.Column("created_at", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["issue_id"], ["issues.id"], name="fk_issue_dependencies_issue_id_issues", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["blocker_id"], ["issues.id"], name="fk_issue_dependencies_blocker_id_issues", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["actor_id"], ["users.id"], name="fk_issue_dependencies_actor_id_users", ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("issue_id", "blocker_id", name="pk_issue_dependencies"),
    )
    op.create_index("ix_issue_dependencies_blocker_id", "issue_dependencies", ["blocker_id"], unique=False)
    op.create_index("ix_issue_dependencies_actor_id", "issue_dependencies", ["actor_id"], unique=False)
