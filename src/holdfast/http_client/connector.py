"""Connections of the client: name resolution in threads, and the address check at connect time.

aiohttp creates every socket with the connector's socket factory, given the address it is about to connect to. The
factory checks the resolved address itself, for names and for literal addresses alike, so a name that resolves
differently a moment later (DNS rebinding) is checked too.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from holdfast.http_client.urls import Address

__all__ = ["AddressPolicy", "ConnectAttempt", "Resolve", "ThreadResolver", "new_connector"]

AddressPolicy = Callable[[str, Address], bool]
Resolve = Callable[[str, int], Awaitable[list[Address]]]
AddressInfo = tuple[int | socket.AddressFamily, int | socket.SocketKind, int, str, tuple[object, ...]]

# aiohttp retries the addresses of a host without the first, as many times as there are addresses.
MOST_ADDRESSES: Final = 8
KEEP_ALIVE_SECONDS: Final = 15.0


class AddressDenied(OSError):
    """The policy refuses one address; aiohttp continues with the next address of the host."""


@dataclass(slots=True)
class ConnectAttempt:
    """The addresses tried for one request; empty if an idle connection was reused."""

    host: str
    refused: list[Address] = field(default_factory=list)
    tried: list[Address] = field(default_factory=list)


# The factory is given only an address; the request it belongs to comes from the task's context.
current_attempt: ContextVar[ConnectAttempt] = ContextVar("current_attempt")


class ThreadResolver(AbstractResolver):
    """Resolves names with getaddrinfo in its own thread pool, so that slow name servers block no other work."""

    def __init__(self, resolve: Resolve | None, *, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolver")
        self._resolve = resolve or self._look_up

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return the addresses of a host, without duplicates."""
        del family
        return [
            {
                "hostname": host,
                "host": str(address),
                "port": port,
                "family": socket.AF_INET6 if address.version == 6 else socket.AF_INET,
                "proto": 0,
                "flags": socket.AI_NUMERICHOST,
            }
            for address in (await self._resolve(host, port))[:MOST_ADDRESSES]
        ]

    async def close(self) -> None:
        """Stop the threads; running lookups are abandoned."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _look_up(self, host: str, port: int) -> list[Address]:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, look_up, host, port)
        except UnicodeError as error:
            raise socket.gaierror(socket.EAI_NONAME, "the name is not valid") from error
        return found


def look_up(host: str, port: int) -> list[Address]:
    """Return the addresses getaddrinfo finds, in its order."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(ipaddress.ip_address(str(address[0])) for *_, address in found))


def new_connector(
    policy: AddressPolicy | None, resolver: ThreadResolver, *, keep_alive: bool, tls: ssl.SSLContext
) -> TCPConnector:
    """Return a connector that connects to allowed addresses; limiting concurrency is up to the caller."""

    def create_socket(info: AddressInfo) -> socket.socket:
        attempt = current_attempt.get()
        # Not a numeric address: it has not been resolved, so it is refused.
        address = ipaddress.ip_address(str(info[4][0]))
        if policy is not None and not policy(attempt.host, address):
            attempt.refused.append(address)
            raise AddressDenied(f"{address} is not allowed")
        attempt.tried.append(address)
        created = socket.socket(info[0], info[1], info[2])
        created.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return created

    return TCPConnector(
        resolver=resolver,
        ssl=tls,
        use_dns_cache=False,
        limit=0,
        force_close=not keep_alive,
        keepalive_timeout=KEEP_ALIVE_SECONDS if keep_alive else None,
        socket_factory=create_socket,
    )
