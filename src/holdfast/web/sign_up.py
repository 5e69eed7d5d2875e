"""Sign-up, if enabled in the settings."""

from functools import partial

import msgspec
import structlog

from holdfast.hosting.errors import AlreadyExists, HashingBusy, Refused
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import users
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.error_messages import message_for
from holdfast.web.login import BUSY, LARGEST_FORM, logged_in
from holdfast.web.pages import page, redirect_to

__all__ = ["show_sign_up", "sign_up"]

log = structlog.get_logger(__name__)


@redacted
class SignUpForm(msgspec.Struct, frozen=True):
    """The sign-up form."""

    name: str = ""
    email: str = ""
    password: str = ""


def sign_up_enabled(request: RequestContext) -> None:
    """Guard: raise a 404 error unless sign-up is enabled in the settings."""
    if not request.app.settings.sign_up:
        raise ApiError(404)


def form_page(
    request: RequestContext, *, name: str = "", email: str = "", problem: str = "", status: int = 200
) -> RawResponse:
    """Render the form with the typed values and an error."""
    typed = {"name": name, "email": email, "problem": problem}
    return page(request, "sign_up.html", title="Sign up", status=status, typed=typed)


@endpoint("GET /sign-up", guards=(sign_up_enabled,))
def show_sign_up(request: RequestContext) -> RawResponse:
    """Show the form."""
    return redirect_to("/") if request.actor.user is not None else form_page(request)


@endpoint("POST /sign-up", guards=(sign_up_enabled,), anonymous=True, largest_body=LARGEST_FORM)
def sign_up(request: RequestContext, body: SignUpForm) -> RawResponse:
    """Create an account and log in."""
    name, email = body.name.strip(), body.email.strip()
    return RawResponse(b"", then=partial(create_account, request, name, email, Secret(body.password)))


async def create_account(request: RequestContext, name: str, email: str, password: Secret) -> RawResponse:
    """Create the account in the thread pool for password hashing, and log it in."""
    create = partial(users.sign_up, request.app, name, email, password)
    try:
        user = await request.app.password_pool.run(request.address, create)
    except HashingBusy as error:
        busy = form_page(request, name=name, email=email, problem=BUSY, status=503)
        busy.headers["Retry-After"] = str(error.seconds)
        return busy
    except (Refused, AlreadyExists) as error:
        return form_page(request, name=name, email=email, problem=message_for(error), status=422)
    log.info("signed up", user=user.id)
    return await logged_in(request, user)
