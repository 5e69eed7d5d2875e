"""Access tokens for API clients. The value is shown once; the database stores its hash."""

import hashlib
import secrets
import time
from typing import Any, Final

import msgspec
from sqlalchemy import bindparam, delete, func, insert, select
from sqlalchemy.exc import IntegrityError

from holdfast.hosting.errors import NoSuchToken, Refused, TokenNameTaken
from holdfast.hosting.store.accounts import COLUMNS, WIDTH, Account, account_from
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import tokens, users
from holdfast.secret import Secret

__all__ = ["Token", "create_token", "delete_token", "find_token", "holder_of", "tokens_of"]

# The time of last use is written at most this often, so that reads do not become writes.
USE_IS_NOTED_EVERY: Final = 60
LATEST: Final = 253_402_300_800


class Token(msgspec.Struct, frozen=True):
    """An access token, without its value."""

    id: int
    user_id: int
    name: str
    last_eight: str
    scopes: tuple[str, ...]
    created_at: int
    last_used_at: int
    expires_at: int = 0
    """When it expires; 0 means never."""

    def is_expired(self, now: float) -> bool:
        """Return whether the token has expired."""
        return 0 < self.expires_at <= now


TOKEN: Final = (
    *(tokens.c.id, tokens.c.user_id, tokens.c.name, tokens.c.last_eight),
    *(tokens.c.scopes, tokens.c.created_at, tokens.c.last_used_at, tokens.c.expires_at),
)
HOLDER = Statement(
    select(*COLUMNS, *TOKEN)
    .join(tokens, tokens.c.user_id == users.c.id)
    .where(tokens.c.token_hash == bindparam("token_hash"))
)


def token_from(row: tuple[Any, ...], start: int = 0) -> Token:
    """Build a token from its columns, which begin at index `start` of a row."""
    number, user_id, name, last_eight, scopes, *times = row[start : start + len(TOKEN)]
    return Token(number, user_id, name, last_eight, tuple(scopes.split(",")), *times)


def hashed(value: Secret) -> str:
    """Return the hash of a token value; 160 random bits need no salt, and are looked up by hash."""
    return hashlib.sha256(value.reveal().encode()).hexdigest()


def create_token(
    database: Database,
    user: Account,
    name: str,
    scopes: tuple[str, ...],
    *,
    expires_at: int = 0,
    now: int | None = None,
) -> tuple[Token, Secret]:
    """Create a token and return it with its value, which is not stored; `expires_at` 0 means never."""
    moment = int(time.time()) if now is None else now
    if expires_at and not moment < expires_at < LATEST:
        raise Refused("the time a token expires must be in the future and before the year 10000")
    value = Secret(secrets.token_hex(20))
    row = {
        "user_id": user.id,
        "name": name,
        "token_hash": hashed(value),
        "last_eight": value.reveal()[-8:],
        "scopes": ",".join(scopes),
        "created_at": moment,
        "expires_at": expires_at,
    }
    try:
        with database.write() as connection:
            created = connection.execute(insert(tokens).returning(*TOKEN), row).one()
    except IntegrityError:
        # Translated here, so that the client gets an error about the name, not about a database constraint.
        raise TokenNameTaken("access token name has been used already") from None
    return token_from(tuple(created)), value


def holder_of(database: Database, value: Secret) -> tuple[Account, Token] | None:
    """Return the token with this value and its user, or None; it may have expired."""
    return database.cached(holder_by_hash, hashed(value))


def holder_by_hash(database: Database, token_hash: str) -> tuple[Account, Token] | None:
    """Return the token with this hash and its user, or None."""
    row = database.row(HOLDER, token_hash=token_hash)
    return None if row is None else (account_from(row), token_from(row, WIDTH))


def tokens_of(database: Database, user: Account, *, skip: int, limit: int) -> tuple[list[Token], int]:
    """Return one page of a user's tokens, oldest first, and the total."""
    with database.read() as connection:
        rows = connection.execute(
            select(*TOKEN).where(tokens.c.user_id == user.id).order_by(tokens.c.id).offset(skip).limit(limit)
        ).all()
        total = connection.execute(
            select(func.count()).select_from(tokens).where(tokens.c.user_id == user.id)
        ).scalar_one()
    return [token_from(tuple(row)) for row in rows], total


def find_token(database: Database, user: Account, key: str) -> Token:
    """Return a user's token by id or name."""
    with database.read() as connection:
        query = select(*TOKEN).where(tokens.c.user_id == user.id)
        row = None
        if key.isascii() and key.isdigit() and len(key) < 19:
            row = connection.execute(query.where(tokens.c.id == int(key))).one_or_none()
        if row is None:
            row = connection.execute(query.where(tokens.c.name == key)).one_or_none()
    if row is None:
        raise NoSuchToken("access token does not exist")
    return token_from(tuple(row))


def delete_token(database: Database, token: Token) -> None:
    """Delete a token, which revokes it."""
    with database.write() as connection:
        connection.execute(delete(tokens).where(tokens.c.id == token.id))
