"""Pull requests: what the branches merge to, and scheduled merges."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def number(name: str) -> sa.Column[int]:
    """Make a column of whole numbers."""
    return sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)


def words(name: str, default: str | None = "") -> sa.Column[str]:
    """Make a column of text."""
    return sa.Column(name, sa.String(), server_default=default, nullable=False)


def flag(name: str) -> sa.Column[bool]:
    """Make a column of yes or no."""
    return sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False)


def to(table: str, name: str, *, optional: bool = False, primary: bool = False) -> sa.Column[int]:
    """Make a column that points to a row of another table."""
    reference = sa.ForeignKey(f"{table}.id", ondelete="SET NULL" if optional else "CASCADE")
    return sa.Column(name, NUMBER, reference, nullable=optional, primary_key=primary)


def partial_index(table: str, columns: list[str], condition: str) -> None:
    """Make an index of the rows that a condition holds for."""
    name, where = op.f(f"ix_{table}_{'_'.join(columns)}"), sa.text(condition)
    op.create_index(name, table, columns, sqlite_where=where, postgresql_where=where)


def upgrade() -> None:
    """Create the tables; existing pull requests are between branches of their own repository."""
    kind = "BIGINT" if op.get_bind().dialect.name == "postgresql" else "INTEGER"
    # SQLite adds a column with its foreign key in one statement only.
    op.execute(
        f"ALTER TABLE issues ADD COLUMN head_repository_id {kind} "
        "CONSTRAINT fk_issues_head_repository_id_repositories REFERENCES repositories (id) ON DELETE SET NULL"
    )
    op.create_table(
        "pull_requests",
        to("issues", "issue_id", primary=True),
        words("merge_base"),
        words("checked_head"),
        words("checked_base"),
        words("mergeability"),
        words("conflicting_files", "[]"),
        number("additions"),
        number("deletions"),
        number("changed_files"),
        to("users", "merged_by_id", optional=True),
        words("merge_commit_sha"),
        words("merge_style"),
        flag("allow_maintainer_edit"),
        words("head_label"),
    )
    op.create_index(op.f("ix_pull_requests_merged_by_id"), "pull_requests", ["merged_by_id"])
    partial_index("pull_requests", ["merge_commit_sha"], "merge_commit_sha <> ''")
    op.create_table(
        "scheduled_merges",
        to("issues", "issue_id", primary=True),
        to("users", "user_id"),
        words("style", None),
        words("title"),
        words("message"),
        flag("delete_branch"),
        words("head_sha"),
        number("created_at"),
    )
    op.create_index(op.f("ix_scheduled_merges_user_id"), "scheduled_merges", ["user_id"])
    op.execute("UPDATE issues SET head_repository_id = repository_id WHERE is_pull")
    # Before this revision `base_sha` was the merge base.
    op.execute("INSERT INTO pull_requests (issue_id, merge_base) SELECT id, base_sha FROM issues WHERE is_pull")
    partial_index("issues", ["head_repository_id"], "head_repository_id IS NOT NULL")
    partial_index("issues", ["head_repository_id", "head_branch"], "is_pull AND NOT is_closed")
    partial_index("issues", ["repository_id", "base_branch"], "is_pull AND NOT is_closed")
