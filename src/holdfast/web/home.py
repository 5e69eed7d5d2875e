"""The first page: what this is, and the chat backups in the data folder."""

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from holdfast.web.pages import Pages, current_user
from holdfast.web.shelf import Book, look

__all__ = ["show"]


async def show(request: Request) -> Response:
    """Show the home page; the shelf of backups is for the administrator, whose data folder it is."""
    user = current_user(request)
    pages: Pages = request.app.state.pages
    shelf: list[Book] = []
    if user is not None and user.is_admin:
        shelf = await to_thread.run_sync(look, request.app.state.settings.data / "backups")
    return pages.render("home.html", user=user, title="Holdfast", shelf=shelf)
