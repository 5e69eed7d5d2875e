"""The last place that turns an error into an answer: what the API, git over HTTP and the pages have let pass."""

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hosting.app import App
from holdfast.hosting.http.errors import ApiError, refusal_for
from holdfast.hosting.http.failures import explain, log_fault
from holdfast.web.api_actions import problem_with
from holdfast.web.pages import PAGES

__all__ = ["ErrorMiddleware", "answer_fault"]

log = structlog.get_logger(__name__)


class ErrorMiddleware:
    """Middleware: answers requests whose handler failed, and cuts off answers that cannot be finished."""

    def __init__(self, inner: ASGIApp, app: App) -> None:
        self._inner = inner
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        started = False

        async def answer(message: Message) -> None:
            nonlocal started
            started = started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._inner(scope, receive, answer)
        except Exception as error:
            if started:
                # A status was sent already. The server closes the connection, so that the client sees an answer
                # that is cut off rather than one that ends.
                log_cut_off(error)
                return
            refusal = await explain(self._app, error)
            if refusal is None:
                log.exception("a request failed")
                refusal = ApiError(500, f"internal error; request {scope.get('holdfast.request', '')}")
            await respond(Request(scope), refusal)(scope, receive, send)


async def answer_fault(request: Request, error: Exception) -> Response:
    """Answer for an error of the database or the disk, or of the host; one that is a bug goes on."""
    refusal = refusal_for(error)
    if refusal is None:
        raise error
    log_fault(error, refusal.status)
    return respond(request, refusal)


def respond(request: Request, refusal: ApiError) -> Response:
    """Say no: with a page for people, in JSON below `/api`, and in plain text otherwise."""
    if request.url.path.startswith("/api/"):
        body = {"message": refusal.message, "url": f"{request.base_url}api/swagger"}
        return JSONResponse(body, refusal.status, refusal.headers)
    if "text/html" in request.headers.get("accept", ""):
        page = PAGES.render(
            "unavailable.html",
            user=None,
            title="Not available" if refusal.status in {503, 507} else "That did not work",
            status=refusal.status,
            problem=problem_with(refusal),
        )
        page.headers.update(refusal.headers)
        return page
    return PlainTextResponse(refusal.message + "\n", refusal.status, refusal.headers)


def log_cut_off(error: Exception) -> None:
    """Log that an answer ended too early; only a bug gets its place in the code."""
    refusal = refusal_for(error)
    if refusal is None and not isinstance(error, OSError):
        log.error("an answer was cut off", exc_info=error)
    else:
        log.warning("an answer was cut off", error=type(error).__name__)
