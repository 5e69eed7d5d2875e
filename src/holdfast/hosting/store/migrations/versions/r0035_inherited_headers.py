"""Which webhooks have the Authorization header of a default webhook."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    """Add the column; a copy has the ciphertext of its original, and that of the copies in other repositories."""
    flag: sa.Column[bool] = sa.Column(
        "inherits_header", sa.Boolean(), server_default=sa.text("false"), nullable=False
    )
    op.add_column("hooks", flag)
    op.execute(
        "UPDATE hooks SET inherits_header = true WHERE scope = 'repository' AND \"authorization\" <> '' "
        'AND "authorization" IN (SELECT "authorization" FROM hooks GROUP BY "authorization" HAVING count(*) > 1)'
    )
