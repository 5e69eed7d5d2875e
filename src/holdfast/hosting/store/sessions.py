"""Browser sessions: a random token in a cookie, its hash in the database."""

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
# The time a session was last used is written at most this often, so that reads do not become writes.
SEEN_IS_NOTED_EVERY: Final = 300
# The length of the hash prefix that identifies a session among those of one user.
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
    """A browser session, without its token."""

    key: str
    created_at: int
    expires_at: int
    last_seen_at: int
    user_agent: str
    address: str


def hashed(token: Secret) -> str:
    """Return the hash of a token, which is what the database stores."""
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
    """Create a session and return its token; also deletes expired sessions."""
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
    """Return the user of a session token, or None if it is unknown or expired."""
    session = seen_as(database, token, now=now)
    return None if session is None else session[0]


def seen_as(database: Database, token: Secret, *, now: int | None = None) -> tuple[Account, int] | None:
    """Return the user of a session token, and when the session was last used."""
    moment = int(time.time()) if now is None else now
    row = database.row(BY_TOKEN, token_hash=hashed(token), now=moment)
    return None if row is None else (account_from(row), row[WIDTH])


def note_seen(database: Database, moments: Mapping[str, int]) -> None:
    """Update when sessions were last used, keyed by token hash, in one transaction."""
    with database.write() as connection:
        connection.execute(SEEN, [{"session": session, "moment": moment} for session, moment in moments.items()])


def sessions_of(database: Database, user: Account, *, now: int | None = None) -> list[Session]:
    """Return a user's sessions, most recently used first, limited to `MOST_SHOWN`."""
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
    """Delete a session."""
    with database.write() as connection:
        connection.execute(delete(sessions).where(sessions.c.token_hash == hashed(token)))


def end_session_of(database: Database, user: Account, key: str) -> bool:
    """Delete one of a user's sessions by its key; return whether it existed."""
    with database.write() as connection:
        ended = connection.execute(
            delete(sessions).where(
                sessions.c.user_id == user.id, func.substr(sessions.c.token_hash, 1, KEY_LENGTH) == key
            )
        )
    return bool(ended.rowcount)


def end_others(database: Database, user: Account, secret: Secret | None) -> None:
    """Delete all sessions of a user except one."""
    others = [sessions.c.user_id == user.id]
    if secret is not None:
        others.append(sessions.c.token_hash != hashed(secret))
    with database.write() as connection:
        connection.execute(delete(sessions).where(*others))
