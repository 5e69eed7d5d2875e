"""The scripts and images of pages, served by Starlette; a missing file has the page that any path has."""

import re
from importlib import resources
from pathlib import Path
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from holdfast.hosting.http.responses import accepts_gzip
from holdfast.web.bundles import FOLDER
from holdfast.web.pages import PAGES

__all__ = ["PREFIX", "StaticAssets"]

PREFIX: Final = "/static"
# Named after the hash of its content by the build.
BUNDLED: Final = re.compile(rf"{FOLDER}/[\w-]+-[A-Z0-9]{{8}}\.js")
BUNDLE_HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Type": "text/javascript; charset=utf-8",
    # The frame of diagrams has an origin of its own, which nothing else may know of.
    "Access-Control-Allow-Origin": "*",
    "Vary": "Accept-Encoding",
}


class StaticAssets(StaticFiles):
    """The files in the folder `static`."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(directory=folder or Path(str(resources.files("holdfast.web") / "static")))

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or the page for an address that nothing has."""
        try:
            if BUNDLED.fullmatch(path):
                return await self._bundled(path, scope)
            return await super().get_response(path, scope)
        except HTTPException as error:
            return PAGES.render("not_found.html", user=None, title="Not found", status=error.status_code)

    async def _bundled(self, path: str, scope: Scope) -> Response:
        """Return a bundled script, compressed by the build if the client accepts that."""
        response = await self._compressed(path, scope) if accepts_gzip(scope) else None
        # A small script has no compressed copy.
        response = response or await super().get_response(path, scope)
        MutableHeaders(raw=response.raw_headers).update(BUNDLE_HEADERS)
        return response

    async def _compressed(self, path: str, scope: Scope) -> Response | None:
        """Return the copy of a script that was compressed by the build; None if there is none."""
        try:
            response = await super().get_response(f"{path}.gz", scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            return None
        MutableHeaders(raw=response.raw_headers)["Content-Encoding"] = "gzip"
        return response
