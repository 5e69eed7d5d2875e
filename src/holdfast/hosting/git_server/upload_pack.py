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

from holdfast.hosting.errors import GitFailed, GitTimedOut
from holdfast.hosting.git.archives import ArchiveLimits, requested_trees
from holdfast.hosting.git.process import CHUNK, IDLE_TIMEOUT, GitProcess, Watchdog, start, stream
from holdfast.hosting.git_server.fetch_cache import LARGEST_REQUEST, FetchCache
from holdfast.hosting.git_server.request_body import limit_body, spool

__all__ = ["Service", "advertise", "converse", "protocol_variables", "upload_archive", "upload_pack"]

Service = Literal["git-upload-pack", "git-receive-pack"]
# The limit of a fetch request, which lists object ids: a few megabytes even for a hundred thousand branches.
MOST_ASKED: Final = 32 * 1024 * 1024
VERSION: Final = re.compile(r"version=([0-2])")


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
    silent = service == "git-upload-pack" and variables.get("GIT_PROTOCOL") == "version=2"
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


async def converse(
    folder: Path, body: AsyncIterator[bytes], *, protocol: str | None = None, idle_timeout: float = IDLE_TIMEOUT
) -> AsyncGenerator[bytes, None]:
    """Yield git's output in a bidirectional clone or fetch, as over SSH, until git exits.

    The total size of the client's input is limited.
    """
    process = await start(folder, "upload-pack", str(folder), feed=True, variables=protocol_variables(protocol))
    watchdog = Watchdog(idle_timeout, process.end)
    feeding = asyncio.create_task(feed(process, limit_body(body, most=MOST_ASKED), watchdog))
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

    async def checked() -> AsyncIterator[bytes]:
        yield request

    output = answer(folder, ("upload-archive", str(folder)), checked(), variables={}, idle_timeout=idle_timeout)
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
    """Pass a request to git and yield its output."""
    with await spool(body, most=MOST_ASKED) as request:
        run_git = partial(stream, folder, *arguments, idle_timeout=idle_timeout, variables=variables)
        beginning = request.read(LARGEST_REQUEST + 1)
        request.seek(0)
        if cache is None or len(beginning) > LARGEST_REQUEST:
            output = run_git(stdin=request.fileno())
        else:
            output = cache.response(beginning, variables, partial(pass_request, run_git, beginning))
        answered = False
        async with aclosing(output) as chunks:
            try:
                async for chunk in chunks:
                    answered = True
                    yield chunk
            except GitFailed as error:
                # After its first output git reports errors itself; terminating the response would hide them.
                if not answered or isinstance(error, GitTimedOut):
                    raise


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
