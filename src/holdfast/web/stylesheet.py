"""The stylesheet: concatenated from its parts, with a content hash in its URL for caching."""

import hashlib
from importlib import resources
from typing import Final

from holdfast.hosting.http.endpoints import RawResponse, endpoint
from holdfast.hosting.request_context import RequestContext

__all__ = ["ADDRESS", "show_stylesheet", "stylesheet_response"]

# The first defines the colours and shapes that the others use.
FIRST: Final = "base.css"


def concatenated() -> bytes:
    """Concatenate the parts, `base.css` first and the others by name."""
    parts = [part for part in (resources.files("holdfast.web") / "style").iterdir() if part.name.endswith(".css")]
    parts.sort(key=lambda part: (part.name != FIRST, part.name))
    # Messages have the same style in an export.
    bubbles = resources.files("holdfast.backup.exports.html") / "static" / "chat.css"
    return b"".join(part.read_bytes() for part in (parts[0], bubbles, *parts[1:]))


CONTENT: Final = concatenated()
ADDRESS: Final = f"/static/{hashlib.sha256(CONTENT).hexdigest()[:12]}.css"


def stylesheet_response() -> RawResponse:
    """Return the stylesheet with an immutable `Cache-Control`: its URL changes with its content."""
    headers = {"Cache-Control": "public, max-age=31536000, immutable"}
    return RawResponse(CONTENT, "text/css; charset=utf-8", headers=headers)


@endpoint(f"GET {ADDRESS}", anonymous=True)
def show_stylesheet(request: RequestContext) -> RawResponse:  # noqa: ARG001  # called like every handler
    """Return the stylesheet."""
    return stylesheet_response()
