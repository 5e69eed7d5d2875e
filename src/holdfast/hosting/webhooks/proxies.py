"""Sends webhooks through a proxy, which then decides what may be reached."""

import asyncio
import re
import ssl
from dataclasses import dataclass
from typing import Final, Self

from holdfast.hosting.errors import DeliveryFailed
from holdfast.hosting.store.globs import Glob, compile_glob
from holdfast.hosting.webhooks.connection import Exchange
from holdfast.hosting.webhooks.urls import UrlParts
from holdfast.redacted_repr import redacted

__all__ = ["Proxy"]

HEADER_BYTES: Final = 64 * 1024


@redacted
@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy, and the hosts it is for; all of them when there is no pattern."""

    host: str
    port: int
    authorization: str
    hosts: tuple[Glob, ...]

    @classmethod
    def parse(cls, url: str, hosts: str) -> Self:
        """Read the settings `webhook_proxy_url` and `webhook_proxy_hosts`."""
        target = UrlParts.parse(url)
        patterns = tuple(compile_glob(part.strip().lower()) for part in hosts.split(",") if part.strip())
        return cls(target.host, target.port, target.credentials, patterns)

    def serves(self, host: str) -> bool:
        """Tell whether a host is reached through it."""
        return not self.hosts or any(pattern.matches(host) for pattern in self.hosts)

    async def connect(self, target: UrlParts, context: ssl.SSLContext | None) -> Exchange:
        """Open a connection; for https a tunnel to the receiver, whose certificate is checked by us."""
        loop = asyncio.get_running_loop()
        try:
            if context is None:
                _, exchange = await loop.create_connection(Exchange, self.host, self.port)
                return exchange
            transport, tunnel = await loop.create_connection(Tunnel, self.host, self.port)
        except OSError as error:
            raise DeliveryFailed(f"no connection to the proxy: {error.strerror or error}") from None
        try:
            await tunnel.open(transport, target, self.authorization)
            exchange = Exchange()
            secured = await loop.start_tls(transport, exchange, context, server_hostname=target.host)
        except OSError as error:
            transport.abort()
            words = getattr(error, "verify_message", "") or error.strerror or str(error)
            raise DeliveryFailed(f"no connection through the proxy: {words}") from None
        except BaseException:
            transport.abort()
            raise
        if secured is not None:
            exchange.connection_made(secured)
        return exchange


class Tunnel(asyncio.Protocol):
    """Asks a proxy for a way through to a receiver."""

    def __init__(self) -> None:
        self._received = b""
        self._answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def open(self, transport: asyncio.WriteTransport, target: UrlParts, authorization: str) -> None:
        """Ask, and return when the way is open."""
        name = f"[{target.host}]" if ":" in target.host else target.host
        lines = [f"CONNECT {name}:{target.port} HTTP/1.1", f"Host: {name}:{target.port}"]
        if authorization:
            lines.append(f"Proxy-Authorization: {authorization}")
        transport.write("\r\n".join([*lines, "", ""]).encode())
        head = await self._answered
        found = re.match(rb"HTTP/1\.[01] (\d{3})", head)
        if found is None or not 200 <= int(found[1]) < 300:
            said = found[1].decode() if found else "something that is not HTTP"
            raise DeliveryFailed(f"the proxy does not let us through: it answered {said}")

    def data_received(self, data: bytes) -> None:
        """Wait for the end of the headers; nothing may follow them before we have spoken."""
        self._received += data
        if b"\r\n\r\n" in self._received or len(self._received) > HEADER_BYTES:
            self._settle()

    def connection_lost(self, error: Exception | None) -> None:
        """Take what has come for the answer."""
        del error
        self._settle()

    def _settle(self) -> None:
        if not self._answered.done():
            self._answered.set_result(self._received)
