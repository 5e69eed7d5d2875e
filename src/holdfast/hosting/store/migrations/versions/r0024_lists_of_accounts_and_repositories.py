"""Indexes for the orders of lists of accounts, repositories, labels and webhook deliveries."""

from alembic import op

revision = "0024"
down_revision = "0023"

DROPPED = ("repositories_updated_at", "labels_repository_id", "labels_organization_id")
INDEXES = (
    ("users", ("is_organization", "folded_name")),
    ("users", ("is_admin",)),
    *(
        ("repositories", (column, "id"))
        for column in ("folded_name", "created_at", "updated_at", "pushed_at", "size")
    ),
    *((table, ("repository_id", "created_at", "user_id")) for table in ("stars", "watches")),
    *(("labels", (column, "name", "id")) for column in ("repository_id", "organization_id")),
    ("deliveries", ("hook_id", "id")),
)


def upgrade() -> None:
    """Create the indexes, and drop those that they replace."""
    for name in DROPPED:
        op.drop_index(f"ix_{name}", name.partition("_")[0])
    for table, columns in INDEXES:
        op.create_index(op.f(f"ix_{table}_{'_'.join(columns)}"), table, list(columns))
