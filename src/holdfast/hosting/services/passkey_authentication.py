"""Authentication with passkeys (WebAuthn): challenges, and verification of the responses.

A challenge is created for one purpose and, except for passwordless login, for one user. It is stored in the
database, so that any machine can verify the response; it can be used once, and expires. Anybody can request one,
so they are rate limited per IP address.
"""

import hmac
import secrets
import time
from enum import StrEnum
from typing import Final

import structlog

from holdfast.hosting.app import App
from holdfast.hosting.errors import (
    ChallengeExpired,
    PasskeyCounterReversed,
    PasskeyRefused,
    TooManyChallenges,
)
from holdfast.hosting.relying_party import PasskeyResponse, RelyingParty, encoded
from holdfast.hosting.store import login_rate_limit
from holdfast.hosting.store import passkeys as store
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.passkeys import PasskeyChallenge

__all__ = ["LIFETIME", "ChallengePurpose", "create_challenge", "request_options", "take_challenge", "verify"]

log = structlog.get_logger(__name__)
# Lifetime of a challenge in seconds: longer than the timeout of browsers.
LIFETIME: Final = 300


class ChallengePurpose(StrEnum):
    """The purpose of a challenge."""

    LOGIN = "login"
    """Passwordless login; the passkey determines the user."""
    SECOND_FACTOR = "second-factor"
    """The second factor after the password."""
    CONFIRMATION = "confirmation"
    """Confirmation of a change of the logged-in user's second factors."""
    REGISTRATION = "registration"
    """Adding a passkey."""


def request_options(
    app: App,
    party: RelyingParty,
    purpose: ChallengePurpose,
    user: Account | None,
    address: str,
    *,
    now: float | None = None,
) -> bytes:
    """Return the options of a browser's `navigator.credentials.get()`, as JSON.

    Without a user, user verification is required: the passkey is the only factor.
    """
    credential_ids = (
        [] if user is None else [passkey.credential_id for passkey in store.list_passkeys(app.database, user)]
    )
    if user is not None and not credential_ids:
        raise PasskeyRefused
    passkey_challenge = create_challenge(app, purpose, user, address, now=now)
    return party.request_options(
        passkey_challenge.challenge, credential_ids=credential_ids, verify_user=user is None
    )


def create_challenge(
    app: App,
    purpose: ChallengePurpose,
    user: Account | None,
    address: str,
    *,
    user_handle: str = "",
    now: float | None = None,
) -> PasskeyChallenge:
    """Store a new challenge; raise `TooManyChallenges` when the IP address is over its limit."""
    moment = int(time.time() if now is None else now)
    limit, window = app.settings.login_failures, app.settings.login_failure_minutes * 60
    wait = login_rate_limit.reserve_challenge(app.database, address, limit=limit, window=window, now=now)
    if wait > 0:
        raise TooManyChallenges(wait)
    passkey_challenge = PasskeyChallenge(
        encoded(secrets.token_bytes(32)),
        purpose.value,
        None if user is None else user.id,
        user_handle,
        moment + LIFETIME,
    )
    store.add_challenge(app.database, passkey_challenge, now=moment)
    return passkey_challenge


def take_challenge(
    app: App,
    response: PasskeyResponse,
    purpose: ChallengePurpose,
    user: Account | None,
    *,
    now: float | None = None,
) -> PasskeyChallenge:
    """Delete and return the challenge of a response; raise `ChallengeExpired` if it is missing."""
    moment = int(time.time() if now is None else now)
    user_id = None if user is None else user.id
    passkey_challenge = store.take_challenge(app.database, response.challenge, purpose.value, user_id, now=moment)
    if passkey_challenge is None:
        raise ChallengeExpired
    return passkey_challenge


def verify(
    app: App,
    party: RelyingParty,
    purpose: ChallengePurpose,
    user: Account | None,
    answer: str,
    *,
    address: str = "",
    now: float | None = None,
) -> Account:
    """Verify the response of a passkey, record its use, and return its user.

    Raises `PasskeyRefused`, `ChallengeExpired`, and `PasskeyCounterReversed` if the passkey may have been copied.
    """
    response = PasskeyResponse.read(answer)
    challenge = take_challenge(app, response, purpose, user, now=now)
    credential = store.find_credential(app.database, response.id)
    if credential is None or (user is not None and credential[0].id != user.id):
        raise PasskeyRefused
    owner, passkey = credential
    handle = response.response.user_handle
    if handle is None and user is None:
        raise PasskeyRefused
    if handle is not None and not hmac.compare_digest(handle.encode(), passkey.user_handle.encode()):
        raise PasskeyRefused
    signed = party.verify_signature(
        response, challenge.challenge, public_key=passkey.public_key, verify_user=user is None
    )
    if not store.use(app.database, passkey, signed.sign_count, now=None if now is None else int(now)):
        log.warning("signature counter of a passkey went backwards", user=owner.id, passkey=passkey.id)
        raise PasskeyCounterReversed
    if address:
        login_rate_limit.forget_challenge(app.database, address)
    return owner
