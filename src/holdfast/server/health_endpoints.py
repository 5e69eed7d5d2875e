"""Health and metrics endpoints: liveness, readiness and Prometheus metrics."""

import hmac
import ipaddress
import sqlite3
import time
from collections.abc import Awaitable, Mapping
from datetime import UTC, datetime
from typing import Final

import anyio
from anyio import to_thread
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.hosting import metrics
from holdfast.hosting.app import App
from holdfast.hosting.errors import DatabaseError
from holdfast.hosting.services import health

__all__ = ["HealthEndpoints"]

# Results are cached for this long, since a check writes a file.
FRESH_SECONDS: Final = 1.0
CHECK_TIMEOUT_SECONDS: Final = 5.0
PATHS: Final = frozenset({"/healthz", "/readyz", "/metrics", "/api/healthz"})
CHECKS: Final = ("database", "migrations", "data")
FORWARDED: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")


class HealthEndpoints:
    """Middleware that serves health checks and metrics, without authentication and logging.

    `/api/healthz` has the same result as `/readyz`, in the format that clients of Gitea read.
    """

    def __init__(self, inner: ASGIApp, app: App) -> None:
        self._inner = inner
        self._app = app
        self._problems: dict[str, str] = {}
        self._asked = -FRESH_SECONDS

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Serve one request."""
        if scope["type"] == "http" and scope["path"] in PATHS:
            return self._respond(scope, receive, send)
        return self._inner(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(scope)
        response.headers["Cache-Control"] = "no-store"
        await response(scope, receive, send)

    async def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in {"GET", "HEAD"}:
            return PlainTextResponse("Method not allowed.\n", 405, {"Allow": "GET, HEAD"})
        if scope["path"] == "/healthz":
            return PlainTextResponse("ok\n")
        if scope["path"] == "/readyz":
            problems = await self._check_health()
            return JSONResponse({"ready": not problems, "problems": problems}, 503 if problems else 200)
        if scope["path"] == "/api/healthz":
            return gitea_health(await self._check_health())
        if not self._may_measure(scope):
            return PlainTextResponse("The metrics are shown to this machine, or for the metrics token.\n", 403)
        return Response(await to_thread.run_sync(self._measure), media_type=metrics.CONTENT_TYPE)

    def _measure(self) -> bytes:
        """Return the metrics; also without a database."""
        try:
            gauges = health.gauges(self._app)
        except (SQLAlchemyError, DatabaseError, sqlite3.Error):
            gauges = ()
        return metrics.exposition(gauges)

    async def _check_health(self) -> dict[str, str]:
        """Run the health checks; a database that times out is a problem."""
        if time.monotonic() - self._asked >= FRESH_SECONDS:
            self._problems = {"database": "does not answer"}
            with anyio.move_on_after(CHECK_TIMEOUT_SECONDS):
                self._problems = await to_thread.run_sync(health.problems, self._app, abandon_on_cancel=True)
            self._asked = time.monotonic()
        return self._problems

    def _may_measure(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        token = self._app.settings.metrics_token
        if token is not None:
            bearer = headers.get("authorization", "").removeprefix("Bearer ")
            return hmac.compare_digest(bearer.encode(), token.reveal().encode())
        # Requests forwarded by a local proxy have a local address too.
        if any(name in headers for name in FORWARDED) or scope.get("client") is None:
            return False
        try:
            return ipaddress.ip_address(scope["client"][0]).is_loopback
        except ValueError:
            return False


def gitea_health(problems: Mapping[str, str]) -> JSONResponse:
    """Return the result of the health checks in Gitea's format: `pass` or `fail`, in total and for each check."""
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    checks: dict[str, list[dict[str, str]]] = {}
    for name in CHECKS:
        problem = problems.get(name)
        checks[name] = [
            {"status": "pass", "time": now}
            if problem is None
            else {"status": "fail", "time": now, "output": problem}
        ]
    status = "fail" if problems else "pass"
    body = {"status": status, "description": "Holdfast", "checks": checks}
    return JSONResponse(body, 503 if problems else 200)
