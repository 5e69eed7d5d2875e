"""Conditional requests: the headers `If-Match` and `If-None-Match` (RFC 9110)."""

import re
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.http.context import EndpointRequest
from holdfast.hosting.http.errors import ApiError

__all__ = ["Tags", "tags_in", "tags_of"]

ANY: Final = "*"
TAG: Final = re.compile(r'(W/)?"([\x21\x23-\x7e\x80-\xff]*)"')
SEPARATOR: Final = re.compile(r"[ \t]*,[ \t,]*")


@dataclass(frozen=True, slots=True)
class Tags:
    """The entity tags of one header: any (`*`), or a list."""

    any: bool = False
    strong: frozenset[str] = frozenset()
    weak: frozenset[str] = frozenset()


def tags_in(value: str) -> Tags | None:
    """Parse a list of entity tags or `*`; None if invalid.

    Tags may contain commas, and the list empty elements.
    """
    text = value.strip(" \t")
    if text == ANY:
        return Tags(any=True)
    tags_by_weakness: dict[bool, set[str]] = {False: set(), True: set()}
    text = text.strip(" \t,")
    at = 0
    while tag := TAG.match(text, at):
        tags_by_weakness[tag[1] is not None].add(tag[2])
        if tag.end() == len(text):
            return Tags(strong=frozenset(tags_by_weakness[False]), weak=frozenset(tags_by_weakness[True]))
        between = SEPARATOR.match(text, tag.end())
        if between is None:
            return None
        at = between.end()
    return None


def tags_of(request: EndpointRequest, header: str) -> Tags | None:
    """Parse the entity tags of a header, which may be repeated; None if it is missing.

    Raise a 400 error if it is invalid.
    """
    lines = request.headers.getlist(header)
    if not lines:
        return None
    tags = tags_in(", ".join(lines))
    if tags is None:
        raise ApiError(400, f'[{header}]: must be * or a list of tags in quotes, such as "<ETag of the file>"')
    return tags
