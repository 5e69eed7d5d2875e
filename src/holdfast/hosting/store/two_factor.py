"""Secrets and recovery codes of two-factor authentication; a code is consumed by one atomic statement.

A user has a second factor with a confirmed secret or with a passkey; the recovery codes are valid for both.
"""

import hashlib
import time
from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, literal, select, union_all, update

from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.database import Database, upsert
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import passkeys, recovery_codes, two_factor
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = [
    "TwoFactorSecret",
    "confirm",
    "count_codes",
    "find",
    "has_any",
    "is_enabled",
    "keep_codes_of_factors",
    "remove",
    "remove_secret",
    "replace_codes",
    "set_codes",
    "start",
    "use_code",
    "use_step",
]


@redacted
class TwoFactorSecret(msgspec.Struct, frozen=True):
    """The secret of a user, encrypted; the fields are columns of the table, in this order."""

    secret: str
    confirmed_at: int
    last_step: int


BY_USER = Statement(
    select(*(two_factor.c[name] for name in TwoFactorSecret.__struct_fields__)).where(
        two_factor.c.user_id == bindparam("user")
    )
)

# By the primary key of two_factor, and by ix_passkeys_user_id.
ANY_FACTOR = union_all(
    select(literal(1)).where(two_factor.c.user_id == bindparam("user"), two_factor.c.confirmed_at > 0),
    select(literal(1)).where(passkeys.c.user_id == bindparam("user")),
).limit(1)
ENABLED = Statement(ANY_FACTOR)


def find(database: Database, user: Account) -> TwoFactorSecret | None:
    """Return the secret of a user, confirmed or not; None if there is none."""
    row = database.row(BY_USER, user=user.id)
    return None if row is None else TwoFactorSecret(*row)


def is_enabled(database: Database, user: Account) -> bool:
    """Return whether a user logs in with a second factor."""
    return database.row(ENABLED, user=user.id) is not None


def has_any(connection: Connection, user: Account) -> bool:
    """Return whether a user has a second factor, within a transaction."""
    return connection.execute(ANY_FACTOR, {"user": user.id}).first() is not None


def start(database: Database, user: Account, secret: str, *, now: int | None = None) -> bool:
    """Store a secret to be confirmed, replacing an unconfirmed one; return False if one is confirmed already."""
    values = {"secret": secret, "created_at": int(time.time()) if now is None else now, "last_step": 0}
    statement = upsert(database, two_factor).on_conflict_do_update(
        index_elements=["user_id"], set_=values, where=two_factor.c.confirmed_at == 0
    )
    with database.write() as connection:
        row = {"user_id": user.id, "confirmed_at": 0, **values}
        return connection.execute(statement.returning(two_factor.c.user_id), row).first() is not None


def confirm(
    database: Database,
    user: Account,
    secret: str,
    step: int,
    codes: Sequence[Secret],
    *,
    now: int | None = None,
) -> bool:
    """Enable a pending secret, after a correct code of this time step.

    The recovery codes replace all others; without any, the user's existing ones are kept. Returns False if the
    secret is not the pending one any more.
    """
    moment = int(time.time()) if now is None else now
    pending = (two_factor.c.user_id == user.id, two_factor.c.secret == secret, two_factor.c.confirmed_at == 0)
    with database.write() as connection:
        changed = connection.execute(
            update(two_factor).where(*pending).values(confirmed_at=moment, last_step=step)
        )
        if not changed.rowcount:
            return False
        if codes:
            set_codes(connection, user, codes)
    return True


def use_step(database: Database, user: Account, step: int) -> bool:
    """Consume the code of a time step; return False if it, or a later one, was used before."""
    unused = (two_factor.c.user_id == user.id, two_factor.c.confirmed_at > 0, two_factor.c.last_step < step)
    with database.write() as connection:
        return bool(connection.execute(update(two_factor).where(*unused).values(last_step=step)).rowcount)


def use_code(database: Database, user: Account, code: Secret) -> bool:
    """Consume a recovery code; return False if the user has no such code left."""
    which = (recovery_codes.c.user_id == user.id, recovery_codes.c.code_hash == hashed(code))
    with database.write() as connection:
        return bool(connection.execute(delete(recovery_codes).where(*which)).rowcount)


def replace_codes(database: Database, user: Account, codes: Sequence[Secret]) -> None:
    """Replace all recovery codes of a user."""
    with database.write() as connection:
        set_codes(connection, user, codes)


def set_codes(connection: Connection, user: Account, codes: Sequence[Secret]) -> None:
    """Replace all recovery codes of a user, within a transaction."""
    connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user.id))
    connection.execute(insert(recovery_codes), rows_of(user, codes))


def keep_codes_of_factors(connection: Connection, user: Account) -> bool:
    """Delete the recovery codes of a user who has no second factor left; return whether there is one."""
    is_left = has_any(connection, user)
    if not is_left:
        connection.execute(delete(recovery_codes).where(recovery_codes.c.user_id == user.id))
    return is_left


def count_codes(database: Database, user: Account) -> int:
    """Return how many recovery codes a user has left."""
    statement = select(func.count()).select_from(recovery_codes).where(recovery_codes.c.user_id == user.id)
    with database.read() as connection:
        count: int = connection.execute(statement).scalar_one()
    return count


def remove_secret(database: Database, user: Account) -> bool:
    """Delete the secret of a user, and the recovery codes if no passkey is left; return whether one is."""
    with database.write() as connection:
        connection.execute(delete(two_factor).where(two_factor.c.user_id == user.id))
        return keep_codes_of_factors(connection, user)


def remove(database: Database, user: Account) -> bool:
    """Delete the secret, passkeys and recovery codes of a user; return whether there was a second factor."""
    with database.write() as connection:
        was_enabled = has_any(connection, user)
        for table in (recovery_codes, passkeys, two_factor):
            connection.execute(delete(table).where(table.c.user_id == user.id))
    return was_enabled


def rows_of(user: Account, codes: Sequence[Secret]) -> list[dict[str, int | str]]:
    """Return the rows of recovery codes."""
    return [{"user_id": user.id, "code_hash": hashed(code)} for code in codes]


def hashed(code: Secret) -> str:
    """Return the hash of a recovery code; it has 80 random bits, so a fast hash is safe against brute force."""
    return hashlib.sha256(code.reveal().encode()).hexdigest()
