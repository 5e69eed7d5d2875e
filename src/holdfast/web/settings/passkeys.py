"""The passkeys of the user who is signed in: add, rename and remove them."""

from typing import Final

import msgspec
import structlog

from holdfast.hosting.errors import HostingError, NoSuchPasskey, TooManyGuesses
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.relying_party import RelyingParty
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import passkeys, passwords
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.pages import redirect_to
from holdfast.web.settings.account import require_session
from holdfast.web.settings.two_factor import ADDRESS, TwoFactorForm, proof_in, show_page

__all__ = [
    "LARGEST_RESPONSE",
    "add_passkey",
    "confirm_with_passkey",
    "options_error",
    "options_response",
    "passkey_options",
    "remove_passkey",
    "rename_passkey",
]

log = structlog.get_logger(__name__)
PASSKEYS: Final = f"{ADDRESS}/passkeys"
# More than the largest response of a passkey takes in any encoding.
LARGEST_RESPONSE: Final = 2**16


@redacted
class NewPasskeyForm(msgspec.Struct, frozen=True):
    """The name of a new passkey, and the registration response of the browser as JSON."""

    name: str = ""
    credential: str = ""


class RenamePasskeyForm(msgspec.Struct, frozen=True):
    """The id of a passkey, and its new name."""

    id: str = ""
    name: str = ""


@redacted
class RemovePasskeyForm(TwoFactorForm, frozen=True):
    """The id of a passkey; the password, and a code or the response of a passkey."""

    id: str = ""


def options_response(options: bytes) -> RawResponse:
    """Return WebAuthn options as JSON, not cached: their challenge is used once."""
    return RawResponse(options, "application/json", headers={"Cache-Control": "no-store"})


def options_error(error: HostingError) -> ApiError:
    """Return an error with the message that the script shows."""
    headers = {"Retry-After": str(error.seconds)} if isinstance(error, TooManyGuesses) else None
    return ApiError(status_for(error), message_for(error), headers=headers)


def passkey_id(text: str) -> int:
    """Parse the id of a form; raise `NoSuchPasskey` if it is invalid."""
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise NoSuchPasskey
    return int(text)


@endpoint(f"POST {PASSKEYS}/options", scope="user", guards=(require_session,), largest_body=LARGEST_RESPONSE)
def passkey_options(request: RequestContext, body: TwoFactorForm) -> RawResponse:
    """Return the WebAuthn options that create a passkey, if the password is correct."""
    try:
        party = RelyingParty.at(request.root)
        actor = passwords.confirm(request.app, request.actor, Secret(body.password), request.address)
        options = passkeys.creation_options(request.app, actor, party, request.address)
    except HostingError as error:
        raise options_error(error) from error
    return options_response(options)


@endpoint(f"POST {PASSKEYS}/confirm", scope="user", guards=(require_session,), largest_body=LARGEST_RESPONSE)
def confirm_with_passkey(request: RequestContext) -> RawResponse:
    """Return the WebAuthn options that request a passkey of the user, to confirm a change."""
    try:
        party = RelyingParty.at(request.root)
        options = passkeys.confirmation_options(request.app, request.actor, party, request.address)
    except HostingError as error:
        raise options_error(error) from error
    return options_response(options)


@endpoint(f"POST {PASSKEYS}", scope="user", guards=(require_session,), largest_body=LARGEST_RESPONSE)
def add_passkey(request: RequestContext, body: NewPasskeyForm) -> RawResponse:
    """Add the passkey that the browser created, and show the recovery codes if it is the first second factor."""
    try:
        party = RelyingParty.at(request.root)
        codes = passkeys.add(request.app, request.actor, party, body.name, body.credential)
    except HostingError as error:
        return show_page(request, refusal=error)
    log.info("passkey added", user=request.user.id)
    return show_page(request, codes=codes) if codes else redirect_to(ADDRESS, "passkey-added", body.name.strip())


@endpoint(f"POST {PASSKEYS}/rename", scope="user", guards=(require_session,), largest_body=LARGEST_RESPONSE)
def rename_passkey(request: RequestContext, body: RenamePasskeyForm) -> RawResponse:
    """Rename a passkey."""
    try:
        name = passkeys.rename(request.app, request.actor, passkey_id(body.id), body.name)
    except HostingError as error:
        return show_page(request, refusal=error)
    return redirect_to(ADDRESS, "passkey-renamed", name)


@endpoint(f"POST {PASSKEYS}/remove", scope="user", guards=(require_session,), largest_body=LARGEST_RESPONSE)
def remove_passkey(request: RequestContext, body: RemovePasskeyForm) -> RawResponse:
    """Remove a passkey, which disables two-factor authentication if it is the last second factor."""
    try:
        actor = passwords.confirm(request.app, request.actor, Secret(body.password), request.address)
        removed = passkeys.remove(request.app, actor, passkey_id(body.id), proof_in(request, body))
    except HostingError as error:
        return show_page(request, refusal=error)
    log.info("passkey removed", user=request.user.id)
    notice = "passkey-removed" if removed.is_factor_left else "passkey-last-removed"
    return redirect_to(ADDRESS, notice, removed.name)
