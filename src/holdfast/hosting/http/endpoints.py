"""Endpoint declarations, from which routing, decoding, guards, responses and the OpenAPI document are derived.

    @endpoint("GET /orgs/{org}/teams", scope="organization", guards=(in_organization, member), refuses=(404,))
    def list_teams(request: RequestContext, found: OrganizationAccess, page: PageParams) -> PagedList[Team]:
        "List the teams of an organization."

The handler's signature is the rest of the declaration. A parameter with the name of a path parameter is a string
or a number; `body` and `query` are decoded to their types; a `PageParams` is the requested page; `upload` is a
body of bytes, in a file; any other parameter is the result of a guard, by its type. The return value decides the
response: a struct is sent as JSON, `PagedList` as a page of a list with its headers, `RawResponse` as bytes with
its own media type, and None as status 204.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeVar, get_origin, get_type_hints

import msgspec

from holdfast.hosting.http.body import Upload
from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.http.decoders import INT64
from holdfast.hosting.http.errors import ApiError
from holdfast.hosting.http.pagination import PagedList, PageParams
from holdfast.hosting.http.responses import RawResponse
from holdfast.settings import Settings

__all__ = ["Endpoint", "RawResponse", "endpoint"]

# A guard takes the request; its return type is the type of the handler parameter it provides.
Guard = Callable[..., object]
F = TypeVar("F", bound=Callable[..., object])

PARAMETER: Final = re.compile(r"\{(\w+)(\.\.\.)?\}")
LARGEST_BODY: Final = 4 * 2**20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A declared endpoint."""

    method: str
    path: str
    run: Callable[..., object]
    tag: str
    scope: tuple[str, ...]
    guards: tuple[Guard, ...]
    status: int
    refuses: tuple[int, ...]
    largest_body: int | Callable[[Settings], int]
    slow: bool
    also: dict[int, Any]
    """Response types of other success statuses, and of errors with their own schema, by status."""
    body: type[msgspec.Struct] | None
    query: type[msgspec.Struct] | None
    paged: bool
    answers: Any
    parameters: dict[str, type]
    """The path parameters and their types."""
    wants: dict[str, type]
    """The handler's parameters that guards provide."""
    uploads: bool
    """Whether the body is an upload, which is spooled to a temporary file."""
    name: str
    """The unique name."""
    cacheable: bool
    """Whether the response depends only on the database and the request, so that it can be cached."""
    anonymous: bool
    """Whether credentials are ignored, even invalid ones."""
    keeps_form: bool
    """Whether the page shows the fields of a form again that was submitted without a session."""

    @property
    def writes(self) -> bool:
        """Whether a token needs a write scope."""
        return self.method in {"POST", "PUT", "PATCH", "DELETE"}

    @property
    def summary(self) -> str:
        """The handler's docstring; its first sentence is the summary in the OpenAPI document."""
        return inspect.getdoc(self.run) or ""

    def body_limit(self, settings: Settings) -> int:
        """Return the maximum size of a body in bytes."""
        return self.largest_body if isinstance(self.largest_body, int) else self.largest_body(settings)

    def arguments(self, request: EndpointRequest) -> dict[str, object]:
        """Return the arguments of the handler, except the body, the query and the page."""
        values: dict[str, object] = {}
        for name, kind in self.parameters.items():
            values[name] = number(request.path[name]) if kind is int else request.path[name]
        for name, kind in self.wants.items():
            values[name] = request.resolved_values[kind]
        return values


def number(text: str) -> int:
    """Parse a number in a path; raise a 404 error for an invalid or too large number."""
    if not text.isascii() or not text.removeprefix("-").isdigit() or len(text) > 20 or int(text) not in INT64:
        raise ApiError(404)
    return int(text)


def endpoint(
    route: str,
    *,
    scope: str | tuple[str, ...] = (),
    guards: tuple[Guard, ...] = (),
    status: int | None = None,
    refuses: tuple[int, ...] = (),
    tag: str | None = None,
    largest_body: int | Callable[[Settings], int] = LARGEST_BODY,
    slow: bool = False,
    also: dict[int, Any] | None = None,
    name: str | None = None,
    cacheable: bool = False,
    anonymous: bool = False,
    keeps_form: bool = False,
) -> Callable[[Callable[..., object]], Endpoint]:
    """Declare the decorated function as an endpoint; a `slow` endpoint always runs in a thread.

    The response of a `cacheable` endpoint depends only on the database and the request, not on files or the clock.
    An endpoint that `keeps_form` is for a form with text that a user typed, and without a secret.
    A function that serves several endpoints needs a `name` for each.
    """
    method, path = route.split(" ")
    in_path = [name for name, _ in PARAMETER.findall(path)]

    def declare(run: Callable[..., object]) -> Endpoint:
        hints = get_type_hints(run)
        answers = hints.pop("return")
        body, query = hints.pop("body", None), hints.pop("query", None)
        page_name = next((name for name, kind in hints.items() if kind is PageParams), None)
        provided = {kind for guard in guards if (kind := provides(guard)) is not None}
        parameters, wants = {}, {}
        for parameter, kind in hints.items():
            if kind is Upload or parameter == page_name or is_request(kind):
                continue
            if parameter in in_path:
                parameters[parameter] = kind
            elif kind in provided:
                wants[parameter] = kind
            else:
                raise TypeError(f"{run.__name__}: nothing provides {parameter}")
        success = status if status is not None else (204 if answers is type(None) else 200)
        return Endpoint(
            method,
            path,
            run,
            tag=tag or run.__module__.rpartition(".")[2],
            scope=(scope,) if isinstance(scope, str) else scope,
            guards=guards,
            status=success,
            refuses=refuses,
            largest_body=largest_body,
            slow=slow,
            also=also or {},
            body=body,
            query=query,
            paged=page_name is not None or get_origin(answers) is PagedList,
            answers=answers,
            parameters=parameters,
            wants=wants,
            uploads=Upload in hints.values(),
            name=name or run.__name__,
            cacheable=cacheable,
            anonymous=anonymous,
            keeps_form=keeps_form,
        )

    return declare


def is_request(kind: object) -> bool:
    """Return whether a parameter of this type receives the request itself."""
    return isinstance(kind, type) and issubclass(kind, EndpointRequest)


@cache
def provides(guard: Guard) -> type | None:
    """Return the type of a guard's result; None for a guard that only checks."""
    called = guard if inspect.isfunction(guard) else type(guard).__call__
    kind = get_type_hints(called).get("return")
    return kind if isinstance(kind, type) and kind is not type(None) else None
