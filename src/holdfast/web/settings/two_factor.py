"""Two-factor authentication of the user who is signed in: the app, recovery codes, and the list of passkeys."""

from typing import Final
from urllib.parse import urlsplit

import msgspec
import segno
import structlog
from markupsafe import Markup

from holdfast.hosting.errors import HostingError, PasskeysUnavailable
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.relying_party import RelyingParty
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import passkeys, passwords, two_factor
from holdfast.hosting.services.two_factor import Enrolment, PasskeyProof
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.error_messages import message_for
from holdfast.web.pages import redirect_to
from holdfast.web.settings.account import require_session
from holdfast.web.settings.settings_layout import ACCOUNT, in_account

__all__ = [
    "ADDRESS",
    "LARGEST_FORM",
    "TwoFactorForm",
    "begin_two_factor",
    "confirm_two_factor",
    "disable_two_factor",
    "passkey_problem",
    "proof_in",
    "replace_codes_page",
    "show_page",
    "show_two_factor",
]

log = structlog.get_logger(__name__)
ADDRESS: Final = f"{ACCOUNT}/two-factor"
LARGEST_FORM: Final = 64 * 1024
GROUP: Final = 4


@redacted
class TwoFactorForm(msgspec.Struct, frozen=True):
    """The password, and a code or the response of a passkey; forms have some of these fields."""

    password: str = ""
    code: str = ""
    credential: str = ""


def show_page(
    request: RequestContext,
    *,
    refusal: HostingError | None = None,
    enrolment: Enrolment | None = None,
    codes: list[Secret] | None = None,
) -> RawResponse:
    """Render the page, with a secret to confirm or new recovery codes, which are shown once."""
    response = in_account(
        request,
        "settings/two_factor.html",
        at="Two-factor authentication",
        title="Two-factor authentication",
        refusal=refusal,
        second_factor=two_factor.status_of(request.app, request.user),
        passkeys=passkeys.list_passkeys(request.app, request.actor),
        most_passkeys=passkeys.MOST,
        longest_name=passkeys.LONGEST_NAME,
        passkey_problem=passkey_problem(request),
        address=ADDRESS,
        secret="" if enrolment is None else grouped(enrolment.secret, " "),
        qr_code="" if enrolment is None else qr_code(enrolment.uri),
        codes=[grouped(code.reveal(), "-") for code in codes or ()],
    )
    response.headers["Cache-Control"] = "no-store"
    return response


def passkey_problem(request: RequestContext) -> str:
    """Return why passkeys cannot be used with the URL of the service; empty if they can."""
    try:
        RelyingParty.at(request.root)
    except PasskeysUnavailable as error:
        return message_for(error)
    return ""


def proof_in(request: RequestContext, form: TwoFactorForm) -> Secret | PasskeyProof:
    """Return the second factor in a form: the response of a passkey, else the code."""
    if not form.credential:
        return Secret(form.code)
    return PasskeyProof(RelyingParty.at(request.root), form.credential, request.address)


def grouped(text: str, between: str) -> str:
    """Return a secret in groups of letters, which are easier to read and type."""
    return between.join(text[start : start + GROUP] for start in range(0, len(text), GROUP))


def qr_code(uri: str) -> Markup:
    """Return a QR code as SVG, dark on light in both themes, as scanners expect."""
    drawn = segno.make(uri, error="m", micro=False).svg_inline(
        border=4, dark="#000", light="#fff", svgclass="qr-code", lineclass=None, title="QR code", omitsize=True
    )
    return Markup(drawn)  # noqa: S704  # made here, of squares


def host_of(request: RequestContext) -> str:
    """Return the host name of the service, which the app shows beside the name of the user."""
    return urlsplit(request.root).hostname or ""


@endpoint(f"GET {ADDRESS}", scope="user", guards=(require_session,), slow=True)
def show_two_factor(request: RequestContext) -> RawResponse:
    """Show whether two-factor authentication is enabled."""
    return show_page(request)


@endpoint(f"POST {ADDRESS}", scope="user", guards=(require_session,), largest_body=LARGEST_FORM)
def begin_two_factor(request: RequestContext, body: TwoFactorForm) -> RawResponse:
    """Show a new secret after a correct password; the app becomes a second factor once a code has confirmed it."""
    try:
        actor = passwords.confirm(request.app, request.actor, Secret(body.password), request.address)
        return show_page(request, enrolment=two_factor.begin(request.app, actor, host_of(request)))
    except HostingError as error:
        return show_page(request, refusal=error)


@endpoint(f"POST {ADDRESS}/confirm", scope="user", guards=(require_session,), largest_body=LARGEST_FORM)
def confirm_two_factor(request: RequestContext, body: TwoFactorForm) -> RawResponse:
    """Add the authenticator app with its first code, and show the recovery codes if there were none."""
    try:
        codes = two_factor.confirm(request.app, request.actor, Secret(body.code))
    except HostingError as error:
        pending = two_factor.enrolment_of(request.app, request.actor, host_of(request))
        return show_page(request, refusal=error, enrolment=pending)
    log.info("authenticator app added", user=request.user.id)
    return show_page(request, codes=codes) if codes else redirect_to(ADDRESS, "authenticator-app-added")


@endpoint(f"POST {ADDRESS}/codes", scope="user", guards=(require_session,), largest_body=LARGEST_FORM)
def replace_codes_page(request: RequestContext, body: TwoFactorForm) -> RawResponse:
    """Replace the recovery codes, and show the new ones."""
    try:
        actor = passwords.confirm(request.app, request.actor, Secret(body.password), request.address)
        codes = two_factor.replace_recovery_codes(request.app, actor, proof_in(request, body))
    except HostingError as error:
        return show_page(request, refusal=error)
    return show_page(request, codes=codes)


@endpoint(f"POST {ADDRESS}/disable", scope="user", guards=(require_session,), largest_body=LARGEST_FORM)
def disable_two_factor(request: RequestContext, body: TwoFactorForm) -> RawResponse:
    """Remove the authenticator app, which disables two-factor authentication if there is no passkey."""
    try:
        actor = passwords.confirm(request.app, request.actor, Secret(body.password), request.address)
        is_factor_left = two_factor.disable(request.app, actor, proof_in(request, body))
    except HostingError as error:
        return show_page(request, refusal=error)
    log.info("authenticator app removed", user=request.user.id)
    return redirect_to(ADDRESS, "authenticator-app-removed" if is_factor_left else "two-factor-disabled")
