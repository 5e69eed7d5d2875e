"""Gives every request an id, and logs it in one line without its query, which may hold a token."""

import re
import secrets
import time
from typing import Final

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["RequestLog"]

log = structlog.get_logger(__name__)
GIVEN: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestLog:
    """Middleware: the id comes from `X-Request-Id` when that is harmless, and goes back in the answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"")
        request_id = given.decode() if GIVEN.fullmatch(given) else secrets.token_hex(8)
        started = time.perf_counter()
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        with structlog.contextvars.bound_contextvars(request=request_id):
            try:
                await self.app(scope, receive, answer)
            finally:
                log.info(
                    "request",
                    method=scope["method"],
                    path=scope["path"],
                    status=status,
                    ms=round((time.perf_counter() - started) * 1000, 1),
                )
