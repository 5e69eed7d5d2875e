"""Clones and fetches over smart HTTP and SSH, and remote archives over HTTP.

Over HTTP each function yields the body of a response, beginning after the whole request has been read. An error
before the first chunk can still become an error response; after it, git itself reports errors in its protocol.

Pushes are in `receive_pack`.
"""

import asyncio
import re
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from functools import partial
from pathlib import Path
from typing import Final, Literal

from anyio import to_thread

from holdfast.hosting.errors import BodyDamaged, GitFailed, GitTimedOut
from holdfast.hosting.git.archives import ArchiveLimits, requested_trees
from holdfast.hosting.git.process import CHUNK, IDLE_TIMEOUT, GitProcess, Watchdog, start, stream
from holdfast.hosting.git_server.fetch_cache import LARGEST_REQUEST, FetchCache
from holdfast.hosting.git_server.request_body import limit_body, spool

__all__ = ["Service", "advertise", "converse", "protocol_variables", "upload_archive", "upload_pack"]

Service = Literal["git-upload-pack", "git-receive-pack"]
# The limit of a fetch request, which lists object ids: a few megabytes even for a hundred thousand branches.
MOST_ASKED: Final = 32 * 1024 * 1024
VERSION: Final = re.compile(r"version=([0-2])")
VERSION_2: Final = "version=2"
# The header of a packet (pkt-line) is its length in hexadecimal.
HEADER_BYTES: Final = 4
FLUSH: Final = b"0000"


def protocol_variables(header: str | None) -> dict[str, str]:
    """Return the environment variable for a `Git-Protocol` header; only known versions are passed."""
    versions = [match[1] for part in (header or "").split(":") if (match := VERSION.fullmatch(part))]
    return {"GIT_PROTOCOL": f"version={max(versions)}"} if versions else {}


def advertise(
    folder: Path,
    service: Service,
    *,
    protocol: str | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
    cache: FetchCache | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the ref advertisement: the response to `info/refs?service=...`."""
    variables = protocol_variables(protocol)
    make = partial(advertisement, folder, service, variables, idle_timeout)
    return make() if cache is None else cache.ref_list(service.encode(), variables, make)


async def advertisement(
    folder: Path, service: Service, variables: dict[str, str], idle_timeout: float
) -> AsyncGenerator[bytes, None]:
    """Yield the ref advertisement of git."""
    # Version 2 has its own header, and exists only for reading.
    line = f"# service={service}\n"
    silent = service == "git-upload-pack" and variables.get("GIT_PROTOCOL") == VERSION_2
    greeting = b"" if silent else f"{len(line) + 4:04x}{line}0000".encode()
    arguments = (service.removeprefix("git-"), "--stateless-rpc", "--advertise-refs", str(folder))
    async with aclosing(stream(folder, *arguments, idle_timeout=idle_timeout, variables=variables)) as chunks:
        async for chunk in chunks:
            yield greeting + chunk
            greeting = b""


def upload_pack(
    folder: Path,
    body: AsyncIterator[bytes],
    *,
    protocol: str | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
    cache: FetchCache | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the response to a clone or fetch request."""
    arguments = ("upload-pack", "--stateless-rpc", str(folder))
    variables = protocol_variables(protocol)
    return answer(folder, arguments, body, variables=variables, idle_timeout=idle_timeout, cache=cache)


def converse(
    folder: Path,
    body: AsyncIterator[bytes],
    *,
    protocol: str | None = None,
    idle_timeout: float = IDLE_TIMEOUT,
    cache: FetchCache | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the output of a bidirectional clone or fetch, as over SSH; the total size of the input is limited."""
    requests = limit_body(body, most=MOST_ASKED)
    if protocol_variables(protocol).get("GIT_PROTOCOL") == VERSION_2:
        return respond_to_all(folder, requests, idle_timeout=idle_timeout, cache=cache)
    return converse_with_git(folder, requests, protocol=protocol, idle_timeout=idle_timeout)


async def respond_to_all(
    folder: Path, body: AsyncIterator[bytes], *, idle_timeout: float, cache: FetchCache | None
) -> AsyncGenerator[bytes, None]:
    """Yield the capabilities of protocol version 2, then the response to each request of a session.

    A request of this version contains everything its response depends on, so it gets the same response as over
    HTTP, which may be cached.
    """
    capabilities = advertise(folder, "git-upload-pack", protocol=VERSION_2, idle_timeout=idle_timeout, cache=cache)
    async with aclosing(capabilities) as chunks:
        async for chunk in chunks:
            yield chunk
    async with aclosing(split_requests(body)) as requests:
        while True:
            try:
                request = await asyncio.wait_for(anext(requests, None), idle_timeout)
            except TimeoutError:
                raise GitTimedOut("upload-pack", f"got no request for {idle_timeout:g} seconds") from None
            if request is None:
                return
            response = respond(
                folder,
                ("upload-pack", "--stateless-rpc", str(folder)),
                one_chunk(request),
                variables=protocol_variables(VERSION_2),
                idle_timeout=idle_timeout,
                cache=cache,
            )
            # An error ends the session: the client waits for the rest of a response that git did not complete.
            async with aclosing(response) as chunks:
                async for chunk in chunks:
                    yield chunk


async def split_requests(body: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """Yield the requests of protocol version 2, each up to its flush packet; one without a request ends them."""
    received = bytearray()
    position = 0
    async for chunk in body:
        received += chunk
        while len(received) >= position + HEADER_BYTES:
            size = packet_size(received[position : position + HEADER_BYTES])
            if len(received) < position + size:
                break
            is_flush = received[position : position + HEADER_BYTES] == FLUSH
            position += size
            if is_flush:
                if position == HEADER_BYTES:
                    return
                yield bytes(received[:position])
                del received[:position]
                position = 0


def packet_size(header: bytes | bytearray) -> int:
    """Return the size of a packet with its header, which special packets consist of."""
    try:
        size = int(header, 16)
    except ValueError:
        raise BodyDamaged("the request has a packet without a length") from None
    if size < 0 or size == HEADER_BYTES - 1:
        raise BodyDamaged("the request has a packet of an impossible length")
    return max(size, HEADER_BYTES)


async def one_chunk(content: bytes) -> AsyncIterator[bytes]:
    """Yield a body that is in memory."""
    yield content


async def converse_with_git(
    folder: Path, body: AsyncIterator[bytes], *, protocol: str | None, idle_timeout: float
) -> AsyncGenerator[bytes, None]:
    """Pass the client's input to git and yield its output, until git exits."""
    process = await start(folder, "upload-pack", str(folder), feed=True, variables=protocol_variables(protocol))
    watchdog = Watchdog(idle_timeout, process.end)
    feeding = asyncio.create_task(feed(process, body, watchdog))
    try:
        while chunk := await process.stdout.read(CHUNK):
            watchdog.touch()
            yield chunk
            watchdog.touch()
        code = await process.wait()
    finally:
        watchdog.cancel()
        process.end()
        feeding.cancel()
        await asyncio.wait([feeding])
    if watchdog.expired:
        raise GitTimedOut(process.command, f"made no progress for {idle_timeout:g} seconds", process.stderr, code)
    if not feeding.cancelled() and (error := feeding.exception()):
        raise error
    if code:
        raise process.failure(code)


async def feed(process: GitProcess, body: AsyncIterator[bytes], watchdog: Watchdog) -> None:
    """Pass the client's input to git."""
    stdin = process.stdin
    assert stdin is not None  # noqa: S101  # started with a pipe
    try:
        with suppress(ConnectionError):  # git closed its input, and reports why in its output
            async for chunk in body:
                watchdog.touch()
                stdin.write(chunk)
                await stdin.drain()
    finally:
        stdin.close()


async def upload_archive(
    folder: Path, body: AsyncIterator[bytes], *, limits: ArchiveLimits, idle_timeout: float = IDLE_TIMEOUT
) -> AsyncGenerator[bytes, None]:
    """Yield the response to `git archive --remote`."""
    request = b"".join([chunk async for chunk in limit_body(body, most=LARGEST_REQUEST)])
    await to_thread.run_sync(lambda: limits.check(folder, requested_trees(folder, request)))

    arguments = ("upload-archive", str(folder))
    output = answer(folder, arguments, one_chunk(request), variables={}, idle_timeout=idle_timeout)
    async with aclosing(output) as chunks:
        async for chunk in chunks:
            yield chunk


async def answer(
    folder: Path,
    arguments: tuple[str, ...],
    body: AsyncIterator[bytes],
    *,
    variables: dict[str, str],
    idle_timeout: float,
    cache: FetchCache | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the response to a request, up to an error of git after its first output: git itself has reported it.

    Terminating the response would hide what git reports in its protocol.
    """
    answered = False
    response = respond(folder, arguments, body, variables=variables, idle_timeout=idle_timeout, cache=cache)
    async with aclosing(response) as chunks:
        try:
            async for chunk in chunks:
                answered = True
                yield chunk
        except GitFailed as error:
            if not answered or isinstance(error, GitTimedOut):
                raise


async def respond(
    folder: Path,
    arguments: tuple[str, ...],
    body: AsyncIterator[bytes],
    *,
    variables: dict[str, str],
    idle_timeout: float,
    cache: FetchCache | None = None,
) -> AsyncGenerator[bytes, None]:
    """Pass a request to git and yield its output, or yield the cached response."""
    with await spool(body, most=MOST_ASKED) as request:
        run_git = partial(stream, folder, *arguments, idle_timeout=idle_timeout, variables=variables)
        beginning = request.read(LARGEST_REQUEST + 1)
        request.seek(0)
        if cache is None or len(beginning) > LARGEST_REQUEST:
            output = run_git(stdin=request.fileno())
        else:
            output = cache.response(beginning, variables, partial(pass_request, run_git, beginning))
        async with aclosing(output) as chunks:
            async for chunk in chunks:
                yield chunk


async def pass_request(
    run_git: Callable[..., AsyncGenerator[bytes, None]], request: bytes
) -> AsyncGenerator[bytes, None]:
    """Pass a request to git, from a temporary file: the first client to ask may disconnect before others."""
    with tempfile.TemporaryFile(prefix="holdfast-body-") as file:
        file.write(request)
        file.seek(0)
        async with aclosing(run_git(stdin=file.fileno())) as chunks:
            async for chunk in chunks:
                yield chunk
