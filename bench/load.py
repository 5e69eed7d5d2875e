"""A client that asks as fast as it is answered: some connections, each with one request at a time."""

import asyncio
import time

__all__ = ["rate"]


async def ask(host: str, port: int, request: bytes, until: float) -> int:
    """Send one request after the other on one connection, and return how many were answered with 200."""
    reader, writer = await asyncio.open_connection(host, port)
    answered = 0
    while time.perf_counter() < until:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(head.split(b"\r\n")[0].decode())
        lower = head.lower()
        start = lower.index(b"content-length:") + len(b"content-length:")
        length = int(lower[start : lower.index(b"\r\n", start)])
        await reader.readexactly(length)
        answered += 1
    writer.close()
    return answered


async def many(host: str, port: int, request: bytes, seconds: float, connections: int) -> float:
    """Ask on several connections at once and return the answers per second."""
    started = time.perf_counter()
    tasks = [ask(host, port, request, started + seconds) for _ in range(connections)]
    answered = sum(await asyncio.gather(*tasks))
    return answered / (time.perf_counter() - started)


def rate(port: int, path: str, headers: dict[str, str], *, seconds: float = 2.0, connections: int = 16) -> float:
    """Return how many requests per second a server on loopback answers."""
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{name}: {value}" for name, value in headers.items())]
    request = "\r\n".join([*lines, "", ""]).encode()
    try:
        import uvloop  # noqa: PLC0415

        return uvloop.run(many("127.0.0.1", port, request, seconds, connections))
    except ImportError:
        return asyncio.run(many("127.0.0.1", port, request, seconds, connections))
