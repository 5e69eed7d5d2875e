"""Endpoint declarations, from which routing, decoding, guards, responses and the OpenAPI document are derived.

    @endpoint("GET /orgs/{org}/teams", scope="organization", guards=(in_organization, member), refuses=(404,))
    def list_teams(request: RequestContext, found: OrganizationAccess, page: PageParams) -> PagedList[Team]:
        "List the teams of an organization."

The handler's own signature is the rest of the declaration. A parameter named like one in the path is that part of
it, as a text or a number; `body` and `query` are decoded to their types; a `PageParams` is the page asked for;
`upload` is a body of plain bytes, in a file; anything else is what a guard found, by its type. What the handler
returns decides the response: a struct is JSON, `PagedList` a page of a list with its headers, `RawResponse` bytes
with a media type of their own, and None the status 204.
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

# It takes the request; the type of what it returns is that of the parameter it is for.
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
    """Other successful statuses, and errors of a shape of their own, and what they answer with."""
    body: type[msgspec.Struct] | None
    query: type[msgspec.Struct] | None
    paged: bool
    answers: Any
    parameters: dict[str, type]
    """The parameters in the path and what they are read as."""
    wants: dict[str, type]
    """The handler's parameters that guards provide."""
    uploads: bool
    """Whether the body is a file's bytes, which are put into a file of ours as they come."""
    name: str
    """A name nothing else has."""
    cacheable: bool
    """Whether the response depends on the database and the request alone, and is kept while both are equal."""
    anonymous: bool
    """Whether credentials are not looked at, so that wrong ones do not matter."""

    @property
    def writes(self) -> bool:
        """Whether a token needs to be allowed to write."""
        return self.method in {"POST", "PUT", "PATCH", "DELETE"}

    @property
    def summary(self) -> str:
        """What it does, in a sentence."""
        return inspect.getdoc(self.run) or ""

    def body_limit(self, settings: Settings) -> int:
        """Return how many bytes a body may have."""
        return self.largest_body if isinstance(self.largest_body, int) else self.largest_body(settings)

    def arguments(self, request: EndpointRequest) -> dict[str, object]:
        """Gather what the handler takes, but for the body, the query and the page."""
        values: dict[str, object] = {}
        for name, kind in self.parameters.items():
            values[name] = number(request.path[name]) if kind is int else request.path[name]
        for name, kind in self.wants.items():
            values[name] = request.resolved_values[kind]
        return values


def number(text: str) -> int:
    """Read a number in a path; what is none, or no one's, is not found."""
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
) -> Callable[[Callable[..., object]], Endpoint]:
    """Declare the function below it as an endpoint. `slow` keeps one that reads much off the event loop.

    The response of a `cacheable` one depends on the database and the request alone, not on files or the clock. A
    function that serves several endpoints needs a `name` for each.
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
        )

    return declare


def is_request(kind: object) -> bool:
    """Return whether a parameter of this type is given the request itself."""
    return isinstance(kind, type) and issubclass(kind, EndpointRequest)


@cache
def provides(guard: Guard) -> type | None:
    """Return the type of what a guard finds, or None for one that only checks."""
    called = guard if inspect.isfunction(guard) else type(guard).__call__
    kind = get_type_hints(called).get("return")
    return kind if isinstance(kind, type) and kind is not type(None) else None
