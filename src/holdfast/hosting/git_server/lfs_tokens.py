"""Tokens for the LFS API, which SSH clients get from `git-lfs-authenticate`.

A token is signed, not stored. It contains a key, a repository and an operation, and grants no more than that key
has at the time of each request: if the key is deleted or loses access, its tokens are invalid.
"""

import base64
import binascii
import time
from typing import Final

import msgspec

from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.git_server.key_session import KeySession, open_key_session
from holdfast.hosting.git_server.session import GitSession
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext

__all__ = ["EXPIRES_IN", "create", "open_token_session", "token_of"]

PREFIX: Final = "lfs-"
PURPOSE: Final = b"holdfast: LFS tokens"
# The lifetime sent to clients. They get a new token after that, but a running transfer must be able to finish.
EXPIRES_IN: Final = 3600
ACCEPTED_SECONDS: Final = 4 * EXPIRES_IN
LONGEST: Final = 1024


class LfsClaims(msgspec.Struct, frozen=True, array_like=True):
    """The claims of a token."""

    key_id: int
    fingerprint: str
    repository_id: int
    uploads: bool
    expires_at: int


def create(app: App, session: KeySession, *, uploads: bool, now: float | None = None) -> str:
    """Return a token for the key and the repository of a session."""
    expires_at = int(time.time() if now is None else now) + ACCEPTED_SECONDS
    claims = LfsClaims(session.key.id, session.key.fingerprint, session.repository.id, uploads, expires_at)
    content = msgspec.json.encode(claims)
    return f"{PREFIX}{encode(content)}.{encode(app.cipher.sign(PURPOSE, content))}"


def token_of(request: RequestContext) -> str | None:
    """Return the token of a request; None if it has other credentials, or none."""
    scheme, _, value = (request.header("authorization") or "").partition(" ")
    value = value.strip()
    return value if scheme.lower() == "bearer" and value.startswith(PREFIX) else None


def open_token_session(app: App, request: RequestContext, token: str, *, writing: bool) -> GitSession:
    """Validate a token, and check the current permissions of its key."""
    claims = read(app, token)
    if writing and not claims.uploads:
        raise ApiError(403, "this token is for downloads")
    owner, name = request.path["owner"], request.path["repo"]
    session = open_key_session(app, claims.key_id, claims.fingerprint, owner, name, writing=writing)
    if session.repository.id != claims.repository_id:
        raise ApiError(404, "repository not found; this token is for another one")
    request.actor = Actor(session.user)
    return GitSession(request, session.repository, session.permissions, session.only_branches)


def read(app: App, token: str) -> LfsClaims:
    """Return the claims of a token; raise a 401 error unless its signature is valid and it has not expired."""
    content, _, signature = token.removeprefix(PREFIX).partition(".")
    try:
        signed = decode(content) if len(token) <= LONGEST else b""
        if not app.cipher.verify(PURPOSE, signed, decode(signature)):
            raise ApiError(401, "the token is invalid")
        claims = msgspec.json.decode(signed, type=LfsClaims)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise ApiError(401, "the token is invalid") from None
    if claims.expires_at < time.time():
        raise ApiError(401, "the token has expired")
    return claims


def encode(content: bytes) -> str:
    """Encode bytes for a header."""
    return base64.urlsafe_b64encode(content).decode("ascii")


def decode(text: str) -> bytes:
    """Decode the result of `encode`."""
    return base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
