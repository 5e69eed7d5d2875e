"""Logging in and out in a browser."""

from typing import Final

import structlog
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from holdfast.hosting.store import accounts, sessions
from holdfast.secret import Secret
from holdfast.web.pages import COOKIE, Pages, current_user

__all__ = ["leave", "show", "submit"]

log = structlog.get_logger(__name__)
# Longer input is no name or password of anybody's; it is not worth hashing.
LONGEST: Final = 1024


async def show(request: Request) -> Response:
    """Show the form."""
    if current_user(request) is not None:
        return RedirectResponse("/", 303)
    pages: Pages = request.app.state.pages
    return pages.render("login.html", user=None, title="Log in", problem="", typed="")


async def submit(request: Request) -> Response:
    """Check what was typed; a wrong name and a wrong password get the same answer in the same time."""
    async with request.form(max_files=0, max_fields=8, max_part_size=LONGEST * 8) as form:
        name, password = form.get("name"), form.get("password")
    state = request.app.state
    pages: Pages = state.pages
    user = None
    typed = name if isinstance(name, str) and len(name) <= LONGEST else ""
    if typed and isinstance(password, str) and len(password) <= LONGEST:
        # Hashing takes tens of milliseconds; other requests go on meanwhile.
        user = await to_thread.run_sync(accounts.check_password, state.database, typed, Secret(password))
    if user is None:
        # The name is not logged: people type their password into the wrong field.
        log.warning("login refused")
        problem = "That name and password do not belong together."
        return pages.render("login.html", user=None, title="Log in", problem=problem, typed=typed, status=401)
    days = state.settings.session_days
    token = sessions.start_session(state.database, user, days=days)
    log.info("login", user=user.id)
    response = RedirectResponse("/", 303)
    response.set_cookie(
        COOKIE,
        token.reveal(),
        max_age=days * 86_400,
        httponly=True,
        samesite="lax",
        secure=request.url.scheme == "https",
    )
    return response


async def leave(request: Request) -> Response:
    """Log this browser out."""
    token = request.cookies.get(COOKIE)
    if token is not None:
        sessions.end_session(request.app.state.database, Secret(token))
    response = RedirectResponse("/", 303)
    response.delete_cookie(COOKIE)
    return response
