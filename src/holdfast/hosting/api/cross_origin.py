"""Cross-origin resource sharing (CORS): which sites' scripts may use the API.

Starlette's middleware is not used: it rejects the preflight request of an unknown origin with 400; clients expect
204.
"""

from collections.abc import Awaitable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hosting.http.application import METHODS

__all__ = ["CrossOrigin"]

ANY: Final = b"*"
ALLOWED_HEADERS: Final = (
    b"Authorization, Content-Type, Accept, Sudo, X-Gitea-OTP, X-Request-Id, If-Match, If-None-Match, Range, "
    b"Idempotency-Key"
)
PREFLIGHT: Final = (
    (b"access-control-allow-methods", METHODS.encode()),
    (b"access-control-allow-headers", ALLOWED_HEADERS),
    (b"access-control-max-age", b"3600"),
)


class CrossOrigin:
    """CORS middleware: lets scripts of the origins in a comma-separated list read responses, without cookies."""

    def __init__(self, app: ASGIApp, origins: str) -> None:
        self._app = app
        self._origins = frozenset(origin.strip().encode() for origin in origins.split(","))

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        for name, value in scope["headers"]:
            if name == b"origin" and (ANY in self._origins or value in self._origins):
                return self._app(scope, receive, self._allow(scope, value, send))
        return self._app(scope, receive, send)

    def _allow(self, scope: Scope, origin: bytes, send: Send) -> Send:
        """Add the headers that allow an origin to the response."""
        allowed = [(b"access-control-allow-origin", ANY if ANY in self._origins else origin)]
        if ANY not in self._origins:
            allowed.append((b"vary", b"Origin"))
        if scope["method"] == "OPTIONS":
            allowed.extend(PREFLIGHT)

        async def send_allowed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *allowed]
            await send(message)

        return send_allowed
