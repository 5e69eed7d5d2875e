"""Responses to errors that the API, git over HTTP and the pages did not handle."""

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from holdfast.hosting.app import App
from holdfast.hosting.error_responses import refusal_for
from holdfast.hosting.failures import error_response
from holdfast.hosting.http.errors import ApiError
from holdfast.web.error_messages import message_for
from holdfast.web.pages import PAGES

__all__ = ["log_aborted", "respond_to_error"]

log = structlog.get_logger(__name__)


async def respond_to_error(app: App, error: Exception, scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to a request whose handler failed before its response began."""
    refusal = await error_response(app, error)
    if refusal is None:
        log.error("internal server error", exc_info=error)
        refusal = ApiError(500, f"internal error; request {scope.get('holdfast.request', '')}")
    await respond(Request(scope), refusal)(scope, receive, send)


def respond(request: Request, refusal: ApiError) -> Response:
    """Return an error response: JSON below `/api`, HTML if accepted, else plain text."""
    if request.url.path.startswith("/api/"):
        body = {"message": refusal.message, "url": f"{request.base_url}api/swagger"}
        return JSONResponse(body, refusal.status, refusal.headers)
    if "text/html" in request.headers.get("accept", ""):
        page = PAGES.render(
            "unavailable.html",
            user=None,
            title="Not available" if refusal.status in {503, 507} else "Something went wrong",
            status=refusal.status,
            problem=message_for(refusal),
        )
        page.headers.update(refusal.headers)
        return page
    return PlainTextResponse(refusal.message + "\n", refusal.status, refusal.headers)


def log_aborted(error: Exception) -> None:
    """Log that a response was aborted; with a traceback only for bugs."""
    refusal = refusal_for(error)
    if refusal is None and not isinstance(error, OSError):
        log.error("response aborted", exc_info=error)
    else:
        log.warning("response aborted", error=type(error).__name__)
