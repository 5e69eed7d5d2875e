"""Passkeys of users, and their challenges, each of which is consumed once by one atomic statement."""

import time
from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import PasskeyTaken, TooManyPasskeys
from holdfast.hosting.store import two_factor
from holdfast.hosting.store.accounts import COLUMNS, WIDTH, Account, account_from
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import passkey_challenges, passkeys, users
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = [
    "NewPasskey",
    "Passkey",
    "PasskeyChallenge",
    "add",
    "add_challenge",
    "delete_expired_challenges",
    "find_credential",
    "list_passkeys",
    "remove",
    "rename",
    "take_challenge",
    "use",
]


@redacted
class Passkey(msgspec.Struct, frozen=True):
    """A passkey of a user; the fields are columns of the table, in this order."""

    id: int
    name: str
    credential_id: str
    public_key: str
    user_handle: str
    created_at: int
    last_used_at: int


@redacted
class NewPasskey(msgspec.Struct, frozen=True):
    """A passkey to add; binary values are base64url."""

    name: str
    credential_id: str
    public_key: str
    user_handle: str
    sign_count: int


@redacted
class PasskeyChallenge(msgspec.Struct, frozen=True):
    """A challenge: its purpose, user and expiry; `user_id` is None if any user may answer."""

    challenge: str
    purpose: str
    user_id: int | None
    user_handle: str
    expires_at: int


PASSKEY_COLUMNS = tuple(passkeys.c[name] for name in Passkey.__struct_fields__)
# By ix_passkeys_user_id.
OF_USER = Statement(
    select(*PASSKEY_COLUMNS).where(passkeys.c.user_id == bindparam("user")).order_by(passkeys.c.id)
)
# By uq_passkeys_credential_id.
BY_CREDENTIAL = Statement(
    select(*COLUMNS, *PASSKEY_COLUMNS)
    .join(passkeys, passkeys.c.user_id == users.c.id)
    .where(passkeys.c.credential_id == bindparam("credential"))
)


def list_passkeys(database: Database, user: Account) -> list[Passkey]:
    """Return the passkeys of a user, the oldest first; `add` limits how many there are."""
    return [Passkey(*row) for row in database.rows(OF_USER, user=user.id)]


def find_credential(database: Database, credential_id: str) -> tuple[Account, Passkey] | None:
    """Return the user and the passkey of a credential id."""
    row = None if "\0" in credential_id else database.row(BY_CREDENTIAL, credential=credential_id)
    return None if row is None else (account_from(row), Passkey(*row[WIDTH:]))


def add(
    database: Database,
    user: Account,
    new: NewPasskey,
    codes: Sequence[Secret],
    *,
    limit: int,
    now: int | None = None,
) -> bool:
    """Add a passkey; return whether it is the first second factor, which stores the recovery codes.

    Raises `PasskeyTaken` and `TooManyPasskeys`.
    """
    moment = int(time.time()) if now is None else now
    row = {**msgspec.structs.asdict(new), "user_id": user.id, "created_at": moment, "last_used_at": 0}
    try:
        with database.write() as connection:
            # Serializes concurrent additions, which could both be the first one.
            connection.execute(select(users.c.id).where(users.c.id == user.id).with_for_update())
            is_first = not two_factor.has_any(connection, user)
            if count(connection, user) >= limit:
                raise TooManyPasskeys(limit)
            connection.execute(insert(passkeys), row)
            if is_first:
                two_factor.set_codes(connection, user, codes)
    except IntegrityError:
        raise PasskeyTaken from None
    return is_first


def count(connection: Connection, user: Account) -> int:
    """Return how many passkeys a user has."""
    statement = select(func.count()).select_from(passkeys).where(passkeys.c.user_id == user.id)
    return int(connection.execute(statement).scalar_one())


def rename(database: Database, user: Account, passkey_id: int, name: str) -> bool:
    """Rename a passkey of a user; return False if they have no such passkey."""
    which = (passkeys.c.id == passkey_id, passkeys.c.user_id == user.id)
    with database.write() as connection:
        return bool(connection.execute(update(passkeys).where(*which).values(name=name)).rowcount)


def remove(database: Database, user: Account, passkey_id: int) -> tuple[str, bool] | None:
    """Remove a passkey of a user; return its name, and whether a second factor is left.

    Without any, the recovery codes are deleted. None if the user has no such passkey.
    """
    which = (passkeys.c.id == passkey_id, passkeys.c.user_id == user.id)
    with database.write() as connection:
        name = connection.execute(delete(passkeys).where(*which).returning(passkeys.c.name)).scalar()
        if name is None:
            return None
        return str(name), two_factor.keep_codes_of_factors(connection, user)


def use(database: Database, passkey: Passkey, sign_count: int, *, now: int | None = None) -> bool:
    """Record a use, unless the signature counter did not increase; both are 0 if there is no counter.

    Returns False also if the passkey was removed meanwhile.
    """
    moment = int(time.time()) if now is None else now
    stored = passkeys.c.sign_count
    is_above = stored == 0 if sign_count == 0 else stored < sign_count
    statement = update(passkeys).where(passkeys.c.id == passkey.id, is_above)
    with database.write() as connection:
        used = connection.execute(statement.values(sign_count=sign_count, last_used_at=moment))
        return bool(used.rowcount)


def add_challenge(database: Database, challenge: PasskeyChallenge, *, now: int) -> None:
    """Store a challenge, and delete expired ones."""
    with database.write() as connection:
        delete_expired_challenges(connection, now=now)
        connection.execute(insert(passkey_challenges), msgspec.structs.asdict(challenge))


def take_challenge(
    database: Database, challenge: str, purpose: str, user_id: int | None, *, now: int
) -> PasskeyChallenge | None:
    """Delete a challenge and return it; None if there is none for this purpose and user, or it has expired."""
    if "\0" in challenge:
        return None
    columns = passkey_challenges.c
    statement = delete(passkey_challenges).where(
        columns.challenge == challenge,
        columns.purpose == purpose,
        columns.user_id.is_(None) if user_id is None else columns.user_id == user_id,
    )
    with database.write() as connection:
        row = connection.execute(
            statement.returning(*(columns[name] for name in PasskeyChallenge.__struct_fields__))
        ).first()
    passkey_challenge = None if row is None else PasskeyChallenge(*row)
    return None if passkey_challenge is None or passkey_challenge.expires_at <= now else passkey_challenge


def delete_expired_challenges(connection: Connection, *, now: int) -> None:
    """Delete the challenges that were not answered in time."""
    connection.execute(delete(passkey_challenges).where(passkey_challenges.c.expires_at <= now))
