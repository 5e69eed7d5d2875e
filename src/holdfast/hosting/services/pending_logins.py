"""Pending logins: the signed token a browser keeps between the password and the second factor.

The token is not stored. It names the user and a fingerprint of the password hash, and is useless without a code or
after a change of the password.
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
# Lifetime of a token in seconds.
LIFETIME: Final = 600
LONGEST: Final = 1024


@redacted
class LoginClaims(msgspec.Struct, frozen=True, array_like=True):
    """The claims of a token."""

    name: str
    user_id: int
    password: str
    """A fingerprint of the password hash."""
    expires_at: int


def create(app: App, user: Account, *, now: float | None = None) -> Secret:
    """Return a token for a user whose password was checked."""
    expires_at = int(time.time() if now is None else now) + LIFETIME
    row = app.database.row(accounts.BY_NAME, folded=user.name.casefold())
    stored = "" if row is None else row[accounts.WIDTH]
    content = msgspec.json.encode(LoginClaims(user.name, user.id, fingerprint(stored), expires_at))
    parts = (content, app.cipher.sign(PURPOSE, content))
    return Secret(".".join(base64.urlsafe_b64encode(part).decode("ascii") for part in parts))


def user_of(app: App, token: Secret, *, now: float | None = None) -> Account | None:
    """Return the user of a token; None if it is invalid or expired, or the password was changed."""
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
    """Verify the signature of a token and return its claims; None if invalid."""
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
    """Return a fingerprint of a password hash."""
    return hashlib.sha256(password_hash.encode()).hexdigest()
