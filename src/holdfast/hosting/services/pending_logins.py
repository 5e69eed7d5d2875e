"""Log-ins that wait for a code of the second factor: what a browser keeps between the password and the code.

The token is signed, not stored. It says who gave which password, and is of no use without a code, or after the
password was changed.
"""

import base64
import binascii
import hashlib
import hmac
import time
from typing import Final

import msgspec

from holdfast.hosting.app import App
from holdfast.hosting.store import accounts
from holdfast.hosting.store.accounts import Account
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = ["LIFETIME", "create", "user_of"]

PURPOSE: Final = b"holdfast: pending log-ins"
# How long a user has to enter a code, in seconds.
LIFETIME: Final = 600
LONGEST: Final = 1024


@redacted
class LoginClaims(msgspec.Struct, frozen=True, array_like=True):
    """What a token says."""

    name: str
    user_id: int
    password: str
    """A fingerprint of the hash of the password."""
    expires_at: int


def create(app: App, user: Account, *, now: float | None = None) -> Secret:
    """Return a token for a user who gave their password."""
    expires_at = int(time.time() if now is None else now) + LIFETIME
    row = app.database.row(accounts.BY_NAME, folded=user.name.casefold())
    stored = "" if row is None else row[accounts.WIDTH]
    content = msgspec.json.encode(LoginClaims(user.name, user.id, fingerprint(stored), expires_at))
    parts = (content, app.cipher.sign(PURPOSE, content))
    return Secret(".".join(base64.urlsafe_b64encode(part).decode("ascii") for part in parts))


def user_of(app: App, token: Secret, *, now: float | None = None) -> Account | None:
    """Return the user of a token; None if it was not made here, has expired, or the password was changed."""
    claims = read(app, token.reveal())
    if claims is None or claims.expires_at < (time.time() if now is None else now):
        return None
    row = app.database.row(accounts.BY_NAME, folded=claims.name.casefold())
    if row is None:
        return None
    user = accounts.account_from(row)
    is_same = hmac.compare_digest(fingerprint(row[accounts.WIDTH]), claims.password)
    return user if is_same and user.id == claims.user_id else None


def read(app: App, token: str) -> LoginClaims | None:
    """Return what a token says; None if it was not signed here."""
    if len(token) > LONGEST:
        return None
    try:
        content, signature = (base64.b64decode(part, altchars=b"-_", validate=True) for part in token.split("."))
    except (binascii.Error, ValueError):
        return None
    if not app.cipher.verify(PURPOSE, content, signature):
        return None
    return msgspec.json.decode(content, type=LoginClaims)


def fingerprint(password_hash: str) -> str:
    """Return a fingerprint of the hash of a password."""
    return hashlib.sha256(password_hash.encode()).hexdigest()
