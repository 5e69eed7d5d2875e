"""The HTTP client for commands: one request at a time, each with its own connection and event loop."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from holdfast.http_client.client import HttpClient, HttpResponse
from holdfast.http_client.connector import AddressPolicy
from holdfast.http_client.requests import HttpRequest

__all__ = ["SyncResponse", "send"]

READ_BUFFER: Final = 1 << 20


class SyncResponse:
    """A response that is read without `await`; closing it closes its connection."""

    def __init__(self, runner: asyncio.Runner, client: HttpClient, response: HttpResponse) -> None:
        self._runner = runner
        self._client = client
        self._response = response
        self.status = response.status

    @property
    def is_redirect(self) -> bool:
        """Whether the response is a redirect."""
        return self._response.is_redirect

    def header(self, name: str) -> str:
        """Return a header by its name in lower case; empty if there is none."""
        return self._response.header(name)

    def read(self, most: int) -> bytes:
        """Return up to `most` bytes of the body, empty at its end; raises `ProtocolError` if it is truncated."""
        chunks: list[bytes] = []
        self._runner.run(self._read_into(chunks, most))
        return chunks[0]

    def close(self) -> None:
        """Close the connection."""
        self._runner.run(self._close())
        self._runner.close()

    async def _read_into(self, chunks: list[bytes], most: int) -> None:
        # The chunk is not returned: restoring the signal handler makes the repr of the task, with its result.
        chunks.append(await self._response.read(most))

    async def _close(self) -> None:
        self._response.close()
        await self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class UploadBody:
    """A body that is read while it is sent; aiohttp hides errors of reading it, so they are stored here."""

    def __init__(self, source: Iterable[bytes]) -> None:
        self._source = source
        self.error: Exception | None = None

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the chunks of the body."""
        try:
            for piece in self._source:
                yield piece
        except Exception as error:
            self.error = error
            raise


def send(
    request: HttpRequest,
    upload: Iterable[bytes] | None = None,
    *,
    read_timeout: float,
    policy: AddressPolicy | None = None,
) -> SyncResponse:
    """Send a request, with `upload` as its body if given, and return its response.

    Raises `HttpClientError`, or errors of iterating the upload. `read_timeout` limits each wait for bytes, and
    `policy` decides which addresses may be connected to.
    """
    runner = asyncio.Runner()
    client = HttpClient(policy=policy, read_timeout=read_timeout, keep_alive=False, read_buffer=READ_BUFFER)
    source = None if upload is None else UploadBody(upload)
    try:
        if source is not None:
            request = replace(request, body=source.pieces())
        return SyncResponse(runner, client, runner.run(client.send(request)))
    except BaseException as error:
        runner.run(cancel(client))
        runner.close()
        if source is not None and source.error is not None:
            raise source.error from error
        raise


async def cancel(client: HttpClient) -> None:
    """Close a client whose request a signal may have interrupted: its task is still pending in the loop."""
    interrupted = asyncio.all_tasks() - {asyncio.current_task()}
    for task in interrupted:
        task.cancel()
    await asyncio.gather(*interrupted, return_exceptions=True)
    await client.close()
