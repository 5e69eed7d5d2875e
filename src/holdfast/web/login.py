"""Logging in and out in a browser."""

from functools import partial
from typing import Final
from urllib.parse import urlencode

import msgspec
import structlog
from anyio import to_thread

from holdfast.hosting.errors import AccountClosed, HashingBusy, TooManyGuesses
from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext
from holdfast.hosting.services import passwords, pending_logins, sessions, two_factor
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.sessions import COOKIE
from holdfast.redacted_repr import redacted
from holdfast.secret import Secret
from holdfast.web.chats.host_pages import COOKIE as KEY_COOKIE
from holdfast.web.chats.host_pages import forget_keys
from holdfast.web.pages import local_path, page, redirect_to
from holdfast.web.settings.two_factor import passkey_problem

__all__ = [
    "BUSY",
    "CLOSED",
    "LARGEST_FORM",
    "SECOND_PAGE",
    "SECOND_STEP_COOKIE",
    "LoginQuery",
    "log_in",
    "log_out",
    "logged_in",
    "refuse",
    "show_login",
]

log = structlog.get_logger(__name__)
TOGETHER: Final = "Incorrect username or password."
BUSY: Final = "The server is busy. Try again in a moment."
# More than a name, an e-mail address and a password of the maximum length take in any encoding.
LARGEST_FORM: Final = 2**16
# The cookie between the password and the second factor, and the page of the second factor.
SECOND_STEP_COOKIE: Final = "holdfast_second_step"
SECOND_PAGE: Final = "/login/two-factor"
CLOSED: Final = "This account is disabled. Contact your site administrator."


class LoginQuery(msgspec.Struct, frozen=True):
    """Where to go after logging in."""

    next: str = ""


@redacted
class LoginForm(msgspec.Struct, frozen=True):
    """The log-in form."""

    name: str = ""
    password: str = ""
    next: str = ""


@endpoint("GET /login")
def show_login(request: RequestContext, query: LoginQuery) -> RawResponse:
    """Show the log-in form; a user who is logged in already is redirected."""
    wanted = local_path(query.next)
    if request.actor.user is not None:
        return redirect_to(wanted)
    return login_page(request, typed="", wanted=wanted)


@endpoint("POST /login", anonymous=True, largest_body=LARGEST_FORM)
def log_in(request: RequestContext, body: LoginForm) -> RawResponse:
    """Log in with a name or an e-mail address and a password."""
    return RawResponse(b"", then=partial(check_login, request, body))


async def check_login(request: RequestContext, body: LoginForm) -> RawResponse:
    """Log in; an unknown name and a wrong password get the same response in the same time."""
    app = request.app
    wanted = local_path(body.next)
    typed = body.name if len(body.name) <= passwords.LONGEST else ""
    user = None
    if typed and body.password:
        password, address = Secret(body.password), request.address
        try:
            name = await to_thread.run_sync(passwords.account_name, app.database, typed)
            await to_thread.run_sync(passwords.check_limit, app.database, app.settings, name, address)
            user = await app.password_pool.run(
                address, passwords.check, app.database, app.settings, name, password, address
            )
        except TooManyGuesses as error:
            minutes = -(-error.seconds // 60)
            problem = f"Too many wrong passwords. Try again in {minutes} minute{'s' if minutes > 1 else ''}."
            return refuse(request, (typed, wanted), problem, 429, {"Retry-After": str(error.seconds)})
        except HashingBusy as error:
            return refuse(request, (typed, wanted), BUSY, 503, {"Retry-After": str(error.seconds)})
    if user is None:
        return refuse(request, (typed, wanted), TOGETHER, 401)
    try:
        if await to_thread.run_sync(two_factor.is_enabled, app, user):
            return await second_step(request, user, wanted)
        return await logged_in(request, user, wanted)
    except AccountClosed:
        return refuse(request, (typed, wanted), CLOSED, 403)


async def second_step(request: RequestContext, user: Account, wanted: str) -> RawResponse:
    """Redirect a user with a second factor to the page that asks for a code."""
    token = await to_thread.run_sync(pending_logins.create, request.app, user)
    response = redirect_to(SECOND_PAGE if wanted == "/" else f"{SECOND_PAGE}?{urlencode({'next': wanted})}")
    response.set_cookie(
        SECOND_STEP_COOKIE,
        token.reveal(),
        max_age=pending_logins.LIFETIME,
        path=SECOND_PAGE,
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


async def logged_in(request: RequestContext, user: Account, wanted: str = "/") -> RawResponse:
    """Start a session for a user and redirect."""
    start = partial(
        sessions.log_in,
        request.app,
        user,
        user_agent=request.headers.get("user-agent", ""),
        address=request.address,
    )
    token = await to_thread.run_sync(start)
    log.info("login", user=user.id)
    response = redirect_to(wanted)
    response.set_cookie(
        COOKIE,
        token.reveal(),
        max_age=request.app.settings.session_days * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


def login_page(
    request: RequestContext, *, typed: str, wanted: str, problem: str = "", status: int = 200
) -> RawResponse:
    """Show the log-in form."""
    return page(
        request,
        "login.html",
        title="Log in",
        status=status,
        problem=problem,
        typed=typed,
        wanted=wanted,
        sign_up=request.app.settings.sign_up,
        has_passkeys=not passkey_problem(request),
    )


def refuse(
    request: RequestContext,
    typed: tuple[str, str],
    problem: str,
    status: int,
    headers: dict[str, str] | None = None,
) -> RawResponse:
    """Show the form again with an error; `typed` is the typed name and the redirect target."""
    # The name is not logged: people type their password into the wrong field.
    log.warning("login refused", status=status)
    response = login_page(request, typed=typed[0], wanted=typed[1], problem=problem, status=status)
    response.headers.update(headers or {})
    return response


@endpoint("POST /logout", anonymous=True)
def log_out(request: RequestContext) -> RawResponse:
    """Log out: end the session, and delete its decrypted backups and cached pages."""
    token = request.cookies.get(COOKIE)
    if token is not None:
        sessions.log_out(request.app, Secret(token))
    response = redirect_to("/")
    response.headers["Clear-Site-Data"] = '"cache"'
    response.delete_cookie(COOKIE)
    if forget_keys(request.app.settings, request.cookies):
        response.delete_cookie(KEY_COOKIE, httponly=True, samesite="strict")
    return response
