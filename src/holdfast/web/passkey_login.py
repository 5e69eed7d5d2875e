"""Logging in with a passkey: without a password, and as the second factor after it."""

from functools import partial
from typing import Final

import msgspec
from anyio import to_thread

from holdfast.hosting.errors import AccountClosed, HostingError, TooManyGuesses
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.relying_party import RelyingParty
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import passkey_authentication
from holdfast.hosting.services.passkey_authentication import ChallengePurpose
from holdfast.hosting.store.accounts import Account
from holdfast.redacted_repr import redacted
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.login import CLOSED, SECOND_PAGE, logged_in, refuse
from holdfast.web.pages import local_path
from holdfast.web.second_factor import complete_login, pending_login_user
from holdfast.web.settings.passkeys import LARGEST_RESPONSE, options_error, options_response

__all__ = ["check_passkey", "check_second_passkey", "login_options", "second_factor_options"]

PAGE: Final = "/login/passkey"
SECOND: Final = f"{SECOND_PAGE}/passkey"
SIGN_IN_AGAIN: Final = "Enter your password again."
STATUS_OF_REFUSED: Final = 401


@redacted
class PasskeyForm(msgspec.Struct, frozen=True):
    """The response of a passkey as JSON, and where to go after logging in."""

    credential: str = ""
    next: str = ""


@endpoint(f"POST {PAGE}/options", anonymous=True, largest_body=LARGEST_RESPONSE)
def login_options(request: RequestContext) -> RawResponse:
    """Return the WebAuthn options that request a passkey of any user."""
    return make_options(request, ChallengePurpose.LOGIN, None)


@endpoint(f"POST {SECOND}/options", anonymous=True, largest_body=LARGEST_RESPONSE)
def second_factor_options(request: RequestContext) -> RawResponse:
    """Return the WebAuthn options that request a passkey of the user who entered their password."""
    user = pending_login_user(request)
    if user is None:
        raise ApiError(STATUS_OF_REFUSED, SIGN_IN_AGAIN)
    return make_options(request, ChallengePurpose.SECOND_FACTOR, user)


def make_options(request: RequestContext, purpose: ChallengePurpose, user: Account | None) -> RawResponse:
    """Return the WebAuthn options for a purpose, with a new challenge."""
    try:
        party = RelyingParty.at(request.root)
        options = passkey_authentication.request_options(request.app, party, purpose, user, request.address)
    except HostingError as error:
        raise options_error(error) from error
    return options_response(options)


@endpoint(f"POST {PAGE}", anonymous=True, largest_body=LARGEST_RESPONSE)
def check_passkey(request: RequestContext, body: PasskeyForm) -> RawResponse:
    """Log in with a passkey alone."""
    return RawResponse(b"", then=partial(check_login_passkey, request, body))


async def check_login_passkey(request: RequestContext, body: PasskeyForm) -> RawResponse:
    """Verify the passkey, and start a session of its user."""
    wanted = local_path(body.next)
    try:
        user = await to_thread.run_sync(verify, request, ChallengePurpose.LOGIN, body.credential, None)
        return await logged_in(request, user, wanted)
    except AccountClosed:
        return refuse(request, ("", wanted), CLOSED, 403)
    except HostingError as error:
        status = status_for(error)
        headers = {"Retry-After": str(error.seconds)} if isinstance(error, TooManyGuesses) else None
        status = STATUS_OF_REFUSED if status == 403 else status
        return refuse(request, ("", wanted), message_for(error), status, headers)


@endpoint(f"POST {SECOND}", anonymous=True, largest_body=LARGEST_RESPONSE)
def check_second_passkey(request: RequestContext, body: PasskeyForm) -> RawResponse:
    """Log in with a passkey, after the password."""
    check = partial(verify, request, ChallengePurpose.SECOND_FACTOR, body.credential)
    return RawResponse(b"", then=partial(complete_login, request, local_path(body.next), check))


def verify(request: RequestContext, purpose: ChallengePurpose, credential: str, user: Account | None) -> Account:
    """Verify the response of a passkey; return its user."""
    party = RelyingParty.at(request.root)
    return passkey_authentication.verify(request.app, party, purpose, user, credential, address=request.address)
