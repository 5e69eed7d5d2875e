"""Checks that the encryption key decrypts the stored secrets."""

from collections.abc import Iterator

from sqlalchemy import or_, select

from holdfast.hosting.app import App
from holdfast.hosting.doctor.findings import Finding, FindingKind
from holdfast.hosting.errors import SealBroken, SealError
from holdfast.hosting.store.encryption import KEY_FILE
from holdfast.hosting.store.tables import hooks

__all__ = ["sealed"]


def sealed(app: App) -> Iterator[Finding]:
    """Decrypt every webhook secret; without any key, report that once."""
    statement = select(hooks.c.id, hooks.c.secret, hooks.c.authorization).where(
        or_(hooks.c.secret != "", hooks.c.authorization != "")
    )
    with app.database.read() as connection:
        rows = connection.execute(statement.order_by(hooks.c.id)).all()
    for row in rows:
        try:
            app.sealer.open(row.secret)
            app.sealer.open(row.authorization)
        except SealBroken as error:
            yield Finding(FindingKind.SEAL, f"webhook {row.id}", str(error))
        except SealError as error:
            yield Finding(FindingKind.KEY, str(app.settings.data / KEY_FILE), str(error))
            return
