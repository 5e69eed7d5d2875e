"""The scripts and images of pages, served by Starlette; a missing file gets the usual 404 page."""

import gzip
import re
from importlib import resources
from os import PathLike
from pathlib import Path
from typing import Final

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
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
            return PAGES.render(
                "not_found.html", user=None, title="Not found", status=error.status_code, repository=""
            )

    async def _bundled(self, path: str, scope: Scope) -> Response:
        """Return a bundled script: large ones are stored compressed, and decompressed for clients without gzip."""
        try:
            response = await super().get_response(f"{path}.gz", scope)
        except HTTPException as error:
            if error.status_code != 404:
                raise
            response = await super().get_response(path, scope)
        else:
            if accepts_gzip(scope):
                response.headers["Content-Encoding"] = "gzip"
            elif isinstance(response, FileResponse):
                response = Response(await to_thread.run_sync(decompress, response.path))
        response.headers.update(BUNDLE_HEADERS)
        return response


def decompress(path: str | PathLike[str]) -> bytes:
    """Return the content of a file that is compressed with gzip."""
    return gzip.decompress(Path(path).read_bytes())
