"""Sends webhooks: a small HTTP client that connects only to addresses it has looked at.

Names are resolved here, every address found is judged, and the connection is made to a judged address itself: a
name that points elsewhere a moment later gains nothing by it. Each redirect goes through the same. TLS is checked
against the name. With a proxy, the proxy resolves names and has to judge them.
"""

import asyncio
import ipaddress
import os
import re
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from holdfast import __version__
from holdfast.hosting.errors import DeliveryFailed, UrlRefused
from holdfast.hosting.webhooks.addresses import Address, Allowed
from holdfast.hosting.webhooks.connection import Answer, Exchange
from holdfast.hosting.webhooks.proxies import Proxy
from holdfast.hosting.webhooks.urls import UrlParts
from holdfast.hosting.webhooks.webhook_request import WebhookRequest

__all__ = ["Resolver", "WebhookClient"]

REDIRECTS: Final = 5
IDLE_SECONDS: Final = 15.0
IDLE_PER_ORIGIN: Final = 64
# What belongs to the receiver a hook names and to nobody it may redirect to.
PRIVATE_HEADERS: Final = frozenset({"authorization", "cookie"})
CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")

Origin = tuple[str, str, int]
Resolver = Callable[[str, int], Awaitable[list[Address]]]


class WebhookClient:
    """Sends requests and returns answers; `resolve` finds a host's addresses.

    One client belongs to one event loop.
    """

    def __init__(
        self,
        allowed: Allowed,
        *,
        timeout: float,
        verify_tls: bool = True,
        proxy: Proxy | None = None,
        resolve: Resolver | None = None,
        lookups: int = 32,
    ) -> None:
        self._allowed = allowed
        self._timeout = timeout
        self._proxy = proxy
        self._tls = tls_context(verify=verify_tls)
        # Threads of its own: names that nobody answers for must not keep others from being found.
        self._threads = ThreadPoolExecutor(lookups, thread_name_prefix="names")
        self._resolve = resolve or self._look_up
        self._idle: dict[Origin, list[tuple[float, Exchange]]] = {}

    async def send(self, outgoing: WebhookRequest) -> Answer:
        """Send a request, follow where it is redirected to, and return the last answer."""
        target = UrlParts.parse(outgoing.url)
        headers = dict(outgoing.headers)
        if target.credentials and not any(name.lower() == "authorization" for name in headers):
            headers["Authorization"] = target.credentials
        check_headers(headers)
        current: list[Exchange] = []
        try:
            async with asyncio.timeout(self._timeout):
                return await self._follow(target, outgoing.method, headers, outgoing.body, current)
        except TimeoutError:
            waited = f"it took longer than {self._timeout:g} seconds"
            # Who has said what came of it has been told, even when they never stop talking.
            answer = current[-1].so_far(f"{waited}; the rest was not read") if current else None
            if answer is not None and not is_redirect(answer):
                return answer
            raise DeliveryFailed(f"{waited}; the setting webhook_timeout allows more") from None

    async def close(self) -> None:
        """End every connection."""
        for kept in self._idle.values():
            for _, exchange in kept:
                exchange.close()
        self._idle.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _follow(
        self, target: UrlParts, method: str, headers: dict[str, str], body: bytes, current: list[Exchange]
    ) -> Answer:
        for _ in range(REDIRECTS + 1):
            answer = await self._ask(target, method, headers, body, current)
            if not is_redirect(answer):
                return answer
            found = target.redirected(answer.header("location"))
            if answer.status in {301, 302, 303} and method not in {"GET", "HEAD"}:
                method, body = "GET", b""
                headers = {name: value for name, value in headers.items() if not is_about_body(name)}
            if found.origin != target.origin:
                headers = {name: value for name, value in headers.items() if not is_private(name)}
            target = found
        raise DeliveryFailed(f"it redirects more than {REDIRECTS} times")

    async def _ask(
        self, target: UrlParts, method: str, headers: Mapping[str, str], body: bytes, current: list[Exchange]
    ) -> Answer:
        """Send one request to one place, over a connection that is open already where there is one."""
        via = self._proxy if self._proxy is not None and self._proxy.serves(target.host) else None
        request = written(target, method, headers, body, via)
        kept = self._take(target.origin)
        if kept is not None:
            current.append(kept)
            try:
                return await self._asked(kept, target.origin, request)
            except DeliveryFailed:
                # Where nothing came back it was closed for being idle, while the request was on its way.
                if kept.has_heard:
                    raise
        exchange = await self._connect(target, via)
        current.append(exchange)
        return await self._asked(exchange, target.origin, request)

    async def _asked(self, exchange: Exchange, origin: Origin, request: bytes) -> Answer:
        answer = await exchange.ask(request)
        if exchange.is_open:
            kept = self._idle.setdefault(origin, [])
            if len(kept) < IDLE_PER_ORIGIN:
                kept.append((time.monotonic(), exchange))
            else:
                exchange.close()
        return answer

    def _take(self, origin: Origin) -> Exchange | None:
        """Return a connection that is open and not used, the one used last first."""
        self._drop_old()
        kept = self._idle.get(origin, [])
        while kept:
            _, exchange = kept.pop()
            if exchange.is_open:
                return exchange
        return None

    def _drop_old(self) -> None:
        oldest = time.monotonic() - IDLE_SECONDS
        for origin, kept in list(self._idle.items()):
            while kept and kept[0][0] < oldest:
                kept.pop(0)[1].close()
            if not kept:
                del self._idle[origin]

    async def _connect(self, target: UrlParts, via: Proxy | None) -> Exchange:
        loop = asyncio.get_running_loop()
        context = self._tls if target.scheme == "https" else None
        if via is not None:
            return await via.connect(target, context)
        found = await self._resolve(target.host, target.port)
        addresses = self._allowed.choose(target.host, found)
        deadline = loop.time() + self._timeout
        problem = ""
        for number, address in enumerate(addresses):
            share = (deadline - loop.time()) / (len(addresses) - number)
            try:
                async with asyncio.timeout(share):
                    return await connect_to(address, target, context)
            except TimeoutError:
                problem = f"{address} port {target.port} does not answer"
            except OSError as error:
                problem = f"{address} port {target.port}: {reason(error)}"
        raise DeliveryFailed(f"no connection: {problem}")

    async def _look_up(self, host: str, port: int) -> list[Address]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, look_up, host, port)
        except (OSError, UnicodeError) as error:
            raise DeliveryFailed(f"the host {host} cannot be found: {reason(error)}") from None
        return found


def look_up(host: str, port: int) -> list[Address]:
    """Ask the system for a host's addresses, each once."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(str(address[0])) for *_, address in found))


async def connect_to(address: Address, target: UrlParts, context: ssl.SSLContext | None) -> Exchange:
    """Open a connection to an address that has been judged, and to no other."""
    loop = asyncio.get_running_loop()
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    # With a number instead of a name nothing is looked up any more.
    found = socket.getaddrinfo(
        str(address), target.port, family=family, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
    )
    end = socket.socket(family, socket.SOCK_STREAM)
    try:
        end.setblocking(False)
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await loop.sock_connect(end, found[0][4])
        name = target.host if context is not None else None
        _, exchange = await loop.create_connection(Exchange, sock=end, ssl=context, server_hostname=name)
    except BaseException:
        end.close()
        raise
    return exchange


def tls_context(*, verify: bool) -> ssl.SSLContext:
    """Make what TLS connections are opened with."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def written(target: UrlParts, method: str, headers: Mapping[str, str], body: bytes, via: Proxy | None) -> bytes:
    """Write a request as it goes over the wire."""
    plain_proxy = via is not None and target.scheme == "http"
    lines = [
        f"{method} {target.url if plain_proxy else target.path} HTTP/1.1",
        f"Host: {target.authority}",
        f"User-Agent: Holdfast/{__version__}",
        "Accept: */*",
        "Accept-Encoding: identity",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    if plain_proxy and via is not None and via.authorization:
        lines.append(f"Proxy-Authorization: {via.authorization}")
    if body or method not in {"GET", "HEAD"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse headers that would end before they end."""
    for name, value in headers.items():
        if not NAME.fullmatch(name) or CONTROL.search(value):
            raise UrlRefused(f"the header {name[:40]!r} has a sign in it that no header can have")


def is_redirect(answer: Answer) -> bool:
    """Tell whether an answer says that another place is to be asked."""
    return answer.status in {301, 302, 303, 307, 308} and bool(answer.header("location"))


def is_about_body(name: str) -> bool:
    """Tell whether a header describes what is sent."""
    return name.lower().startswith("content-")


def is_private(name: str) -> bool:
    """Tell whether a header is meant for nobody but the receiver a hook names."""
    lower = name.lower()
    return lower in PRIVATE_HEADERS or "signature" in lower


def reason(error: BaseException) -> str:
    """Say in a few words why a connection failed."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate does not count: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed: {error.reason or error}"
    if isinstance(error, ConnectionResetError):
        return "the connection was cut off"
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
