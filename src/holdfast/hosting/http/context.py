"""One request to the API, as the code that answers it sees it."""

from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Scope

from holdfast.hosting.access import ANONYMOUS, Actor
from holdfast.hosting.app import App
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.headers import Headers
from holdfast.hosting.store.accounts import Account

__all__ = ["NeedsThread", "PasswordNeeded", "RequestContext"]

MOST_PARAMETERS: Final = 500

T = TypeVar("T")


class NeedsThread(Exception):
    """Ends an answer that would hold up the event loop: it is made again in a thread."""


class PasswordNeeded(Exception):
    """Ends an identification that takes hashing a password: it is made again in the thread pool for that."""


class RequestContext(msgspec.Struct):
    """A request while it is being answered: who sent it, what for, and what guards have found on the way."""

    app: App
    scope: Scope
    headers: Headers
    path: dict[str, str]
    """What stood in the places of the path's parameters."""
    root: str
    """The address of the service as the client knows it, without a slash at the end."""
    actor: Actor = ANONYMOUS
    resolved_values: dict[type, Any] = msgspec.field(default_factory=dict)
    """What guards looked up for the handler, by its type."""
    response_headers: dict[str, str] = msgspec.field(default_factory=dict)
    on_loop: bool = False
    """Whether everybody else waits while this is being answered."""
    may_hash: bool = False
    """Whether this runs in the thread pool for passwords."""
    identified: Actor | None = None
    """Who was found there."""

    @property
    def method(self) -> str:
        """The method, with HEAD counted as the GET it stands for."""
        method: str = self.scope["method"]
        return "GET" if method == "HEAD" else method

    @property
    def address(self) -> str:
        """Where the request came from."""
        client = self.scope.get("client")
        return client[0] if client else ""

    @property
    def api(self) -> str:
        """The address of the API."""
        return f"{self.root}/api/v1"

    def query_pairs(self) -> list[tuple[str, str]]:
        """Return the parameters of the query string, in order; more than anything takes are refused."""
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
        """Return one parameter of the query string."""
        return next((value for key, value in self.query_pairs() if key == name), None)

    @property
    def user(self) -> Account:
        """Whoever is asking, where a guard has made sure that somebody is."""
        user = self.actor.user
        if user is None:
            raise LookupError("no guard made sure that somebody is signed in")
        return user

    def require_thread(self) -> None:
        """Say that what comes now takes a while; nothing may have been changed before."""
        if self.on_loop:
            raise NeedsThread

    def resolved(self, kind: type[T]) -> T:
        """Return what a guard found."""
        found: T = self.resolved_values[kind]
        return found
