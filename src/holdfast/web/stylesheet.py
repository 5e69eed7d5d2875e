"""The stylesheet: concatenated from its parts, with a content hash in its URL for caching."""

import hashlib
from importlib import resources
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["ADDRESS", "show"]

# The first decides colours and shapes for the others.
FIRST: Final = "base.css"


def whole() -> bytes:
    """Put the parts together, the first one first and the others by name."""
    parts = [part for part in (resources.files("holdfast.web") / "style").iterdir() if part.name.endswith(".css")]
    parts.sort(key=lambda part: (part.name != FIRST, part.name))
    # Messages look the same in an export and here.
    bubbles = resources.files("holdfast.backup.exports.html") / "static" / "chat.css"
    return b"".join(part.read_bytes() for part in (parts[0], bubbles, *parts[1:]))


CONTENT: Final = whole()
ADDRESS: Final = f"/static/{hashlib.sha256(CONTENT).hexdigest()[:12]}.css"


async def show(_request: Request) -> Response:
    """Serve it; its address changes with it."""
    return Response(
        CONTENT, media_type="text/css", headers={"Cache-Control": "public, max-age=31536000, immutable"}
    )
