"""Indexes for lists of issues by author, and of pull requests by branch."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"

BRANCHES = ("head_branch", "base_branch")
AUTHOR = ("author_id", "repository_id", "created_at", "id", "is_closed", "is_pull")


def upgrade() -> None:
    """Create the indexes; the one by author replaces that of the foreign key."""
    op.create_index(op.f(f"ix_issues_{'_'.join(AUTHOR)}"), "issues", list(AUTHOR))
    op.drop_index(op.f("ix_issues_author_id"), "issues")
    where = sa.text("is_pull")
    for name in BRANCHES:
        columns = ("repository_id", name, "is_closed", "created_at", "id")
        op.create_index(
            op.f(f"ix_issues_{'_'.join(columns)}"),
            "issues",
            list(columns),
            sqlite_where=where,
            postgresql_where=where,
        )
