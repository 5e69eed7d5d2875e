"""The request to an endpoint: Starlette's `Request` with path parameters and the results of guards."""

from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.types import Receive, Scope

from holdfast.hosting.http.errors import ApiError

__all__ = ["EndpointRequest", "NeedsThread", "PasswordNeeded"]

MOST_PARAMETERS: Final = 500

T = TypeVar("T")


class NeedsThread(Exception):
    """Raised by a handler that would block the event loop; it is run again in a thread."""


class PasswordNeeded(Exception):
    """Raised by authentication if a password has to be hashed; it is repeated after hashing in a thread pool."""


class EndpointRequest(Request):
    """A request with its path parameters and the results of its guards."""

    def __init__(self, scope: Scope, receive: Receive, path: dict[str, str], root: str) -> None:
        super().__init__(scope, receive)
        self._first_headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))
        self.path = path
        """The decoded path parameters."""
        self.root = root
        """The base URL of the service as the client sees it, without a trailing slash."""
        self.resolved_values: dict[type, Any] = {}
        """The results of guards, by type."""
        self.response_headers: dict[str, str] = {}
        self.on_loop = False
        """Whether the handler runs on the event loop and so blocks all other requests."""

    @property
    def caller(self) -> object:
        """The authenticated caller, which is part of the key of cached responses."""
        return None

    @property
    def method(self) -> str:
        """The HTTP method; HEAD is treated as GET."""
        method: str = self.scope["method"]
        return "GET" if method == "HEAD" else method

    @property
    def address(self) -> str:
        """The IP address of the client."""
        client = self.scope.get("client")
        return client[0] if client else ""

    def header(self, name: str) -> str | None:
        """Return the first value of a header by its lower-case name; five times as fast as `headers`."""
        value = self._first_headers.get(name.encode("latin-1"))
        return None if value is None else value.decode("latin-1")

    def query_pairs(self) -> list[tuple[str, str]]:
        """Return the query parameters in order; raise `ApiError` if there are too many."""
        raw: bytes = self.scope["query_string"]
        if not raw:
            return []
        try:
            return parse_qsl(
                raw.decode("ascii", "replace"), keep_blank_values=True, max_num_fields=MOST_PARAMETERS
            )
        except ValueError:
            raise ApiError(400, f"a query string has at most {MOST_PARAMETERS} parameters") from None

    def query(self, name: str) -> str | None:
        """Return the first query parameter with a name, or None."""
        return next((value for key, value in self.query_pairs() if key == name), None)

    def require_thread(self) -> None:
        """Raise `NeedsThread` unless in a thread; call it before slow work and before any change."""
        if self.on_loop:
            raise NeedsThread

    def resolved(self, kind: type[T]) -> T:
        """Return the result of a guard by type."""
        value: T = self.resolved_values[kind]
        return value
