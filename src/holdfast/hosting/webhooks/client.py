"""The HTTP client of webhooks: redirects, timeout, and the recorded part of a response.

Addresses are checked at connect time, for each redirect as for the first request. With a proxy, the proxy resolves
names and has to check addresses. The status line decides the result: after status 200 the delivery counts as
received, even if the body is truncated or never ends.
"""

import asyncio
import ssl
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.errors import AddressRefused, DeliveryFailed, UrlRefused
from holdfast.hosting.store.globs import compile_glob
from holdfast.hosting.webhooks.addresses import AllowedHosts, refusal
from holdfast.hosting.webhooks.webhook_request import WebhookRequest
from holdfast.http_client.client import HttpClient, HttpProxy, HttpResponse, tls_context
from holdfast.http_client.connector import Resolve
from holdfast.http_client.errors import AddressNotAllowed, HttpClientError, InvalidRequest, ProtocolError
from holdfast.http_client.requests import HttpRequest, redirected
from holdfast.http_client.urls import HttpUrl

__all__ = ["KEPT_BYTES", "WebhookClient", "WebhookResponse", "proxy_for"]

MOST_REDIRECTS: Final = 5
KEPT_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class WebhookResponse:
    """The recorded part of a response."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    """The first 64 KB."""
    cut: str = ""
    """Why the body is incomplete; empty if it is complete."""

    def header(self, name: str) -> str:
        """Return a header by its lower-case name; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")


@dataclass(slots=True)
class PartialResponse:
    """A response while it is being read."""

    response: HttpResponse | None = None
    body: bytes = b""

    def kept(self, cut: str = "") -> WebhookResponse | None:
        """Return the recorded part; None before the response head was received, and for a redirect."""
        if self.response is None or self.response.is_redirect:
            return None
        return WebhookResponse(self.response.status, self.response.headers, self.body[:KEPT_BYTES], cut)


class WebhookClient:
    """Sends webhook requests; bound to one event loop. `timeout` is for the whole exchange, with redirects."""

    def __init__(
        self,
        allowed: AllowedHosts,
        *,
        timeout: float,
        verify_tls: bool = True,
        tls: ssl.SSLContext | None = None,
        proxy: HttpProxy | None = None,
        resolve: Resolve | None = None,
        resolver_threads: int = 32,
    ) -> None:
        self._timeout = timeout
        self.proxy = proxy
        self._client = HttpClient(
            policy=allowed.allows,
            proxy=proxy,
            tls=tls or tls_context(verify=verify_tls),
            resolve=resolve,
            resolver_threads=resolver_threads,
        )

    async def send(self, outgoing: WebhookRequest) -> WebhookResponse:
        """Send a request, follow redirects and return the last response; raise `DeliveryFailed`."""
        partial = PartialResponse()
        try:
            request = HttpRequest(outgoing.method, HttpUrl.parse(outgoing.url), outgoing.headers, outgoing.body)
            async with asyncio.timeout(self._timeout):
                return await self._follow(request, partial)
        except TimeoutError:
            waited = f"it took longer than {self._timeout:g} seconds"
            webhook_response = partial.kept(f"{waited}; the rest was not read")
            if webhook_response is None:
                raise DeliveryFailed(f"{waited}; the setting webhook_timeout allows more") from None
            return webhook_response
        except AddressNotAllowed as error:
            raise AddressRefused(refusal(error.host, error.addresses)) from None
        except InvalidRequest as error:
            raise UrlRefused(str(error)) from None
        except HttpClientError as error:
            raise DeliveryFailed(str(error)) from error
        finally:
            if partial.response is not None:
                partial.response.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.close()

    async def _follow(self, request: HttpRequest, partial: PartialResponse) -> WebhookResponse:
        for _ in range(MOST_REDIRECTS + 1):
            partial.response = response = await self._client.send(request)
            cut = await read_start(partial, response)
            webhook_response = partial.kept(cut)
            if webhook_response is not None:
                if not cut:
                    partial.response = None  # read completely, so the connection is idle again
                return webhook_response
            request = redirected(request, response.status, response.header("location"))
            response.close()
            partial.response, partial.body = None, b""
        raise DeliveryFailed(f"it redirects more than {MOST_REDIRECTS} times")


async def read_start(partial: PartialResponse, response: HttpResponse) -> str:
    """Read the recorded part of the body; return why it is incomplete, or an empty string."""
    try:
        while not response.is_read:
            partial.body += await response.read(KEPT_BYTES + 1 - len(partial.body))
            if len(partial.body) > KEPT_BYTES:
                return "the answer is larger than 64 KB; the rest was not read"
    except ProtocolError as error:
        return str(error)
    return ""


def proxy_for(url: str, hosts: str) -> HttpProxy:
    """Return the proxy of the settings `webhook_proxy_url` and `webhook_proxy_hosts`; by default for all hosts."""
    patterns = [compile_glob(part.strip().lower()) for part in hosts.split(",") if part.strip()]
    return HttpProxy(
        HttpUrl.parse(url), lambda host: not patterns or any(pattern.matches(host) for pattern in patterns)
    )
