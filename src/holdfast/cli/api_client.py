"""The API client of `holdfast backup push` and `pull`.

Every invalid response raises `RemoteRefused` or `MalformedResponse`.
"""

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar
from urllib.parse import quote

import msgspec

from holdfast.errors import HoldfastError
from holdfast.http_client.errors import HttpClientError, InvalidRequest, InvalidUrl, ProtocolError
from holdfast.http_client.requests import HttpRequest, redirected
from holdfast.http_client.urls import HttpUrl
from holdfast.secret import Secret

if TYPE_CHECKING:
    from holdfast.http_client.sync import SyncResponse

__all__ = ["LFS_TYPE", "MalformedResponse", "Remote", "RemoteRefused", "Reply"]

TIMEOUT_S: Final = 120
LARGEST_RESPONSE: Final = 8 << 20
LFS_TYPE: Final = "application/vnd.git-lfs+json"
MOST_REDIRECTS: Final = 5
# The part of a server's error message that is shown.
LONGEST_MESSAGE: Final = 300
# Headers that only the client itself sets, even if a server names them in the headers of an LFS action.
OWN_HEADERS: Final = frozenset(
    {"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)

Answer = TypeVar("Answer")


class RemoteRefused(HoldfastError):
    """The host rejected a request, or cannot be reached."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class MalformedResponse(RemoteRefused):
    """A response is incomplete or violates the protocol."""


class ApiErrorResponse(msgspec.Struct):
    """The body of an error response."""

    message: str = ""


class Reply:
    """A response of the host; closing it closes its connection."""

    def __init__(self, server: str, response: "SyncResponse") -> None:
        self._server = server
        self._response = response
        self.status = response.status
        self.chunked = "chunked" in response.header("transfer-encoding").lower()
        # The `Content-Length`; None if the body is chunked or ends with the connection.
        length = response.header("content-length")
        self.length = int(length) if length and not self.chunked else None
        self.encoded = (response.header("content-encoding") or "identity").strip().lower() != "identity"

    def read(self, most: int) -> bytes:
        """Read up to `most` bytes of the body; raises `MalformedResponse` if it is shorter than its length."""
        try:
            return self._response.read(most)
        except HttpClientError as error:
            raise MalformedResponse(f"the response of {self._server} was cut off; try again") from error

    def read_all(self, most: int) -> bytes:
        """Read a body of up to `most` bytes; raises `MalformedResponse` for a longer one."""
        pieces: list[bytes] = []
        size = 0
        while piece := self.read(most + 1 - size):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise MalformedResponse(f"the response of {self._server} is too long")
        return b"".join(pieces)

    def close(self) -> None:
        """Close the connection."""
        self._response.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Remote:
    """A client for one repository of a host, with the credentials to use."""

    def __init__(self, server: str, token: Secret | None, repository: str) -> None:
        self.server = server.rstrip("/")
        self._token = token
        try:
            self._own = parse_address(self.server)
        except InvalidUrl:
            raise RemoteRefused(f"{server} is not the URL of a host; expected https://example.org") from None
        self.repository = repository
        self.api = f"{self.server}/api/v1/repos/{quote(repository)}"
        self.lfs = f"{self.server}/{quote(repository)}.git/info/lfs"

    def json(
        self, method: str, address: str, kind: type[Answer], body: object = None, *, lfs: bool = False
    ) -> Answer:
        """Send a request and decode the JSON response."""
        sort = LFS_TYPE if lfs else "application/json"
        headers = {"Accept": sort}
        content = None
        if body is not None:
            content = msgspec.json.encode(body)
            headers["Content-Type"] = sort
        with self.open(method, address, headers, content) as reply:
            data = reply.read_all(LARGEST_RESPONSE)
        try:
            return msgspec.json.decode(data, type=kind)
        except (ValueError, RecursionError):
            raise MalformedResponse(f"{self.server} sent an unexpected response; is it a Holdfast host?") from None

    def bytes_at(self, address: str, most: int = LARGEST_RESPONSE) -> bytes | None:
        """Return a small file, or the first `most` + 1 bytes of a larger one; None if it does not exist."""
        try:
            with self.open("GET", address, {}) as reply:
                start = b""
                while len(start) <= most and (piece := reply.read(most + 1 - len(start))):
                    start += piece
                return start
        except RemoteRefused as refused:
            if refused.status == 404:
                return None
            raise

    def open(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: bytes | Iterable[bytes] | None = None,
    ) -> Reply:
        """Send a request and return the response, with its body unread.

        The token is sent to the origin of the host only, and not if the headers have an `Authorization` already.
        Redirects are followed for GET only, without credentials if they go to another origin.
        """
        url = self._parse(address)
        sent = dict(headers)
        header_names = {name.lower() for name in sent}
        if self._token is not None and url.origin == self._own.origin and "authorization" not in header_names:
            sent["Authorization"] = f"token {self._token.reveal()}"
        content, upload = (body, None) if body is None or isinstance(body, bytes) else (None, body)
        request = HttpRequest(method, url, sent, content)
        for _ in range(MOST_REDIRECTS):
            response = self._send(request, upload)
            if method != "GET" or not response.is_redirect:
                return self._checked(Reply(request.url.authority, response))
            response.close()
            request = self._redirected(request, response.status, response.header("location"))
        raise MalformedResponse(f"{self.server} redirects too often")

    def _parse(self, address: str) -> HttpUrl:
        """Parse a URL from a response of the host."""
        try:
            return self._checked_scheme(parse_address(address))
        except InvalidUrl:
            raise MalformedResponse(f"{self.server} redirects to an invalid URL") from None

    def _redirected(self, request: HttpRequest, status: int, location: str) -> HttpRequest:
        try:
            following = redirected(request, status, location)
        except InvalidUrl:
            raise MalformedResponse(f"{self.server} redirects to an invalid URL") from None
        self._checked_scheme(following.url)
        return following

    def _checked_scheme(self, url: HttpUrl) -> HttpUrl:
        """Raise an error for a downgrade from HTTPS to HTTP."""
        if self._own.scheme == "https" and url.scheme != "https":
            raise MalformedResponse(f"{self.server} redirects to an unencrypted URL, which is not followed")
        return url

    def _send(self, request: HttpRequest, upload: Iterable[bytes] | None) -> "SyncResponse":
        # Imported here: commands that send no request do not wait for the import of aiohttp.
        from holdfast.http_client import sync  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

        try:
            return sync.send(request, upload, read_timeout=TIMEOUT_S)
        except (ProtocolError, InvalidRequest) as error:
            raise MalformedResponse(
                f"{request.url.authority} does not answer as the protocol says: {error}"
            ) from error
        except HttpClientError as error:
            raise RemoteRefused(f"cannot connect to {request.url.authority}: {error}") from error

    def _checked(self, reply: Reply) -> Reply:
        if reply.status in {200, 201, 202, 204} and not reply.encoded:
            return reply
        with reply:
            if reply.encoded:
                raise MalformedResponse(f"{self.server} sent an unrequested content encoding")
            if reply.status < 300:
                raise MalformedResponse(f"{self.server} sent unexpected status {reply.status}")
            try:
                message = msgspec.json.decode(reply.read_all(LARGEST_RESPONSE), type=ApiErrorResponse).message
            except (ValueError, RecursionError, RemoteRefused):
                message = ""
        reasons = {
            401: f"{self.server} does not know this token",
            403: f"this token may not do that with {self.repository}",
            404: f"there is no {self.repository} for this token on {self.server}, or not this file in it",
        }
        text = reasons.get(reply.status, f"{self.server} refused with status {reply.status}")
        detail = f": {message[:LONGEST_MESSAGE]}" if message and reply.status not in reasons else ""
        raise RemoteRefused(f"{text}{detail}", reply.status)


def parse_address(address: str) -> HttpUrl:
    """Parse the URL of a host, which must not contain credentials; raises `InvalidUrl`."""
    url = HttpUrl.parse(address)
    if url.credentials:
        raise InvalidUrl("the URL contains credentials")
    return url
