"""Lets a page do what the API does: the same guards, the same checks, the same code."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec.structs import replace

from holdfast.hosting.errors import HostingError
from holdfast.hosting.http.context import RequestContext
from holdfast.hosting.http.decoders import checked, decode_query
from holdfast.hosting.http.endpoints import Endpoint, provides
from holdfast.hosting.http.errors import ApiError, refusal_for
from holdfast.hosting.http.pagination import PageParams

__all__ = ["act", "problem_with"]

# Where a word begins in a field's name such as BranchFilter.
CAPITALS: Final = re.compile(r"(?<=[a-z])[A-Z](?=[a-z])")
LOOKED_FOR: Final = re.compile(r"(.*) \[(?:[^\[]*, )?name: (.*)\]", re.DOTALL)


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
    inner = replace(request, path=places, resolved_values={}, response_headers={}, on_loop=False)
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


def problem_with(refusal: ApiError) -> str:
    """Return why something was refused, as a sentence for people."""
    text = refusal.message.strip()
    # The API names the field in brackets: "[Title]: Required".
    if text.startswith("[") and "]: " in text:
        field, _, reason = text[1:].partition("]: ")
        words = {"Required": "is needed", "MaxSize": "is too long", "MinSize": "is too short"}
        if "matching regex" in reason:
            words[reason] = (
                "must begin with https:// or http://" if "https?" in reason else "has not the right form"
            )
        called = CAPITALS.sub(lambda found: f" {found[0].lower()}", field)
        text = f"{called}: {words.get(reason, reason)}" if field else reason
    # And what was looked for: "user does not exist [uid: 0, name: ada]".
    if found := LOOKED_FOR.fullmatch(text):
        text = f"{found[1]}: {found[2]}"
    text = text or "That was refused"
    return f"{text[:1].upper()}{text[1:]}{'' if text[-1] in '.!?' else '.'}"
