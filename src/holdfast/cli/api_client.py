"""A small client for the API of a host, on the standard library.

Three kinds of requests need no library of their own, and urllib would send the token along with a redirect to
another host. Whatever a server answers, the errors are `RemoteRefused` and `MalformedResponse`.
"""

import http.client
import ssl
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import msgspec

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.secret import Secret

__all__ = ["LFS_TYPE", "MalformedResponse", "Remote", "RemoteRefused", "Reply"]

TIMEOUT_S: Final = 120
LARGEST_ANSWER: Final = 8 << 20
LFS_TYPE: Final = "application/vnd.git-lfs+json"
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS: Final = 5
# Of what a host says when it refuses; more is not read by anybody.
LONGEST_MESSAGE: Final = 300
# Headers that only the client itself may set, whatever a server wants to be sent along.
OWN_HEADERS: Final = frozenset(
    {"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"}
)
CREDENTIALS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})

Answer = TypeVar("Answer")


class RemoteRefused(HoldfastError):
    """The host did not do what it was asked, or cannot be reached."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class MalformedResponse(RemoteRefused):
    """The host's answer is incomplete, or is not what the protocol says."""


class Refusal(msgspec.Struct):
    """What a host says when it refuses."""

    message: str = ""


class Reply:
    """An answer; closing it ends the connection it came over."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.location = response.getheader("Location")
        # How many bytes were announced; None where the answer ends with its last chunk, or with the connection.
        self.length = response.length
        self.chunked = bool(response.chunked)
        self.encoded = (response.getheader("Content-Encoding") or "identity").strip().lower() != "identity"
        self._connection = connection
        self._response = response

    def read(self, most: int) -> bytes:
        """Read some of the body; raises `MalformedResponse` where it ends before its announced length."""
        try:
            data = self._response.read(most)
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise self.broken_off() from error
        # The standard library ends a short body as if it were whole.
        if not data and most and self._response.length:
            raise self.broken_off()
        return data

    def read_all(self, most: int) -> bytes:
        """Read a body of up to `most` bytes; raises `MalformedResponse` for a longer one."""
        pieces: list[bytes] = []
        size = 0
        while piece := self.read(most + 1 - size):
            pieces.append(piece)
            size += len(piece)
            if size > most:
                raise MalformedResponse(f"the answer of {self._connection.host} is far too long")
        return b"".join(pieces)

    def broken_off(self) -> MalformedResponse:
        """Say that not all of the answer arrived."""
        return MalformedResponse(f"the answer of {self._connection.host} broke off; try again")

    def close(self) -> None:
        """Let go of it."""
        self._response.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Remote:
    """One repository of a host, as somebody with a token reaches it."""

    def __init__(self, server: str, token: Secret | None, repository: str) -> None:
        self.server = server.rstrip("/")
        self._token = token
        try:
            self._own = split_address(self.server)
        except ValueError:
            raise RemoteRefused(f"{server} is no address of a host; write https://example.org") from None
        self.repository = repository
        self.api = f"{self.server}/api/v1/repos/{quote(repository)}"
        self.lfs = f"{self.server}/{quote(repository)}.git/info/lfs"

    def json(
        self, method: str, address: str, kind: type[Answer], body: object = None, *, lfs: bool = False
    ) -> Answer:
        """Send a request and read the answer."""
        sort = LFS_TYPE if lfs else "application/json"
        headers = {"Accept": sort}
        content = None
        if body is not None:
            content = msgspec.json.encode(body)
            headers["Content-Type"] = sort
        with self.open(method, address, headers, content) as answer:
            data = answer.read_all(LARGEST_ANSWER)
        try:
            return msgspec.json.decode(data, type=kind)
        except (ValueError, RecursionError):
            raise MalformedResponse(f"{self.server} answered something unexpected; is it a host?") from None

    def bytes_at(self, address: str, most: int = LARGEST_ANSWER) -> bytes | None:
        """Read a small file, or the first `most` bytes of a larger one and one more; None where there is none."""
        try:
            with self.open("GET", address, {}) as answer:
                start = b""
                while len(start) <= most and (piece := answer.read(most + 1 - len(start))):
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
        """Send a request and return the answer, from which the body can be read.

        The token is sent to the host alone, and not where the headers say already who asks. Redirects are followed
        for GET only, and other credentials are not sent along with one to another host.
        """
        for _ in range(MOST_REDIRECTS):
            parts = self._split(address)
            answer = self._once(method, parts, headers, body)
            target = answer.location
            if answer.status not in REDIRECTS or not target or method != "GET":
                return self._checked(answer)
            answer.close()
            try:
                address = urljoin(address, target)
            except ValueError:
                raise MalformedResponse(f"{self.server} sends to what is no address") from None
            if not same_origin(parts, self._split(address)):
                headers = {name: value for name, value in headers.items() if name.lower() not in CREDENTIALS}
        raise MalformedResponse(f"{self.server} sends from one address to the next")

    def _split(self, address: str) -> SplitResult:
        """Take an address apart that the host named."""
        try:
            parts = split_address(address)
        except ValueError:
            raise MalformedResponse(f"{self.server} sends to what is no address of a host") from None
        if self._own.scheme == "https" and parts.scheme != "https":
            raise MalformedResponse(f"{self.server} sends to an address without encryption, which is not followed")
        return parts

    def _once(
        self,
        method: str,
        parts: SplitResult,
        headers: Mapping[str, str],
        body: bytes | Iterable[bytes] | None,
    ) -> Reply:
        sent = {"User-Agent": f"holdfast/{__version__}", **headers}
        known = {name.lower() for name in sent}
        if self._token is not None and same_origin(parts, self._own) and "authorization" not in known:
            sent["Authorization"] = f"token {self._token.reveal()}"
        connection: http.client.HTTPConnection | None = None
        try:
            if parts.scheme == "https":
                connection = http.client.HTTPSConnection(
                    parts.netloc, timeout=TIMEOUT_S, context=ssl.create_default_context()
                )
            else:
                connection = http.client.HTTPConnection(parts.netloc, timeout=TIMEOUT_S)
            path = parts.path or "/"
            connection.request(method, f"{path}{f'?{parts.query}' if parts.query else ''}", body, sent)
            return Reply(connection, connection.getresponse())
        except (OSError, http.client.HTTPException, ValueError) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, OSError):
                reason = error.strerror or type(error).__name__
                raise RemoteRefused(f"{parts.netloc} does not answer: {reason}") from error
            raise MalformedResponse(
                f"{parts.netloc} does not answer as the protocol says: {type(error).__name__}"
            ) from error

    def _checked(self, answer: Reply) -> Reply:
        if answer.status in {200, 201, 202, 204} and not answer.encoded:
            return answer
        with answer:
            if answer.encoded:
                raise MalformedResponse(f"{self.server} answered with an encoding that was not asked for")
            if answer.status < 300:
                raise MalformedResponse(f"{self.server} answered with status {answer.status}, which says nothing")
            try:
                said = msgspec.json.decode(answer.read_all(LARGEST_ANSWER), type=Refusal).message
            except (ValueError, RecursionError, RemoteRefused):
                said = ""
        words = {
            401: f"{self.server} does not know this token",
            403: f"this token may not do that with {self.repository}",
            404: f"there is no {self.repository} for this token on {self.server}, or not this file in it",
        }
        text = words.get(answer.status, f"{self.server} refused with status {answer.status}")
        told = f": {said[:LONGEST_MESSAGE]}" if said and answer.status not in words else ""
        raise RemoteRefused(f"{text}{told}", answer.status)


def split_address(address: str) -> SplitResult:
    """Take an address apart; raises `ValueError` unless it is http or https, with a host and without a user."""
    parts = urlsplit(address)
    # Reading the port is what checks it.
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc or parts.port == 0:
        raise ValueError("no address of a host")
    return parts


def same_origin(one: SplitResult, other: SplitResult) -> bool:
    """Tell whether two addresses are of one host: scheme, name and port."""
    return (one.scheme, one.netloc.lower()) == (other.scheme, other.netloc.lower())
