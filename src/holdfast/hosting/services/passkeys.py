"""The passkeys of a user: list, add, rename and remove them."""

import secrets
from typing import Final

import msgspec

from holdfast.hosting import access
from holdfast.hosting.access import Actor
from holdfast.hosting.app import App
from holdfast.hosting.errors import InvalidField, NoSuchPasskey, TooManyPasskeys, Violation
from holdfast.hosting.relying_party import PasskeyResponse, RelyingParty, encoded
from holdfast.hosting.services import passkey_authentication, two_factor
from holdfast.hosting.services.passkey_authentication import ChallengePurpose
from holdfast.hosting.services.two_factor import PasskeyProof
from holdfast.hosting.store import passkeys as store
from holdfast.hosting.store.passkeys import NewPasskey, Passkey
from holdfast.secret import Secret

__all__ = [
    "LONGEST_NAME",
    "MOST",
    "RemovedPasskey",
    "add",
    "confirmation_options",
    "creation_options",
    "list_passkeys",
    "remove",
    "rename",
]

LONGEST_NAME: Final = 100
# Maximum passkeys per user.
MOST: Final = 20


class RemovedPasskey(msgspec.Struct, frozen=True):
    """The name of a removed passkey, and whether the user still has a second factor."""

    name: str
    is_factor_left: bool


def list_passkeys(app: App, actor: Actor) -> list[Passkey]:
    """Return the passkeys of the acting user, the oldest first."""
    return store.list_passkeys(app.database, access.require_session(actor))


def creation_options(
    app: App, actor: Actor, party: RelyingParty, address: str, *, now: float | None = None
) -> bytes:
    """Return the options to create a passkey of the acting user, who confirmed their password."""
    user = access.require_session(actor)
    access.require_password(actor)
    passkeys = store.list_passkeys(app.database, user)
    if len(passkeys) >= MOST:
        raise TooManyPasskeys(MOST)
    handle = passkeys[0].user_handle if passkeys else encoded(secrets.token_bytes(32))
    challenge = passkey_authentication.create_challenge(
        app, ChallengePurpose.REGISTRATION, user, address, user_handle=handle, now=now
    )
    return party.creation_options(
        challenge.challenge,
        user_name=user.name,
        full_name=user.full_name,
        user_handle=handle,
        credential_ids=[passkey.credential_id for passkey in passkeys],
    )


def add(
    app: App, actor: Actor, party: RelyingParty, name: str, answer: str, *, now: float | None = None
) -> list[Secret]:
    """Add a passkey created by a browser; return the recovery codes if it is the first second factor.

    Its challenge was created for the acting user after they confirmed their password.
    """
    user = access.require_session(actor)
    name = checked_name(name)
    response = PasskeyResponse.read(answer)
    challenge = passkey_authentication.take_challenge(app, response, ChallengePurpose.REGISTRATION, user, now=now)
    registered = party.verify_registration(response, challenge.challenge)
    codes = two_factor.new_recovery_codes()
    new = NewPasskey(
        name, registered.credential_id, registered.public_key, challenge.user_handle, registered.sign_count
    )
    moment = None if now is None else int(now)
    return codes if store.add(app.database, user, new, codes, limit=MOST, now=moment) else []


def rename(app: App, actor: Actor, passkey_id: int, name: str) -> str:
    """Rename a passkey of the acting user; return its name."""
    user = access.require_session(actor)
    name = checked_name(name)
    if not store.rename(app.database, user, passkey_id, name):
        raise NoSuchPasskey
    return name


def remove(
    app: App,
    actor: Actor,
    passkey_id: int,
    proof: Secret | PasskeyProof,
    *,
    now: float | None = None,
) -> RemovedPasskey:
    """Remove a passkey of the acting user, who confirmed their password, with a code or any of their passkeys."""
    user = access.require_session(actor)
    access.require_password(actor)
    if all(passkey.id != passkey_id for passkey in store.list_passkeys(app.database, user)):
        raise NoSuchPasskey
    two_factor.check_proof(app, user, proof, now=now)
    removed = store.remove(app.database, user, passkey_id)
    if removed is None:
        raise NoSuchPasskey
    return RemovedPasskey(*removed)


def confirmation_options(
    app: App, actor: Actor, party: RelyingParty, address: str, *, now: float | None = None
) -> bytes:
    """Return the passkey options to confirm a change of the acting user's second factors."""
    user = access.require_session(actor)
    return passkey_authentication.request_options(
        app, party, ChallengePurpose.CONFIRMATION, user, address, now=now
    )


def checked_name(name: str) -> str:
    """Return the name of a passkey without surrounding spaces; raise `InvalidField` if it is empty or too long."""
    name = " ".join(name.replace("\0", "").split())
    if not name:
        raise InvalidField("Name", Violation.REQUIRED)
    if len(name) > LONGEST_NAME:
        raise InvalidField("Name", Violation.TOO_LONG, LONGEST_NAME)
    return name
