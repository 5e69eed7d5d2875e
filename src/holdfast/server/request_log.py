"""Request ids, metrics, traces, access log and error responses, in one middleware.

The log line excludes the query, which may contain a token. It is a single middleware because each one that wraps
`send` costs a call per message.
"""

import os
import re
import time
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast import logs
from holdfast.hosting import metrics, traces
from holdfast.hosting.app import App
from holdfast.web.error_middleware import log_aborted, respond_to_error

__all__ = ["RequestLog"]

GIVEN: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")


class RequestLog:
    """Middleware; the id is taken from a valid `X-Request-Id`, and returned in the response."""

    def __init__(self, app: ASGIApp, host: App) -> None:
        self.app = app
        self._host = host

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        client_id = next(iter([value for name, value in scope["headers"] if name == b"x-request-id"]), b"")
        request_id = client_id.decode() if client_id and GIVEN.fullmatch(client_id) else os.urandom(8).hex()
        scope["holdfast.request"] = request_id
        began = time.perf_counter()
        # None until the response has begun.
        status: int | None = None

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request_id.encode())]
            await send(message)

        token = logs.REQUEST.set(request_id)
        with traces.start_request(scope["method"], scope["headers"]) as span:
            try:
                await self.app(scope, receive, send_with_id)
            except Exception as error:  # noqa: BLE001  # the outermost handler, which returns an error response
                if status is None:
                    await respond_to_error(self._host, error, scope, receive, send_with_id)
                else:
                    # The server closes the connection, so that the client sees a truncated response.
                    log_aborted(error)
            finally:
                logs.REQUEST.reset(token)
                seconds = time.perf_counter() - began
                status = status or 500
                route = route_of(scope)
                span.end_request(route, status, request_id)
                metrics.count_request(scope["method"], route, status, seconds)
                ms = round(seconds * 1000, 1)
                logs.request_line(scope["method"], scope["path"], status, ms, request_id)


def route_of(scope: Scope) -> str:
    """Return the matched route pattern, set by the API or by Starlette."""
    route = scope.get("holdfast.route")
    if route is None:
        route = getattr(scope.get("route"), "path", "none")
    return str(route)
