"""Logging in and out in a browser."""

from functools import partial
from typing import Final

import structlog
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from holdfast.hosting.errors import AccountClosed, HashingBusy, TooManyGuesses
from holdfast.hosting.services import passwords, sessions
from holdfast.hosting.store.accounts import Account
from holdfast.hosting.store.sessions import COOKIE
from holdfast.secret import Secret
from holdfast.web.chats.host_pages import COOKIE as KEY_COOKIE
from holdfast.web.chats.host_pages import forget_keys
from holdfast.web.pages import PAGES, current_user, local_path

__all__ = ["BUSY", "leave", "logged_in", "show", "submit"]

log = structlog.get_logger(__name__)
TOGETHER: Final = "That name and password do not belong together."
BUSY: Final = "Too many people are logging in right now. Try again in a moment."
CLOSED: Final = "This account may not log in at the moment. Ask whoever looks after this service."


async def show(request: Request) -> Response:
    """Show the form."""
    wanted = local_path(request.query_params.get("next"))
    if current_user(request) is not None:
        return RedirectResponse(wanted, 303)
    sign_up = request.app.state.settings.sign_up
    return PAGES.render(
        "login.html", user=None, title="Log in", problem="", typed="", wanted=wanted, sign_up=sign_up
    )


async def submit(request: Request) -> Response:
    """Check what was typed; a wrong name and a wrong password get the same answer in the same time."""
    async with request.form(max_files=0, max_fields=8, max_part_size=passwords.LONGEST * 8) as form:
        name, password, then = form.get("name"), form.get("password"), form.get("next")
    wanted = local_path(then if isinstance(then, str) else None)
    state = request.app.state
    typed = name if isinstance(name, str) and len(name) <= passwords.LONGEST else ""
    user = None
    if typed and isinstance(password, str):
        address = request.client.host if request.client else ""
        try:
            await to_thread.run_sync(passwords.check_limit, state.database, state.settings, typed, address)
            user = await state.password_pool.run(
                address, passwords.check, state.database, state.settings, typed, Secret(password), address
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
        return await logged_in(request, user, wanted)
    except AccountClosed:
        return refuse(request, (typed, wanted), CLOSED, 403)


async def logged_in(request: Request, user: Account, wanted: str = "/") -> Response:
    """Log somebody in on this browser and send them where they wanted to go."""
    state = request.app.state
    start = partial(
        sessions.log_in,
        state.host,
        user,
        user_agent=request.headers.get("user-agent", ""),
        address=request.client.host if request.client else "",
    )
    token = await to_thread.run_sync(start)
    log.info("login", user=user.id)
    response = RedirectResponse(wanted, 303)
    response.set_cookie(
        COOKIE,
        token.reveal(),
        max_age=state.settings.session_days * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


def refuse(
    request: Request, given: tuple[str, str], problem: str, status: int, headers: dict[str, str] | None = None
) -> Response:
    """Show the form again with what is wrong; `given` is the name that was typed, and where to go afterwards."""
    # The name is not logged: people type their password into the wrong field.
    log.warning("login refused", status=status)
    sign_up = request.app.state.settings.sign_up
    page = PAGES.render(
        "login.html",
        user=None,
        title="Log in",
        problem=problem,
        typed=given[0],
        wanted=given[1],
        status=status,
        sign_up=sign_up,
    )
    page.headers.update(headers or {})
    return page


async def leave(request: Request) -> Response:
    """Log this browser out; what it opened with keys is gone with it, and whatever it has kept of pages."""
    state = request.app.state
    token = request.cookies.get(COOKIE)
    if token is not None:
        await to_thread.run_sync(sessions.log_out, state.host, Secret(token))
    response = RedirectResponse("/", 303, {"Clear-Site-Data": '"cache"'})
    response.delete_cookie(COOKIE)
    if await to_thread.run_sync(forget_keys, state.settings, request.cookies):
        response.delete_cookie(KEY_COOKIE, httponly=True, samesite="strict")
    return response
