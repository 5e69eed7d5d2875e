"""Takes a client's address and scheme from the `X-Forwarded` headers of trusted proxies.

Uvicorn has such a middleware, but it passes on any text in the header as the address, which is the key of rate
limits. Here only a valid IP address is accepted.
"""

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.client_address import TrustedProxies

__all__ = ["ForwardedHeaders"]

SCHEMES: Final = {b"http": "http", b"https": "https"}


class ForwardedHeaders:
    """Middleware that sets the address and the scheme of the client on requests from trusted proxies."""

    def __init__(self, app: ASGIApp, trusted_proxies: str) -> None:
        self._app = app
        self._proxies = TrustedProxies(trusted_proxies)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a coroutine function, by which uvicorn recognizes ASGI 3."""
        if scope["type"] == "http":
            client = scope.get("client")
            if client is not None and self._proxies.trusts(client[0]):
                self._take_over(scope)
        await self._app(scope, receive, send)

    def _take_over(self, scope: Scope) -> None:
        values: list[bytes] = []
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                values.append(value)
            elif name == b"x-forwarded-proto":
                scope["scheme"] = SCHEMES.get(value.strip().lower(), scope["scheme"])
        if values:
            found = self._proxies.client_of(values)
            if found is not None:
                scope["client"] = (str(found), 0)
