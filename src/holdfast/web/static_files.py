"""The scripts and images of pages, served by Starlette; a missing file gets the usual 404 page."""

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
# The build puts the content hash into the name.
BUNDLED: Final = re.compile(rf"{FOLDER}/[\w-]+-[A-Z0-9]{{8}}\.js")
BUNDLE_HEADERS: Final = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Type": "text/javascript; charset=utf-8",
    # The iframe of diagrams has an opaque origin, so its script is a cross-origin request.
    "Access-Control-Allow-Origin": "*",
    "Vary": "Accept-Encoding",
}


class StaticAssets(StaticFiles):
    """The files in the folder `static`."""

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(directory=folder or Path(str(resources.files("holdfast.web") / "static")))

    async def get_response(self, path: str, scope: Scope) -> Response:
        """Return a file, or the 404 page."""
        try:
            if BUNDLED.fullmatch(path):
                return await self._bundled(path, scope)
            return await super().get_response(path, scope)
        except HTTPException as error:
            return PAGES.render("not_found.html", user=None, title="Not found", status=error.status_code)

    async def _bundled(self, path: str, scope: Scope) -> Response:
        """Return a bundled script, precompressed if the client accepts the encoding."""
        response = await self._compressed(path, scope) if accepts_gzip(scope) else None
        # A small script has no compressed copy.
        response = response or await super().get_response(path, scope)
        MutableHeaders(raw=response.raw_headers).update(BUNDLE_HEADERS)
        return response

    async def _compressed(self, path: str, scope: Scope) -> Response | None:
        """Return the precompressed copy of a script; None if there is none."""
        try:
            response = await super().get_response(f"{path}.gz", scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            return None
        MutableHeaders(raw=response.raw_headers)["Content-Encoding"] = "gzip"
        return response
