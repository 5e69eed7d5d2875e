"""The browsers that are logged in: a random token in a cookie, its hash in the database."""

import hashlib
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sqlalchemy import bindparam, delete, func, insert, select, update

from holdfast.hosting.store.accounts import COLUMNS, WIDTH, Account, account_from
from holdfast.hosting.store.database import Database
from holdfast.hosting.store.prepared_statements import Statement
from holdfast.hosting.store.tables import sessions, users
from holdfast.secret import Secret

__all__ = [
    "COOKIE",
    "SEEN_IS_NOTED_EVERY",
    "Session",
    "end_others",
    "end_session",
    "end_session_of",
    "hashed",
    "note_seen",
    "seen_as",
    "sessions_of",
    "start_session",
    "user_of",
]

COOKIE: Final = "holdfast_session"
# When a browser was last seen is written at most this often, so that looking does not become writing.
SEEN_IS_NOTED_EVERY: Final = 300
# How much of a hash names a session among one's own; too little to find another with.
KEY_LENGTH: Final = 16
LONGEST_AGENT: Final = 300
MOST_SHOWN: Final = 100
BY_TOKEN = Statement(
    select(*COLUMNS, sessions.c.last_seen_at)
    .join(sessions, sessions.c.user_id == users.c.id)
    .where(sessions.c.token_hash == bindparam("token_hash"), sessions.c.expires_at > bindparam("now"))
)
SEEN = (
    update(sessions).where(sessions.c.token_hash == bindparam("session")).values(last_seen_at=bindparam("moment"))
)


@dataclass(frozen=True, slots=True)
class Session:
    """One browser that is logged in, without what it is logged in by."""

    key: str
    created_at: int
    expires_at: int
    last_seen_at: int
    user_agent: str
    address: str


def hashed(token: Secret) -> str:
    """Return what the database keeps of a token: whoever reads the table cannot log in with it."""
    return hashlib.sha256(token.reveal().encode()).hexdigest()


def start_session(
    database: Database,
    user: Account,
    *,
    days: int,
    now: int | None = None,
    user_agent: str = "",
    address: str = "",
) -> Secret:
    """Log a browser in and return its token; sessions that have run out are cleared away on the way."""
    moment = int(time.time()) if now is None else now
    token = Secret(secrets.token_urlsafe(32))
    row = {
        "token_hash": hashed(token),
        "user_id": user.id,
        "created_at": moment,
        "expires_at": moment + days * 86_400,
        "last_seen_at": moment,
        "user_agent": user_agent.replace("\0", "")[:LONGEST_AGENT],
        "address": address,
    }
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.expires_at <= moment))
        connection.execute(insert(sessions), row)
        connection.execute(update(users).where(users.c.id == user.id).values(last_login_at=moment))
    return token


def user_of(database: Database, token: Secret, *, now: int | None = None) -> Account | None:
    """Return who is logged in with a token, or None when it is unknown or has run out."""
    found = seen_as(database, token, now=now)
    return None if found is None else found[0]


def seen_as(database: Database, token: Secret, *, now: int | None = None) -> tuple[Account, int] | None:
    """Return who is logged in with a token, and when that browser was last seen."""
    moment = int(time.time()) if now is None else now
    row = database.row(BY_TOKEN, token_hash=hashed(token), now=moment)
    return None if row is None else (account_from(row), row[WIDTH])


def note_seen(database: Database, seen: Mapping[str, int]) -> None:
    """Write down when browsers were last seen, for all of them at once; the keys are the hashes."""
    with database.write() as connection:
        connection.execute(SEEN, [{"session": session, "moment": moment} for session, moment in seen.items()])


def sessions_of(database: Database, user: Account, *, now: int | None = None) -> list[Session]:
    """Return the browsers somebody is logged in with, the one seen last first; of very many, those."""
    moment = int(time.time()) if now is None else now
    columns = (
        func.substr(sessions.c.token_hash, 1, KEY_LENGTH),
        *(sessions.c[name] for name in Session.__dataclass_fields__ if name != "key"),
    )
    statement = (
        select(*columns)
        .where(sessions.c.user_id == user.id, sessions.c.expires_at > moment)
        .order_by(sessions.c.last_seen_at.desc(), sessions.c.created_at.desc(), sessions.c.token_hash)
        .limit(MOST_SHOWN)
    )
    with database.read() as connection:
        return [Session(*row) for row in connection.execute(statement)]


def end_session(database: Database, token: Secret) -> None:
    """Log a browser out."""
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.token_hash == hashed(token)))


def end_session_of(database: Database, user: Account, key: str) -> bool:
    """Log out one of somebody's browsers; return whether it was logged in."""
    with database.write() as connection:
        ended = connection.execute(
            delete(sessions).where(
                sessions.c.user_id == user.id, func.substr(sessions.c.token_hash, 1, KEY_LENGTH) == key
            )
        )
    return bool(ended.rowcount)


def end_others(database: Database, user: Account, kept: Secret | None) -> None:
    """Log out all of somebody's browsers but one."""
    others = [sessions.c.user_id == user.id]
    if kept is not None:
        others.append(sessions.c.token_hash != hashed(kept))
    with database.write() as connection:
        connection.execute(delete(sessions).where(*others))
