"""The asynchronous HTTP client: aiohttp with the defaults of all requests Holdfast sends.

Addresses are checked at connect time, responses are limited in size and never decompressed, no cookie is stored
and no setting is read from the environment. Redirects are not followed here: `requests.redirected` builds the next
request, and the caller decides whether it is sent.
"""

import functools
import os
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from holdfast import __version__
from holdfast.http_client.connector import (
    AddressPolicy,
    ConnectAttempt,
    Resolve,
    ThreadResolver,
    current_attempt,
    new_connector,
)
from holdfast.http_client.errors import (
    AddressNotAllowed,
    ConnectError,
    HttpClientError,
    InvalidRequest,
    ProtocolError,
    ResponseTimeout,
)
from holdfast.http_client.requests import REDIRECT_STATUSES, HttpRequest, check_headers
from holdfast.http_client.urls import HttpUrl

__all__ = ["HttpClient", "HttpProxy", "HttpResponse", "tls_context"]

HEADER_BYTES: Final = 64 * 1024
MOST_HEADERS: Final = 256
LONGEST_REASON: Final = 120
CONTENT_TYPE: Final = ("Content-Type",)
DEFAULT_HEADERS: Final = {"User-Agent": f"Holdfast/{__version__}", "Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class HttpProxy:
    """An HTTP proxy and the hosts reached through it; the proxy decides which addresses those may have."""

    url: HttpUrl
    serves: Callable[[str], bool]


class HttpResponse:
    """A response whose head has been received; the body is read in chunks."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.status = response.status
        # Decoded as Latin-1, in which every byte is a character.
        self.headers = tuple(
            (name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers
        )

    def header(self, name: str) -> str:
        """Return a header by its name in lower case; empty if there is none."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def is_redirect(self) -> bool:
        """Whether the response is a redirect."""
        return self.status in REDIRECT_STATUSES and bool(self.header("location"))

    @property
    def is_read(self) -> bool:
        """Whether the body has been read to its end."""
        return self._response.content.at_eof()

    async def read(self, most: int) -> bytes:
        """Return up to `most` bytes of the body, empty at its end; raises `ProtocolError` if it is truncated."""
        try:
            return await self._response.content.read(most)
        except TimeoutError as error:
            raise ResponseTimeout("the server stopped sending") from error
        except (aiohttp.ClientError, OSError) as error:
            raise ProtocolError("the connection ended before the answer did") from error

    def close(self) -> None:
        """Close the connection, unless the body was read to its end and the connection is idle again."""
        self._response.close()


class HttpClient:
    """Sends requests over pooled connections; belongs to one event loop.

    `policy` decides which addresses may be connected to; it does not apply to a proxy, which the operator
    configured. `read_timeout` limits each wait for bytes; use `asyncio.timeout` to limit a whole exchange.
    """

    def __init__(
        self,
        *,
        policy: AddressPolicy | None = None,
        proxy: HttpProxy | None = None,
        tls: ssl.SSLContext | None = None,
        resolve: Resolve | None = None,
        read_timeout: float | None = None,
        keep_alive: bool = True,
        read_buffer: int = 64 * 1024,
        resolver_threads: int = 4,
    ) -> None:
        self._policy = policy
        self._proxy = proxy
        self._tls = tls or tls_context()
        self._resolver = ThreadResolver(resolve, threads=resolver_threads)
        self._keep_alive = keep_alive
        self._timeout = aiohttp.ClientTimeout(total=None, sock_connect=read_timeout, sock_read=read_timeout)
        self._read_buffer = read_buffer
        self._sessions: dict[bool, aiohttp.ClientSession] = {}

    async def send(self, request: HttpRequest) -> HttpResponse:
        """Send a request and return its response; an idle connection the server has closed is replaced.

        Raises `HttpClientError`. Credentials of the URL are sent unless a header has others.
        """
        # aiohttp's own type: any other mapping would be converted for each request.
        headers = CIMultiDict(DEFAULT_HEADERS)
        headers.update(request.headers)
        if request.url.credentials:
            headers.setdefault("Authorization", request.url.credentials)
        check_headers(headers)
        host = request.url.host
        proxy = self._proxy if self._proxy is not None and self._proxy.serves(host) else None
        session = self._session(proxied=proxy is not None)
        if proxy is not None and request.url.scheme == "http":
            headers.update(proxy_headers(proxy))
        while True:
            attempt = ConnectAttempt(host)
            current_attempt.set(attempt)
            try:
                response = await session.request(
                    request.method,
                    encoded_url(request.url),
                    headers=headers,
                    skip_auto_headers=None if "Content-Type" in headers else CONTENT_TYPE,
                    data=request.body,
                    allow_redirects=False,
                    proxy=None if proxy is None else encoded_url(proxy.url),
                    proxy_headers=None if proxy is None else proxy_headers(proxy),
                )
                return checked(response)
            except (aiohttp.ClientError, OSError, ValueError) as error:
                if not is_stale(error, attempt, request):
                    raise translated(error, attempt, request.url, proxied=proxy is not None) from error

    async def close(self) -> None:
        """Close every connection."""
        for session in self._sessions.values():
            await session.close()
        self._sessions.clear()
        await self._resolver.close()

    def _session(self, *, proxied: bool) -> aiohttp.ClientSession:
        """Return the session for direct or for proxied requests, created in the running event loop."""
        session = self._sessions.get(proxied)
        if session is None:
            connector = new_connector(
                None if proxied else self._policy, self._resolver, keep_alive=self._keep_alive, tls=self._tls
            )
            session = self._sessions[proxied] = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._timeout,
                auto_decompress=False,
                read_bufsize=self._read_buffer,
                max_headers=MOST_HEADERS,
            )
        return session


@functools.cache
def tls_context(*, verify: bool = True) -> ssl.SSLContext:
    """Return the TLS context of the client: the system's certificates, with host name verification."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


@functools.lru_cache(maxsize=1024)
def encoded_url(url: HttpUrl) -> URL:
    """Return a URL as aiohttp's type; cached, since webhooks repeat the same URLs."""
    return URL(url.url, encoded=True)


def proxy_headers(proxy: HttpProxy) -> dict[str, str]:
    """Return the headers that are sent to the proxy only."""
    return {"Proxy-Authorization": proxy.url.credentials} if proxy.url.credentials else {}


def checked(response: aiohttp.ClientResponse) -> HttpResponse:
    """Raise `ProtocolError` for a response that changes the protocol, or whose headers are too large."""
    if response.status == 101:
        response.close()
        raise ProtocolError("it answered with another protocol than HTTP")
    if sum(len(name) + len(value) for name, value in response.raw_headers) > HEADER_BYTES:
        response.close()
        raise ProtocolError("the headers of its answer are larger than 64 KB")
    return HttpResponse(response)


def is_stale(error: Exception, attempt: ConnectAttempt, request: HttpRequest) -> bool:
    """Return whether the server closed a reused idle connection, so that the request can be retried."""
    return (
        isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError)
        and not isinstance(error, aiohttp.ClientConnectorError)
        and not attempt.tried
        and (request.body is None or isinstance(request.body, bytes))
    )


def translated(error: Exception, attempt: ConnectAttempt, url: HttpUrl, *, proxied: bool) -> HttpClientError:
    """Translate an error of aiohttp."""
    through = "through the proxy: " if proxied else ""
    match error:
        case _ if attempt.refused and not attempt.tried:
            return AddressNotAllowed(attempt.host, attempt.refused)
        case aiohttp.ClientConnectorDNSError():
            return ConnectError(f"the host {url.host} cannot be found: {reason(error.os_error)}")
        case aiohttp.ClientProxyConnectionError():
            return ConnectError(f"no connection to the proxy: {reason(error.os_error)}")
        case aiohttp.ClientHttpProxyError():
            return ConnectError(f"the proxy does not let us through: it answered {error.status}")
        case aiohttp.ClientConnectorCertificateError():
            return ConnectError(f"no connection: {through}{at(attempt, url)}{reason(error.certificate_error)}")
        case aiohttp.ClientConnectorError():
            return ConnectError(f"no connection: {through}{at(attempt, url)}{reason(error.os_error)}")
        case aiohttp.InvalidURL() | ValueError():
            return InvalidRequest(f"the request cannot be sent: {type(error).__name__}")
        case aiohttp.ConnectionTimeoutError():
            return ConnectError(f"no connection: {through}{at(attempt, url)}it does not answer")
        case TimeoutError():
            return ResponseTimeout("it does not answer")
        case aiohttp.ServerDisconnectedError():
            return ProtocolError(f"{through}it closed the connection without an answer")
        case aiohttp.ClientResponseError():
            return ProtocolError(f"{through}its answer is not HTTP: {first_line(error.message)}")
        case OSError():
            return ProtocolError(f"{through}{reason(error)}")
    return ProtocolError(f"{through}its answer is not HTTP: {type(error).__name__}")


def at(attempt: ConnectAttempt, url: HttpUrl) -> str:
    """Return the address that was connected to last."""
    return f"{attempt.tried[-1]} port {url.port}: " if attempt.tried else ""


def first_line(message: str) -> str:
    """Return the parser's message without the lines that quote the response."""
    return message.strip().partition("\n")[0].rstrip(": ")[:LONGEST_REASON]


def reason(error: BaseException) -> str:
    """Describe a connection error briefly."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate does not count: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    if isinstance(error, ConnectionResetError):
        return "the connection was cut off"
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
