"""A client that asks as fast as it is answered: some connections, each with one request at a time."""

import asyncio
import time
from dataclasses import dataclass

import uvloop

__all__ = ["Load", "load", "rate"]


@dataclass(frozen=True, slots=True)
class Load:
    """Answers per second, and the milliseconds all but one in a hundred took at most."""

    rate: float
    slowest: float


async def ask(host: str, port: int, request: bytes, until: float) -> list[float]:
    """Send one request after the other on one connection, and return how long each took; all must succeed."""
    reader, writer = await asyncio.open_connection(host, port, limit=2**20)
    taken = []
    while (began := time.perf_counter()) < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.split(b"\r\n")[0].decode())
        lower = head.lower()
        if b"transfer-encoding: chunked" in lower:
            while (size := int(await reader.readuntil(b"\r\n"), 16)) > 0:
                await reader.readexactly(size + 2)
            await reader.readuntil(b"\r\n")
        else:
            start = lower.index(b"content-length:") + len(b"content-length:")
            await reader.readexactly(int(lower[start : lower.index(b"\r\n", start)]))
        taken.append(time.perf_counter() - began)
    writer.close()
    return taken


async def many(host: str, port: int, request: bytes, seconds: float, connections: int) -> Load:
    """Ask on several connections at once."""
    started = time.perf_counter()
    tasks = [ask(host, port, request, started + seconds) for _ in range(connections)]
    taken = sorted(one for each in await asyncio.gather(*tasks) for one in each)
    return Load(len(taken) / (time.perf_counter() - started), taken[len(taken) * 99 // 100] * 1000)


def rate(port: int, path: str, headers: dict[str, str]) -> float:
    """Return how many requests per second a server on loopback answers."""
    return load(port, path, headers).rate


def load(port: int, path: str, headers: dict[str, str], *, seconds: float = 2.0, connections: int = 16) -> Load:
    """Ask a server on loopback for a while."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    request = "\r\n".join([*lines, "", ""]).encode()
    return uvloop.run(many("127.0.0.1", port, request, seconds, connections))
