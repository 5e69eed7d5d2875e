"""Turns templates into pages."""

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from holdfast import __version__
from holdfast.hosting.store import sessions
from holdfast.hosting.store.accounts import Account
from holdfast.secret import Secret

__all__ = ["Pages", "current_user", "not_found"]


class Pages:
    """The templates; a name that a template misspells is an error, not an empty place."""

    def __init__(self) -> None:
        self._environment = Environment(
            loader=PackageLoader("holdfast.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters["number"] = lambda value: f"{value:,}"

    def render(
        self, template: str, *, user: Account | None, title: str, status: int = 200, **values: object
    ) -> HTMLResponse:
        """Make a page; `user` is whoever is looking at it."""
        text = self._environment.get_template(template).render(
            user=user, title=title, version=__version__, **values
        )
        return HTMLResponse(text, status, headers={"Cache-Control": "private, no-cache"})


def current_user(request: Request) -> Account | None:
    """Return whoever is logged in in this browser."""
    token = request.cookies.get(sessions.COOKIE)
    return None if token is None else sessions.user_of(request.app.state.database, Secret(token))


async def not_found(request: Request, _error: Exception) -> Response:
    """Answer for an address nothing lives at: a page for people, a plain line below `/api`."""
    if request.url.path.startswith("/api/"):
        return PlainTextResponse("Not found.\n", 404)
    pages: Pages = request.app.state.pages
    return pages.render("not_found.html", user=current_user(request), title="Not found", status=404)
