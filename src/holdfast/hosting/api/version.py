"""`GET /version`: the first thing every client asks."""

from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from holdfast import __version__
from holdfast.hosting.api.answer import JSON

__all__ = ["ServerVersion", "show_version"]

# Clients switch features on by the version of the API they know; ours follows as build metadata.
API_VERSION: Final = "1.27.2"


class ServerVersion(msgspec.Struct, frozen=True):
    """The version of the API, and after the plus sign the version of the server."""

    version: str


async def show_version(_request: Request) -> Response:
    """Tell the version; anybody may ask."""
    return JSON(ServerVersion(f"{API_VERSION}+holdfast-{__version__}"))
