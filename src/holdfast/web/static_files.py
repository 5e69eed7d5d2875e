"""The scripts and images of pages, served by Starlette; a missing file has the page that any path has."""

from importlib import resources
from pathlib import Path
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from holdfast.web.pages import PAGES

__all__ = ["PREFIX", "StaticAssets"]

PREFIX: Final = "/static"


class StaticAssets(StaticFiles):
    """The files in the folder `static`."""

    def __init__(self) -> None:
        super().__init__(directory=Path(str(resources.files("holdfast.web") / "static")))

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or the page for an address that nothing has."""
        try:
            return await super().get_response(path, scope)
        except HTTPException as error:
            return PAGES.render("not_found.html", user=None, title="Not found", status=error.status_code)
