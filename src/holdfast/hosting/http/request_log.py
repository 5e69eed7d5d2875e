"""Gives every request an id, counts it, and logs it in one line without its query, which may hold a token."""

import os
import re
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast import logs
from holdfast.hosting import metrics

__all__ = ["RequestLog"]

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
        given = next(iter([value for name, value in scope["headers"] if name == b"x-request-id"]), b"")
        request_id = given.decode() if given and GIVEN.fullmatch(given) else os.urandom(8).hex()
        scope["holdfast.request"] = request_id
        started = time.perf_counter()
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        token = logs.REQUEST.set(request_id)
        try:
            await self.app(scope, receive, answer)
        finally:
            logs.REQUEST.reset(token)
            seconds = time.perf_counter() - started
            metrics.count_request(scope["method"], route_of(scope), status, seconds)
            ms = round(seconds * 1000, 1)
            logs.request_line(scope["method"], scope["path"], status, ms, request_id)


def route_of(scope: Scope) -> str:
    """Return the pattern a request matched: the API says so itself, the pages' routes by what Starlette notes."""
    route = scope.get("holdfast.route")
    if route is None:
        route = getattr(scope.get("route"), "path", "none")
    return str(route)
