"""Indexes for the orders of lists of issues, comments and notifications, counters of closed issues, and search."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"

OTHER_ORDERS = ("closed_at", "comment_count", "due_at")
ORDERED = ("created_at", "updated_at", *OTHER_ORDERS)
INDEXES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("issues", ("repository_id", "is_closed", "created_at", "id", "is_pull")),
    ("issues", ("repository_id", "created_at", "id", "is_pull")),
    ("issues", ("repository_id", "is_closed", "updated_at", "id", "is_pull")),
    ("issues", ("repository_id", "updated_at", "id", "is_pull")),
    *(("issues", ("repository_id", name, "id", "is_closed", "is_pull")) for name in OTHER_ORDERS),
    *(("issues", (name, "id", "repository_id", "is_closed", "is_pull")) for name in ORDERED),
    ("issues", ("milestone_id", "is_closed")),
    ("notifications", ("user_id", "repository_id")),
    ("notifications", ("user_id", "updated_at", "id", "status", "repository_id")),
    ("labels", ("name",)),
    ("milestones", ("title",)),
)
PARTIAL: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("comments", ("repository_id", "created_at", "id", "updated_at"), "repository_id > 0"),
    ("notifications", ("user_id", "updated_at", "id", "repository_id", "status"), "status <> 'read'"),
)
# The index has no copy of the text: it is read from the table, and told of by triggers what is removed.
SQLITE_SEARCH = (
    (
        "CREATE VIRTUAL TABLE {name} USING fts5({columns}, content='{table}', content_rowid='id',"
        " tokenize='unicode61 remove_diacritics 0')"
    ),
    (
        "CREATE TRIGGER {name}_insert AFTER INSERT ON {table} BEGIN"
        " INSERT INTO {name} (rowid, {columns}) VALUES (new.id, {new}); END"
    ),
    (
        "CREATE TRIGGER {name}_delete AFTER DELETE ON {table} BEGIN"
        " INSERT INTO {name} ({name}, rowid, {columns}) VALUES ('delete', old.id, {old}); END"
    ),
    (
        "CREATE TRIGGER {name}_update AFTER UPDATE OF {columns} ON {table} BEGIN"
        " INSERT INTO {name} ({name}, rowid, {columns}) VALUES ('delete', old.id, {old});"
        " INSERT INTO {name} (rowid, {columns}) VALUES (new.id, {new}); END"
    ),
    "INSERT INTO {name} ({name}) VALUES ('rebuild')",
)
SEARCHED = {
    "issue_search": ("issues", ("repository_id", "title", "body")),
    "comment_search": ("comments", ("body",)),
}
# The limit is there because a vector cannot be larger than a megabyte.
POSTGRES_SEARCH = (
    (
        "CREATE INDEX ix_issues_search ON issues USING gin (to_tsvector('simple', "
        "'repository' || repository_id::text "
        "|| ' ' || regexp_replace(left(title || ' ' || body, 100000), '[^[:alnum:]]+', ' ', 'g')))"
    ),
    (
        "CREATE INDEX ix_comments_search ON comments USING gin (to_tsvector('simple', "
        "regexp_replace(left(body, 100000), '[^[:alnum:]]+', ' ', 'g')))"
    ),
)


def upgrade() -> None:
    """Add the columns and create the indexes."""
    for name in ("closed_issues", "closed_pulls"):
        op.add_column(
            "repositories", sa.Column(name, sa.BigInteger(), server_default=sa.text("0"), nullable=False)
        )
    counted = "SELECT count(*) FROM issues WHERE repository_id = repositories.id AND is_closed"
    op.execute(
        f"UPDATE repositories SET closed_issues = ({counted} AND NOT is_pull),"  # noqa: S608  # our own text
        f" closed_pulls = ({counted} AND is_pull)"
    )
    op.add_column(
        "comments", sa.Column("repository_id", sa.BigInteger(), server_default=sa.text("0"), nullable=False)
    )
    op.execute(
        "UPDATE comments SET repository_id ="
        " (SELECT repository_id FROM issues WHERE issues.id = comments.issue_id) WHERE kind = 'comment'"
    )
    op.drop_index("ix_notifications_user_id_status_updated_at", "notifications")
    op.drop_index("ix_issues_repository_id_is_pull_is_closed_created_at", "issues")
    op.drop_index("ix_issues_updated_at", "issues")
    op.drop_index("ix_issues_milestone_id", "issues")
    for table, columns in INDEXES:
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))
    for table, columns, condition in PARTIAL:
        name, where = op.f(f"ix_{table}_{'_'.join(columns)}"), sa.text(condition)
        op.create_index(name, table, list(columns), sqlite_where=where, postgresql_where=where)
    if op.get_bind().dialect.name == "postgresql":
        for statement in POSTGRES_SEARCH:
            op.execute(statement)
        return
    for name, (table, columns) in SEARCHED.items():
        words = {
            "name": name,
            "table": table,
            "columns": ", ".join(columns),
            "new": ", ".join(f"new.{column}" for column in columns),
            "old": ", ".join(f"old.{column}" for column in columns),
        }
        for statement in SQLITE_SEARCH:
            op.execute(statement.format(**words))
