"""Security headers of pages, and the check of forms against cross-site request forgery."""

from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.hosting.http.cross_site import is_cross_site

__all__ = ["POLICY", "POLICY_WITH_FRAMES", "SecurityHeaders"]

POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; "
        "script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
}
# Frames: PDFs in the browser's viewer, and diagrams in a sandboxed page. No page of the site can be framed.
POLICY_WITH_FRAMES: Final = {"Content-Security-Policy": f"{POLICY['Content-Security-Policy']}; frame-src 'self'"}
HEADERS: Final = {
    **POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


class SecurityHeaders:
    """Middleware: rejects cross-site writes (CSRF) and adds the security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        is_form = scope["method"] not in SAFE and not scope["path"].startswith("/api/")
        if is_form and is_cross_site(Headers(scope=scope)):
            refusal = PlainTextResponse("This form was sent from another site, so nothing was done.\n", 403)
            await refusal(scope, receive, answer)
            return
        await self.app(scope, receive, answer)
