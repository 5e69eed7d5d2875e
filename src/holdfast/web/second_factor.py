"""The second page of logging in: a passkey, the code of the authenticator app, or a recovery code."""

from collections.abc import Callable
from functools import partial
from typing import Final
from urllib.parse import urlencode

import msgspec
import structlog
from anyio import to_thread

from holdfast.hosting.errors import AccountClosed, HostingError, TooManyGuesses
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import pending_logins, two_factor
from holdfast.hosting.store.accounts import Account
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.error_messages import message_for, status_for
from holdfast.web.login import (
    CLOSED,
    LARGEST_FORM,
    SECOND_PAGE,
    SECOND_STEP_COOKIE,
    LoginQuery,
    logged_in,
)
from holdfast.web.pages import local_path, page, redirect_to
from holdfast.web.settings.two_factor import passkey_problem

__all__ = ["check_second_factor", "complete_login", "first_page", "pending_login_user", "show_second_factor"]

log = structlog.get_logger(__name__)
STATUS_OF_WRONG_CODE: Final = 401


@redacted
class CodeForm(msgspec.Struct, frozen=True):
    """The code, and where to go after logging in."""

    code: str = ""
    next: str = ""


@endpoint(f"GET {SECOND_PAGE}", anonymous=True, slow=True)
def show_second_factor(request: RequestContext, query: LoginQuery) -> RawResponse:
    """Show the forms of the second factor; without a password step, redirect to the log-in page."""
    wanted = local_path(query.next)
    user = pending_login_user(request)
    if user is None:
        return redirect_to(first_page(wanted))
    return code_page(request, user, wanted)


@endpoint(f"POST {SECOND_PAGE}", anonymous=True, largest_body=LARGEST_FORM)
def check_second_factor(request: RequestContext, body: CodeForm) -> RawResponse:
    """Log in with a code, after the password."""
    return RawResponse(b"", then=partial(check_login_code, request, body))


async def check_login_code(request: RequestContext, body: CodeForm) -> RawResponse:
    """Check the code, and start a session."""
    code = Secret(body.code)
    return await complete_login(
        request, local_path(body.next), lambda user: two_factor.check(request.app, user, code)
    )


async def complete_login(request: RequestContext, wanted: str, check: Callable[[Account], object]) -> RawResponse:
    """Start a session of the user who entered their password, if the check of their second factor succeeds."""
    user = await to_thread.run_sync(pending_login_user, request)
    if user is None:
        return redirect_to(first_page(wanted))
    try:
        await to_thread.run_sync(check, user)
        response = await logged_in(request, user, wanted)
    except AccountClosed:
        return await refuse_factor(request, user, wanted, CLOSED, 403)
    except TooManyGuesses as error:
        response = await refuse_factor(request, user, wanted, message_for(error), 429)
        response.headers["Retry-After"] = str(error.seconds)
        return response
    except HostingError as error:
        status = status_for(error)
        return await refuse_factor(
            request, user, wanted, message_for(error), STATUS_OF_WRONG_CODE if status == 403 else status
        )
    response.delete_cookie(SECOND_STEP_COOKIE, path=SECOND_PAGE, httponly=True, samesite="strict")
    return response


def pending_login_user(request: RequestContext) -> Account | None:
    """Return the user of the unexpired cookie of the password step; None if there is none."""
    cookie = request.cookies.get(SECOND_STEP_COOKIE)
    return None if cookie is None else pending_logins.user_of(request.app, Secret(cookie))


def first_page(wanted: str) -> str:
    """Return the URL of the log-in page."""
    return "/login" if wanted == "/" else f"/login?{urlencode({'next': wanted})}"


async def refuse_factor(
    request: RequestContext, user: Account, wanted: str, problem: str, status: int
) -> RawResponse:
    """Show the forms again with an error."""
    log.warning("second factor refused", status=status)
    show = partial(code_page, request, user, wanted, problem=problem, status=status)
    return await to_thread.run_sync(show)


def code_page(
    request: RequestContext, user: Account, wanted: str, *, problem: str = "", status: int = 200
) -> RawResponse:
    """Show the forms of the second factors that the user has."""
    return page(
        request,
        "second_factor.html",
        title="Two-factor authentication",
        status=status,
        problem=problem,
        wanted=wanted,
        address=SECOND_PAGE,
        factor=two_factor.status_of(request.app, user),
        has_passkeys=not passkey_problem(request),
    )
