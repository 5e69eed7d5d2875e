"""Authentication of requests: an access token, a name and a password, or the session cookie."""

import asyncio
import base64
import binascii
import hashlib
import re
import secrets
import time
from collections import OrderedDict
from typing import Final
from weakref import WeakValueDictionary

from holdfast.hosting import access
from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.errors import HashingBusy, NoSuchUser, TooManyGuesses, WrongCode
from holdfast.hosting.http.context import PasswordNeeded
from holdfast.hosting.http.cross_site import is_cross_site
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.threads import run_in_thread
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import passwords, two_factor
from holdfast.hosting.store import accounts, login_rate_limit, sessions, tokens
from holdfast.secret import Secret

__all__ = ["Authenticator", "by_session", "check_state"]

TOKEN_SHAPE: Final = re.compile(r"[0-9a-f]{40}")
# User names that clients send with a token as the password.
PLACEHOLDERS: Final = frozenset(
    {"", "git", "gitlab-ci-token", "oauth2", "token", "x", "x-access-token", "x-oauth-basic", "x-token-auth"}
)
EXPIRED: Final = "the access token has expired"
WRONG: Final = "invalid username, password or token"
# The one-time password header of Gitea's clients.
CODE_HEADER: Final = "x-gitea-otp"
CODE_NEEDED: Final = (
    "this account has two-factor authentication: use an access token instead of the password, "
    "or send a code of the authenticator app in the header X-Gitea-OTP"
)
OLD_PARAMETER: Final = "token and access_token in the query string are deprecated; use the Authorization header"
# How long a verified password is cached without hashing it again; git sends it with every request.
REMEMBERED_SECONDS: Final = 300
REMEMBERED: Final = 1024
LONGEST: Final = 1024


class WrongToken(ApiError):
    """The error response to an unknown token."""


def busy(error: HashingBusy) -> ApiError:
    """Return the error response for a full password queue."""
    return ApiError(503, str(error), headers={"Retry-After": str(error.seconds)})


class Authenticator:
    """Authenticates requests, and caches verified passwords for a short time."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(32)
        self._right: OrderedDict[bytes, tuple[str, float]] = OrderedDict()
        self._checks: WeakValueDictionary[bytes, asyncio.Lock] = WeakValueDictionary()

    async def check_password(self, request: RequestContext) -> None:
        """Authenticate in the password thread pool; `identify` then uses the stored result.

        Concurrent requests with the same credentials are checked one after the other: if the password is correct,
        it is counted and hashed once, and the others find it in the cache.
        """
        credentials = self._digest("", request.header("authorization") or "")
        request.may_hash = True
        try:
            async with self._checks.setdefault(credentials, asyncio.Lock()):
                request.identified = await request.app.password_pool.run(request.address, self.identify, request)
        except HashingBusy as error:
            raise busy(error) from None

    async def count_failure(self, request: RequestContext, refusal: ApiError) -> ApiError:
        """Count an unknown token for the rate limit, and return the error response: the given one, or 429."""
        if not isinstance(refusal, WrongToken):
            return refusal
        settings = request.app.settings
        wait = await run_in_thread(
            login_rate_limit.count_wrong_token,
            request.app.database,
            request.address,
            limit=settings.login_failures,
            window=settings.login_failure_minutes * 60,
        )
        if wait <= 0:
            return refusal
        return ApiError(429, "too many wrong tokens; try again later", headers={"Retry-After": str(wait)})

    def identify(self, request: RequestContext) -> Actor:
        """Return the actor, anonymous without credentials; raise an error for invalid credentials.

        Raises `PasswordNeeded` if a password has to be hashed, which is not done on the event loop.
        """
        if request.identified is not None:
            return request.identified
        caller = self._credentials(request)
        if caller.user is None:
            return caller
        caller = self._acting_for(request, caller)
        self._check(request, caller)
        return caller

    def authenticate(self, request: RequestContext, scope: tuple[str, ...], *, writes: bool) -> None:
        """Set the actor of a request; raise an error for credentials that are not valid for one of the scopes."""
        request.actor = self.identify(request)
        if scope and not access.allows(request.actor, scope, write=writes):
            raise scope_refusal(request.actor, scope, writes=writes)

    def _check(self, request: RequestContext, actor: Actor) -> None:  # noqa: ARG002  # the website decides by the page too
        """Raise an error for an inactive account."""
        check_state(actor)

    def password_of(self, request: RequestContext, name: str, password: Secret) -> accounts.Account | None:
        """Return the user if the password is correct; a recently verified password is not hashed again."""
        settings, database = request.app.settings, request.app.database
        name = passwords.account_name(database, name)
        digest = self._digest(name, password.reveal())
        row = database.row(accounts.BY_NAME, folded=name.casefold())
        remembered = self._right.get(digest)
        if row is not None and remembered is not None:
            known_hash, until = remembered
            if known_hash == row[accounts.WIDTH] and time.monotonic() < until:
                return accounts.account_from(row)
        if passwords.is_too_long(name, password):
            return None
        try:
            if not request.may_hash:
                # Guesses over the rate limit do not reach the thread pool.
                passwords.check_limit(database, settings, name, request.address)
                raise PasswordNeeded
            user = passwords.check(database, settings, name, password, request.address)
        except TooManyGuesses as error:
            raise ApiError(429, str(error), headers={"Retry-After": str(error.seconds)}) from None
        except HashingBusy as error:
            raise busy(error) from None
        if user is not None and row is not None:
            self._remember(digest, row[accounts.WIDTH])
        return user

    def _credentials(self, request: RequestContext) -> Actor:
        """Check the credentials of a request, in the order clients rely on."""
        parts = (request.header("authorization") or "").split()
        if len(parts) == 2 and parts[0].lower() in {"token", "bearer"}:
            return by_token(request, parts[1])
        parameters = dict(request.query_pairs()) if request.scope["query_string"] else {}
        in_query = parameters.get("token") or parameters.get("access_token")
        if in_query:
            request.response_headers["X-Gitea-Warning"] = OLD_PARAMETER
            return by_token(request, in_query)
        if len(parts) == 2 and parts[0].lower() == "basic":
            pair = basic(parts[1])
            if pair is None:
                return ANONYMOUS
            return self._by_password(request, *pair)
        return by_cookie(request)

    def _by_password(self, request: RequestContext, name: str, password: str) -> Actor:
        """Check a name and a password; a token is accepted as the password of any name, or as the name.

        A token is looked up before anything is counted, so token holders are not affected by the rate limit.
        """
        if is_token_as_name(name, password):
            return by_token(request, name)
        if TOKEN_SHAPE.fullmatch(password):
            held = tokens.holder_of(request.app.database, Secret(password))
            if held is not None:
                return held_by(request, *held)
            if name in PLACEHOLDERS and request.app.database.row(accounts.BY_NAME, folded=name) is None:
                # A revoked token must not lock out other users of the same IP address.
                raise WrongToken(401, WRONG)
        user = self.password_of(request, name, Secret(password))
        if user is None:
            raise ApiError(401, WRONG)
        if two_factor.is_enabled(request.app, user):
            check_code(request, user)
        return Actor(user, by_password=True)

    @staticmethod
    def _acting_for(request: RequestContext, actor: Actor) -> Actor:
        """Let an administrator act as another user (`sudo`), if requested."""
        name = request.header("sudo") or (request.query("sudo") if request.scope["query_string"] else None)
        if not name:
            return actor
        if not actor.is_admin:
            raise ApiError(403, "Only administrators allowed to sudo.", bare=True)
        try:
            user = accounts.find_user(request.app.database, name)
        except NoSuchUser:
            text = f"user does not exist [uid: 0, name: {name}]"
            raise ApiError(404, text, bare=True) from None
        return Actor(user, actor.token, by_password=actor.by_password, impersonated_by=actor.user)

    def _digest(self, name: str, password: str) -> bytes:
        return hashlib.sha256(self._salt + name.casefold().encode() + b"\0" + password.encode()).digest()

    def _remember(self, digest: bytes, password_hash: str) -> None:
        self._right[digest] = (password_hash, time.monotonic() + REMEMBERED_SECONDS)
        while len(self._right) > REMEMBERED:
            self._right.popitem(last=False)


def scope_refusal(actor: Actor, scope: tuple[str, ...], *, writes: bool) -> ApiError:
    """Return the error that names the missing scopes."""
    level = "write" if writes else "read"
    required = " ".join(f"{level}:{category}" for category in scope)
    held = ",".join(actor.token.scopes) if actor.token else ""
    text = f"token does not have at least one of required scope(s), required=[{required}], token scope={held}"
    return ApiError(403, text)


def is_token_as_name(name: str, password: str) -> bool:
    """Return whether a token is sent as the name, with no password or the one GitHub's clients send."""
    return password in {"", "x-oauth-basic"} and TOKEN_SHAPE.fullmatch(name) is not None


def check_code(request: RequestContext, user: accounts.Account) -> None:
    """Raise an error if the user has a second factor and the request has no valid code."""
    code = request.header(CODE_HEADER)
    if not code:
        raise ApiError(401, CODE_NEEDED)
    if not request.may_hash:
        # A code is consumed in the database, which must not be done on the event loop.
        raise PasswordNeeded
    try:
        two_factor.check(request.app, user, Secret(code))
    except WrongCode as error:
        raise ApiError(401, str(error)) from None


def basic(encoded: str) -> tuple[str, str] | None:
    """Decode a Basic header; None if it is invalid."""
    try:
        name, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (name, password) if colon and "\0" not in name else None


def by_token(request: RequestContext, value: str) -> Actor:
    """Return the actor of a token value."""
    held = tokens.holder_of(request.app.database, Secret(value)) if len(value) <= LONGEST else None
    if held is None:
        raise WrongToken(401, WRONG)
    return held_by(request, *held)


def held_by(request: RequestContext, user: accounts.Account, token: tokens.Token) -> Actor:
    """Return the actor of a token; raise an error if it has expired."""
    if token.is_expired(time.time()):
        raise ApiError(401, EXPIRED)
    return note_use(request, Actor(user, token))


def note_use(request: RequestContext, actor: Actor) -> Actor:
    """Record the use of a token, to be written later."""
    token = actor.token
    now = int(time.time())
    if token is not None and now - token.last_used_at >= tokens.USE_IS_NOTED_EVERY:
        request.app.used_tokens[token.id] = now
    return actor


def by_cookie(request: RequestContext) -> Actor:
    """Return the user of the session cookie; ignored for cross-site requests (CSRF)."""
    cookie = request.cookies.get(sessions.COOKIE)
    if cookie is None:
        return ANONYMOUS
    return ANONYMOUS if is_cross_site(request.headers) else by_session(request, Secret(cookie))


def by_session(request: RequestContext, token: Secret) -> Actor:
    """Return the user of a session, and record its use, to be written later."""
    session = sessions.seen_as(request.app.database, token)
    if session is None:
        return ANONYMOUS
    user, last_seen_at = session
    now = int(time.time())
    if now - last_seen_at >= sessions.SEEN_IS_NOTED_EVERY:
        request.app.seen_sessions[sessions.hashed(token)] = now
    return Actor(user)


def check_state(actor: Actor) -> None:
    """Raise an error for an inactive account, except for an impersonating administrator."""
    user = actor.user
    if user is None or actor.impersonated_by is not None:
        return
    if not user.is_active:
        raise ApiError(403, "This account is not activated.", bare=True)
    if user.may_not_log_in:
        raise ApiError(
            403, "This account is prohibited from signing in, please contact your site administrator.", bare=True
        )
    if user.must_change_password:
        raise ApiError(403, "You must change your password before you can use the API.", bare=True)
