"""What every page is protected by: no foreign script, no framing, no form sent from another site."""

from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["POLICY", "SecurityHeaders"]

POLICY: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; img-src 'self' data:; media-src 'self'; font-src 'self'; "
        "script-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
}
HEADERS: Final = {
    **POLICY,
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def from_elsewhere(headers: Headers) -> bool:
    """Tell whether a browser says that another site made it send this request.

    Browsers say so in `Sec-Fetch-Site`, older ones in `Origin`. A client that sends neither is no browser, and
    holds no cookie that another site could use.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site not in {"same-origin", "none"}
    origin = headers.get("origin")
    return origin is not None and host_of(origin) != headers.get("host")


def host_of(origin: str) -> str | None:
    """Return the host and port an origin names; None when it is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


class SecurityHeaders:
    """Middleware: refuses cross-site writes and adds the protective headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    given.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        if scope["method"] not in SAFE and not scope["path"].startswith("/api/") and from_elsewhere(headers):
            refusal = PlainTextResponse("This form was sent from another site, so nothing was done.\n", 403)
            await refusal(scope, receive, answer)
            return
        await self.app(scope, receive, answer)
