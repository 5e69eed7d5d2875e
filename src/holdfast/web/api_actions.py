"""Lets a page do what the API does: the same guards, the same checks, the same code."""

from collections.abc import Mapping
from copy import copy
from typing import Any

from holdfast.hosting.error_responses import refusal_for
from holdfast.hosting.errors import HostingError
from holdfast.hosting.http.decoders import checked, decode_query
from holdfast.hosting.http.endpoints import Endpoint, provides
from holdfast.hosting.http.pagination import PageParams
from holdfast.hosting.request_context import RequestContext

__all__ = ["act"]


def act(  # what a request consists of
    request: RequestContext,
    wanted: Endpoint,
    path: Mapping[str, str | int] | None = None,
    *,
    body: Mapping[str, Any] | None = None,
    query: Mapping[str, str] | None = None,
    page: PageParams | None = None,
) -> Any:
    """Do what an endpoint does for whoever looks at a page, and return what it returns.

    `path` gives parameters that the page's own address does not have. A refusal is raised as the API would
    send it.
    """
    places = {**request.path, **{name: str(value) for name, value in (path or {}).items()}}
    inner = copy(request)
    inner.path, inner.resolved_values, inner.response_headers, inner.on_loop = places, {}, {}, False
    try:
        for guard in wanted.guards:
            found = guard(inner)
            kind = provides(guard)
            if kind is not None:
                inner.resolved_values[kind] = found
        arguments: dict[str, Any] = wanted.arguments(inner)
        if wanted.body is not None:
            arguments["body"] = checked(wanted.body, dict(body or {}), strict=True)
        if wanted.query is not None:
            arguments["query"] = decode_query(wanted.query, list((query or {}).items()))
        if wanted.paged:
            arguments["page"] = page or PageParams(1, 50)
        return wanted.run(inner, **arguments)
    except HostingError as error:
        known = refusal_for(error)
        if known is None:
            raise
        raise known from error
