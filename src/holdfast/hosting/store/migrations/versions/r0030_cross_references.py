"""Cross-references: timeline entries that name the issue and the comment whose text mentions an issue."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"

COLUMNS = {"source_issue_id": "issues", "source_comment_id": "comments"}
INDEXES = (
    (("issue_id", "source_issue_id"), "source_issue_id IS NOT NULL"),
    (("source_issue_id", "source_comment_id"), "source_issue_id IS NOT NULL"),
    (("source_comment_id",), "source_comment_id IS NOT NULL"),
)


def upgrade() -> None:
    """Add the columns; what was written before has no entries."""
    kind = "BIGINT" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    for name, table in COLUMNS.items():
        # SQLite adds a column with its foreign key in one statement only.
        op.execute(
            f"ALTER TABLE comments ADD COLUMN {name} {kind} "
            f"CONSTRAINT fk_comments_{name}_{table} REFERENCES {table} (id) ON DELETE CASCADE"
        )
    for columns, condition in INDEXES:
        name, where = op.f(f"ix_comments_{'_'.join(columns)}"), sa.text(condition)
        op.create_index(name, "comments", list(columns), sqlite_where=where, postgresql_where=where)
