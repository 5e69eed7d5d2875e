"""A request to an endpoint: Starlette's, with what the endpoint, its guards and its handler need."""

from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

from starlette.requests import Request
from starlette.types import Receive, Scope

from holdfast.hosting.http.errors import ApiError

__all__ = ["EndpointRequest", "NeedsThread", "PasswordNeeded"]

MOST_PARAMETERS: Final = 500

T = TypeVar("T")


class NeedsThread(Exception):
    """Ends a handler that would block the event loop; it is run again in a thread."""


class PasswordNeeded(Exception):
    """Ends an authentication that has to hash a password; it is repeated in the thread pool for that."""


class EndpointRequest(Request):
    """A request while it is being served: the parameters of its path, and what guards have found."""

    def __init__(self, scope: Scope, receive: Receive, path: dict[str, str], root: str) -> None:
        super().__init__(scope, receive)
        self._first_headers: dict[bytes, bytes] = dict(reversed(scope["headers"]))
        self.path = path
        """The parameters in the path, decoded."""
        self.root = root
        """The URL of the service as the client knows it, without a slash at the end."""
        self.resolved_values: dict[type, Any] = {}
        """What guards looked up for the handler, by its type."""
        self.response_headers: dict[str, str] = {}
        self.on_loop = False
        """Whether the handler runs on the event loop, so that all other requests wait for it."""

    @property
    def caller(self) -> object:
        """Who sent it, once that is known; responses to different callers are kept apart."""
        return None

    @property
    def method(self) -> str:
        """The method; HEAD is GET."""
        method: str = self.scope["method"]
        return "GET" if method == "HEAD" else method

    @property
    def address(self) -> str:
        """The IP address of the client."""
        client = self.scope.get("client")
        return client[0] if client else ""

    def header(self, name: str) -> str | None:
        """Return the first value of a header, whose name is in lower case; `headers` takes five times as long."""
        value = self._first_headers.get(name.encode("latin-1"))
        return None if value is None else value.decode("latin-1")

    def query_pairs(self) -> list[tuple[str, str]]:
        """Return the parameters of the query string in order; raise `ApiError` when there are too many."""
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
        """Return the first parameter of the query string that has this name."""
        return next((value for key, value in self.query_pairs() if key == name), None)

    def require_thread(self) -> None:
        """Continue only in a thread: what follows takes long. Nothing may have been changed before."""
        if self.on_loop:
            raise NeedsThread

    def resolved(self, kind: type[T]) -> T:
        """Return what a guard found."""
        value: T = self.resolved_values[kind]
        return value
