"""Indexes for lists of issues by label and by assignee, with the columns of issues that the first one needs."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

COPIED = ("repository_id", "is_pull", "is_closed", "created_at")
BY_LABEL = ("label_id", "repository_id", "created_at", "issue_id", "is_closed", "is_pull")


def upgrade() -> None:
    """Add and fill the columns, and create the indexes; they replace those of the foreign keys."""
    for name in COPIED:
        is_flag = name.startswith("is_")
        kind = sa.Boolean() if is_flag else sa.BigInteger()
        default = sa.text("false" if is_flag else "0")
        op.add_column("issue_labels", sa.Column(name, kind, server_default=default, nullable=False))
    copied = ", ".join(f"{name} = issues.{name}" for name in COPIED)
    op.execute(f"UPDATE issue_labels SET {copied} FROM issues WHERE issues.id = issue_labels.issue_id")  # noqa: S608  # our own text
    op.create_index(op.f("ix_issue_labels_label_id_repository_id_created_at"), "issue_labels", list(BY_LABEL))
    op.drop_index(op.f("ix_issue_labels_label_id"), "issue_labels")
    op.create_index(op.f("ix_issue_assignees_user_id_issue_id"), "issue_assignees", ["user_id", "issue_id"])
    op.drop_index(op.f("ix_issue_assignees_user_id"), "issue_assignees")
