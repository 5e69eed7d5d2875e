"""Making one's own account, where the settings let people."""

from functools import partial

import structlog
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from holdfast.hosting.errors import HashingBusy, Refused, Taken
from holdfast.hosting.services import passwords, users
from holdfast.secret import Secret
from holdfast.web.error_messages import message_for
from holdfast.web.login import BUSY, logged_in
from holdfast.web.pages import PAGES, current_user, not_found

__all__ = ["show", "submit"]

log = structlog.get_logger(__name__)


def form(*, name: str = "", email: str = "", problem: str = "", status: int = 200) -> Response:
    """Show the form, with what was typed and what is wrong with it."""
    typed = {"name": name, "email": email, "problem": problem}
    return PAGES.render("sign_up.html", user=None, title="Sign up", status=status, typed=typed)


async def show(request: Request) -> Response:
    """Show the form; where nobody may sign up, there is no such page."""
    if not request.app.state.settings.sign_up:
        return await not_found(request, LookupError())
    return RedirectResponse("/", 303) if current_user(request) is not None else form()


async def submit(request: Request) -> Response:
    """Make the account and log it in."""
    state = request.app.state
    if not state.settings.sign_up:
        return await not_found(request, LookupError())
    async with request.form(max_files=0, max_fields=8, max_part_size=passwords.LONGEST * 8) as sent:
        given = {
            name: value if isinstance(value := sent.get(name), str) else ""
            for name in ("name", "email", "password")
        }
    name, email = given["name"].strip(), given["email"].strip()
    create = partial(users.sign_up, state.host, name, email, Secret(given["password"]))
    try:
        user = await state.password_pool.run(request.client.host if request.client else "", create)
    except HashingBusy as error:
        busy = form(name=name, email=email, problem=BUSY, status=503)
        busy.headers["Retry-After"] = str(error.seconds)
        return busy
    except (Refused, Taken) as error:
        return form(name=name, email=email, problem=message_for(error), status=422)
    log.info("signed up", user=user.id)
    return await logged_in(request, user)
