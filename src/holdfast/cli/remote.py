"""A small client for the API of a host, on the standard library.

Three kinds of requests need no library of their own, and urllib would send the token along with a redirect to
another host.
"""

import http.client
import ssl
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Final, Self, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.secret import Secret

__all__ = ["LFS_TYPE", "Remote", "RemoteRefused"]

TIMEOUT_S: Final = 120
LARGEST_ANSWER: Final = 8 << 20
LFS_TYPE: Final = "application/vnd.git-lfs+json"
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS: Final = 5

Answer = TypeVar("Answer")


class RemoteRefused(HoldfastError):
    """The host did not do what it was asked."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Refusal(msgspec.Struct):
    """What a host says when it refuses."""

    message: str = ""


class Reply:
    """An answer; closing it ends the connection it came over."""

    def __init__(self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse) -> None:
        self.status = response.status
        self.location = response.getheader("Location")
        self._connection = connection
        self._response = response

    def read(self, most: int) -> bytes:
        """Read some of the body."""
        try:
            return self._response.read(most)
        except (OSError, http.client.HTTPException) as error:
            raise RemoteRefused(f"the answer of {self._connection.host} broke off; try again") from error

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
        if urlsplit(self.server).scheme not in {"http", "https"} or not urlsplit(self.server).hostname:
            raise RemoteRefused(f"{server} is no address of a host; write https://example.org")
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
            try:
                return msgspec.json.decode(answer.read(LARGEST_ANSWER), type=kind)
            except (msgspec.DecodeError, msgspec.ValidationError):
                raise RemoteRefused(f"{self.server} answered something unexpected; is it a host?") from None

    def bytes_at(self, address: str) -> bytes | None:
        """Read a small file; None where there is none."""
        try:
            with self.open("GET", address, {}) as answer:
                return answer.read(LARGEST_ANSWER)
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

        The token is sent to the host alone, and not where the headers say already who asks.
        """
        for _ in range(MOST_REDIRECTS):
            answer = self._once(method, address, headers, body)
            target = answer.location
            if answer.status not in REDIRECTS or not target or method != "GET":
                return self._checked(answer)
            answer.close()
            address = target if "://" in target else f"{self.server}{target}"
        raise RemoteRefused(f"{self.server} sends from one address to the next")

    def _once(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: bytes | Iterable[bytes] | None,
    ) -> Reply:
        parts, own = urlsplit(address), urlsplit(self.server)
        same = (parts.scheme, parts.netloc) == (own.scheme, own.netloc)
        sent = {"User-Agent": f"holdfast/{__version__}", **headers}
        if self._token is not None and same and "Authorization" not in sent:
            sent["Authorization"] = f"token {self._token.reveal()}"
        if parts.scheme == "https":
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.netloc, timeout=TIMEOUT_S, context=ssl.create_default_context()
            )
        else:
            connection = http.client.HTTPConnection(parts.netloc, timeout=TIMEOUT_S)
        try:
            connection.request(method, f"{parts.path}{f'?{parts.query}' if parts.query else ''}", body, sent)
            return Reply(connection, connection.getresponse())
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise RemoteRefused(f"{parts.netloc} does not answer: {reason}") from error

    def _checked(self, answer: Reply) -> Reply:
        if answer.status < 300:
            return answer
        with answer:
            try:
                said = msgspec.json.decode(answer.read(LARGEST_ANSWER), type=Refusal).message
            except (msgspec.DecodeError, msgspec.ValidationError, RemoteRefused):
                said = ""
        words = {
            401: f"{self.server} does not know this token",
            403: f"this token may not do that with {self.repository}",
            404: f"there is no {self.repository} for this token on {self.server}, or not this file in it",
        }
        text = words.get(answer.status, f"{self.server} refused with status {answer.status}")
        raise RemoteRefused(f"{text}{f': {said}' if said and answer.status not in words else ''}", answer.status)
