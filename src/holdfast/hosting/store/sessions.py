"""The browsers that are logged in: a random token in a cookie, its hash in the database."""

import hashlib
import secrets
import time
from typing import Final

from sqlalchemy import bindparam, delete, insert, select, update

from holdfast.hosting.store.accounts import COLUMNS, Account, account_from
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.statement import Statement
from holdfast.hosting.store.tables import sessions, users
from holdfast.secret import Secret

__all__ = ["COOKIE", "end_session", "start_session", "user_of"]

COOKIE: Final = "holdfast_session"
BY_TOKEN = Statement(
    select(*COLUMNS)
    .join(sessions, sessions.c.user_id == users.c.id)
    .where(sessions.c.token_hash == bindparam("token_hash"), sessions.c.expires_at > bindparam("now"))
)


def hashed(token: Secret) -> str:
    """Return what the database keeps of a token: whoever reads the table cannot log in with it."""
    return hashlib.sha256(token.reveal().encode()).hexdigest()


def start_session(database: Database, user: Account, *, days: int, now: int | None = None) -> Secret:
    """Log a browser in and return its token; sessions that have run out are cleared away on the way."""
    moment = int(time.time()) if now is None else now
    token = Secret(secrets.token_urlsafe(32))
    row = {
        "token_hash": hashed(token),
        "user_id": user.id,
        "created_at": moment,
        "expires_at": moment + days * 86_400,
    }
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.expires_at <= moment))
        connection.execute(insert(sessions), row)
        connection.execute(update(users).where(users.c.id == user.id).values(last_login_at=moment))
    return token


def user_of(database: Database, token: Secret, *, now: int | None = None) -> Account | None:
    """Return who is logged in with a token, or None when it is unknown or has run out."""
    moment = int(time.time()) if now is None else now
    row = database.row(BY_TOKEN, token_hash=hashed(token), now=moment)
    return None if row is None else account_from(row)


def end_session(database: Database, token: Secret) -> None:
    """Log a browser out."""
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.token_hash == hashed(token)))
