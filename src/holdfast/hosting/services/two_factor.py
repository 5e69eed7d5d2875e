"""Two-factor authentication: codes of an authenticator app (TOTP, RFC 6238), passkeys, and recovery codes.

A secret is pending until a code has confirmed it, and only then required at login. A code is accepted once, within
one time step of the current one. The rate limit of guesses is per user, over all addresses: guessing requires the
right password first. The recovery codes are shared by the app and the passkeys.
"""

import hmac
import re
import secrets
import time
from typing import Final

import msgspec
import pyotp

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import TooManyCodes, TwoFactorDisabled, TwoFactorEnabled, WrongCode
from holdfast.hosting.relying_party import RelyingParty
from holdfast.hosting.services import passkey_authentication
from holdfast.hosting.services.passkey_authentication import ChallengePurpose
from holdfast.hosting.store import login_rate_limit
from holdfast.hosting.store import passkeys as passkey_store
from holdfast.hosting.store import two_factor as store
from holdfast.hosting.store.accounts import Account
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret

__all__ = [
    "Enrolment",
    "PasskeyProof",
    "TwoFactorStatus",
    "begin",
    "check",
    "check_proof",
    "confirm",
    "disable",
    "enrolment_of",
    "is_enabled",
    "new_recovery_codes",
    "remove_for",
    "replace_recovery_codes",
    "status_of",
]

STEP_SECONDS: Final = 30
# Accepted clock difference in time steps.
TOLERANCE: Final = 1
TIME_CODE: Final = re.compile(r"[0-9]{6}")
ALPHABET: Final = "abcdefghijkmnpqrstuvwxyz23456789"
RECOVERY_CODES: Final = 10
RECOVERY_LENGTH: Final = 16
# Longer input cannot be a code.
LONGEST: Final = 100
ISSUER: Final = "Holdfast"


class TwoFactorStatus(msgspec.Struct, frozen=True):
    """A user's two-factor authentication: since when it is enabled, and how many recovery codes are left."""

    enabled_at: int
    codes_left: int
    has_app: bool = False
    """Whether an authenticator app is one of the second factors."""
    passkeys: int = 0
    """The number of passkeys."""

    @property
    def is_enabled(self) -> bool:
        """Whether the user logs in with a second factor."""
        return self.enabled_at > 0


@redacted
class PasskeyProof(msgspec.Struct, frozen=True):
    """A passkey response that confirms a change, in place of a code."""

    party: RelyingParty
    answer: str
    address: str = ""


@redacted
class Enrolment(msgspec.Struct, frozen=True):
    """A pending secret, as text and as the `otpauth` URI that authenticator apps read from a QR code."""

    secret: str
    uri: str


def is_enabled(app: App, user: Account) -> bool:
    """Return whether a user logs in with a second factor."""
    return store.is_enabled(app.database, user)


def status_of(app: App, user: Account) -> TwoFactorStatus:
    """Return the state of a user's two-factor authentication."""
    secret = store.find(app.database, user)
    confirmed_at = 0 if secret is None else secret.confirmed_at
    added = [passkey.created_at for passkey in passkey_store.list_passkeys(app.database, user)]
    if not confirmed_at and not added:
        return TwoFactorStatus(0, 0)
    enabled_at = min([*added, confirmed_at] if confirmed_at else added)
    codes_left = store.count_codes(app.database, user)
    return TwoFactorStatus(enabled_at, codes_left, has_app=confirmed_at > 0, passkeys=len(added))


def begin(app: App, actor: Actor, host: str) -> Enrolment:
    """Generate a secret for the acting user, who confirmed their password; replaces an earlier pending secret.

    Raises `TwoFactorEnabled` if the user already has an authenticator app.
    """
    user = access.require_session(actor)
    access.require_password(actor)
    secret = pyotp.random_base32()
    if not store.start(app.database, user, app.cipher.encrypt(secret)):
        raise TwoFactorEnabled
    return enrolment(user, secret, host)


def enrolment_of(app: App, actor: Actor, host: str) -> Enrolment | None:
    """Return the pending secret of the acting user, or None."""
    user = access.require_session(actor)
    two_factor_secret = store.find(app.database, user)
    if two_factor_secret is None or two_factor_secret.confirmed_at:
        return None
    return enrolment(user, app.cipher.decrypt(two_factor_secret.secret), host)


def enrolment(user: Account, secret: str, host: str) -> Enrolment:
    """Return a secret with its URI, which names the user and the host of the service."""
    uri = pyotp.TOTP(secret).provisioning_uri(f"{user.name}@{host}" if host else user.name, ISSUER)
    return Enrolment(secret, uri)


def confirm(app: App, actor: Actor, code: Secret, *, now: float | None = None) -> list[Secret]:
    """Enable the authenticator app with a code of the pending secret; return recovery codes if there were none.

    Raises `WrongCode`, and `TwoFactorDisabled` if no secret is pending.
    """
    user = access.require_session(actor)
    pending = store.find(app.database, user)
    if pending is None:
        raise TwoFactorDisabled
    if pending.confirmed_at:
        raise TwoFactorEnabled
    count_guess(app, user, now)
    step = matching_step(app.cipher.decrypt(pending.secret), normalized(code), now)
    codes = [] if store.is_enabled(app.database, user) else new_recovery_codes()
    if step is None or not store.confirm(app.database, user, pending.secret, step, codes):
        raise WrongCode
    login_rate_limit.forget_codes(app.database, user.id)
    return codes


def check(app: App, user: Account, code: Secret, *, now: float | None = None) -> None:
    """Consume a code of the authenticator app, or a recovery code, after the password check.

    Raises `WrongCode` for a wrong or already used code, and `TooManyCodes` after too many guesses.
    """
    if not store.is_enabled(app.database, user):
        raise TwoFactorDisabled
    count_guess(app, user, now)
    two_factor_secret = store.find(app.database, user)
    typed = normalized(code)
    if TIME_CODE.fullmatch(typed):
        if two_factor_secret is None or not two_factor_secret.confirmed_at:
            raise WrongCode
        step = matching_step(app.cipher.decrypt(two_factor_secret.secret), typed, now)
        is_right = step is not None and store.use_step(app.database, user, step)
    else:
        is_right = store.use_code(app.database, user, Secret(typed))
    if not is_right:
        raise WrongCode
    login_rate_limit.forget_codes(app.database, user.id)


def check_proof(app: App, user: Account, proof: Secret | PasskeyProof, *, now: float | None = None) -> None:
    """Consume a code, or verify a passkey response, after the password check."""
    if isinstance(proof, Secret):
        check(app, user, proof, now=now)
    else:
        passkey_authentication.verify(
            app, proof.party, ChallengePurpose.CONFIRMATION, user, proof.answer, address=proof.address, now=now
        )


def replace_recovery_codes(
    app: App, actor: Actor, proof: Secret | PasskeyProof, *, now: float | None = None
) -> list[Secret]:
    """Replace the recovery codes of the acting user, who confirmed their password."""
    user = access.require_session(actor)
    access.require_password(actor)
    check_proof(app, user, proof, now=now)
    codes = new_recovery_codes()
    store.replace_codes(app.database, user, codes)
    return codes


def disable(app: App, actor: Actor, proof: Secret | PasskeyProof, *, now: float | None = None) -> bool:
    """Remove the authenticator app of the acting user, who confirmed their password, with a code or a passkey.

    Returns whether they still have a second factor; without any, the recovery codes are deleted too.
    """
    user = access.require_session(actor)
    access.require_password(actor)
    secret = store.find(app.database, user)
    if secret is None or not secret.confirmed_at:
        raise TwoFactorDisabled
    check_proof(app, user, proof, now=now)
    return store.remove_secret(app.database, user)


def remove_for(app: App, actor: Actor, user: Account) -> None:
    """Remove all second factors of a user who lost them, as a site administrator."""
    access.require_site_admin(actor)
    if not store.remove(app.database, user):
        raise TwoFactorDisabled


def count_guess(app: App, user: Account, now: float | None) -> None:
    """Count a guess before it is checked; raise `TooManyCodes` over the rate limit."""
    limit, window = app.settings.login_failures, app.settings.login_failure_minutes * 60
    wait = login_rate_limit.reserve_code(app.database, user.id, limit=limit, window=window, now=now)
    if wait > 0:
        raise TooManyCodes(wait)


def matching_step(secret: str, code: str, now: float | None) -> int | None:
    """Return the time step of a valid code, if it is within the accepted clock difference; else None."""
    if not TIME_CODE.fullmatch(code):
        return None
    current = int(time.time() if now is None else now) // STEP_SECONDS
    totp = pyotp.TOTP(secret)
    matching = None
    for step in range(current - TOLERANCE, current + TOLERANCE + 1):
        if hmac.compare_digest(totp.generate_otp(step), code):
            matching = step
    return matching


def normalized(code: Secret) -> str:
    """Normalize a code: without spaces and hyphens, in lower case."""
    typed = code.reveal()
    return re.sub(r"[\s-]", "", typed).lower() if len(typed) <= LONGEST else ""


def new_recovery_codes() -> list[Secret]:
    """Generate recovery codes of 80 random bits each."""
    return [
        Secret("".join(secrets.choice(ALPHABET) for _ in range(RECOVERY_LENGTH))) for _ in range(RECOVERY_CODES)
    ]
