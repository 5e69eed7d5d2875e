"""The router: a prefix tree of path segments, whose lookup time does not depend on the number of routes.

A segment is decoded after the path is split, so an escaped slash stays inside its segment. A rest parameter
(`{filepath...}`) matches everything up to its suffix; there an escaped slash counts as a slash, because some
clients escape whole paths. In the path of a file, bytes that are not UTF-8 are kept (by `surrogateescape`), as git
allows such names. Everywhere else they become replacement characters.
"""

from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

import msgspec

from holdfast.hosting.http.errors import replace_surrogates

__all__ = ["IN_BYTES", "Match", "Router", "merge_slashes", "parts_of"]

IN_BYTES: Final = "filepath"

T = TypeVar("T")


# By method: the endpoint, and the names of its path parameters.
Methods = dict[str, tuple[T, tuple[str, ...]]]


@dataclass(slots=True)
class Node(Generic[T]):
    """A node of the prefix tree: the routes that share a prefix."""

    literal: dict[str, "Node[T]"] = field(default_factory=dict)
    parameter: "Node[T] | None" = None
    rests: dict[tuple[str, ...], Methods[T]] = field(default_factory=dict)
    """The endpoints after a rest parameter, by the suffix that follows it, longest first."""
    endpoints: Methods[T] = field(default_factory=dict)


class Match(msgspec.Struct, Generic[T], frozen=True):
    """The result of a lookup: an endpoint with its parameters, or the allowed methods."""

    endpoint: T | None
    parameters: dict[str, str]
    allowed: tuple[str, ...]


def merge_slashes(path: str) -> str:
    """Collapse repeated slashes: no ref and no path in git has an empty segment."""
    while "//" in path:
        path = path.replace("//", "/")
    return path


def parts_of(path: str) -> list[str]:
    """Split an escaped path into segments; one trailing slash is ignored."""
    parts = path.removeprefix("/").removesuffix("/").split("/")
    return [unquote(part, errors="surrogateescape") for part in parts] if "%" in path else parts


class Router(Generic[T]):
    """A table of routes such as `GET /repos/{owner}/{repo}/contents/{filepath...}`."""

    def __init__(self) -> None:
        self._root: Node[T] = Node()

    def add(self, method: str, pattern: str, endpoint: T) -> None:
        """Add a route; a duplicate is a programming error."""
        node, names = self._root, []
        parts = pattern.removeprefix("/").split("/")
        methods: Methods[T] | None = None
        for index, part in enumerate(parts):
            if part.endswith("...}"):
                names.append(part[1:-4])
                methods = node.rests.setdefault(tuple(parts[index + 1 :]), {})
                node.rests = dict(sorted(node.rests.items(), key=lambda rest: -len(rest[0])))
                break
            if part.startswith("{"):
                names.append(part[1:-1])
                node.parameter = node = node.parameter or Node()
            else:
                node = node.literal.setdefault(part, Node())
        methods = node.endpoints if methods is None else methods
        if method in methods:
            raise ValueError(f"{method} {pattern} is declared twice")
        methods[method] = (endpoint, tuple(names))

    def find(self, method: str, path: str) -> Match[T]:
        """Return the endpoint for a method and an escaped path; HEAD is routed to GET."""
        wanted = "GET" if method == "HEAD" else method
        parts = parts_of(path)
        allowed: set[str] = set()
        match = self._walk(self._root, parts, 0, (), wanted, allowed)
        if match is None:
            return Match(None, {}, tuple(sorted(allowed)))
        endpoint, names, values = match
        return Match(endpoint, dict(zip(names, values, strict=True)), ())

    def _walk(  # noqa: PLR0917  # called for every part of every path, where names cost time
        self,
        node: Node[T],
        parts: list[str],
        index: int,
        values: tuple[str, ...],
        method: str,
        allowed: set[str],
    ) -> tuple[T, tuple[str, ...], tuple[str, ...]] | None:
        if index == len(parts):
            entry = node.endpoints.get(method)
            allowed.update(node.endpoints)
            return None if entry is None else (*entry, values)
        part = parts[index]
        next_literal = node.literal.get(part)
        if next_literal is not None:
            match = self._walk(next_literal, parts, index + 1, values, method, allowed)
            if match is not None:
                return match
        if node.parameter is not None and part:
            match = self._walk(
                node.parameter, parts, index + 1, (*values, replace_surrogates(part)), method, allowed
            )
            if match is not None:
                return match
        for suffix, methods in node.rests.items():
            end = len(parts) - len(suffix)
            if end <= index or tuple(parts[end:]) != suffix:
                continue
            entry = methods.get(method)
            allowed.update(methods)
            if entry is not None:
                rest = merge_slashes("/".join(parts[index:end]))
                return (*entry, (*values, rest if entry[1][-1] == IN_BYTES else replace_surrogates(rest)))
        return None
