"""Moves of refs that are recorded need no announcement any more, and what every commit writes fewer indexes."""

from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Remove what commits no longer leave behind."""
    op.execute("DELETE FROM ref_updates WHERE is_done AND id NOT IN (SELECT update_id FROM commit_keys)")
    for columns in ("actor_id", "is_done_created_at", "repository_id"):
        op.drop_index(f"ix_ref_updates_{columns}", table_name="ref_updates")
    for columns in ("actor_id", "owner_id"):
        op.drop_index(f"ix_events_{columns}", table_name="events")
