"""Finds the endpoint of a path: a tree over the path's parts, so that two hundred routes cost as much as ten.

A part is decoded after the path is split, so an escaped slash stays inside its part. A rest parameter
(`{filepath...}`) takes everything up to its suffix and there an escaped slash counts as a slash, because clients
exist that escape whole paths. In the path of a file, bytes that are no text are kept (by `surrogateescape`): git
has such names. Everywhere else they become replacement characters.
"""

from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar
from urllib.parse import unquote

import msgspec

from holdfast.hosting.http.errors import replace_surrogates

__all__ = ["IN_BYTES", "Match", "Router", "merge_slashes", "parts_of"]

IN_BYTES: Final = "filepath"

T = TypeVar("T")


@dataclass(slots=True)
class Node(Generic[T]):
    """The routes that share a beginning."""

    literal: dict[str, "Node[T]"] = field(default_factory=dict)
    parameter: "Node[T] | None" = None
    rests: list[tuple[tuple[str, ...], dict[str, tuple[T, tuple[str, ...]]]]] = field(default_factory=list)
    """What follows a rest parameter, and the endpoints there."""
    endpoints: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)
    """By method: the endpoint, and the names of the parameters on the way."""


class Match(msgspec.Struct, Generic[T], frozen=True):
    """Where a path led: an endpoint with its parameters, or the methods that would have been allowed."""

    endpoint: T | None
    parameters: dict[str, str]
    allowed: tuple[str, ...]


def merge_slashes(path: str) -> str:
    """Return a path with one slash where several stand in a row: no ref and no path in git has an empty part."""
    while "//" in path:
        path = path.replace("//", "/")
    return path


def parts_of(path: str) -> list[str]:
    """Split a path that is still escaped; one slash at the end does not count."""
    parts = path.removeprefix("/").removesuffix("/").split("/")
    return [unquote(part, errors="surrogateescape") for part in parts] if "%" in path else parts


class Router(Generic[T]):
    """A table of routes such as `GET /repos/{owner}/{repo}/contents/{filepath...}`."""

    def __init__(self) -> None:
        self._root: Node[T] = Node()

    def add(self, method: str, pattern: str, endpoint: T) -> None:
        """Add a route; the same one twice is a mistake in the code."""
        node, names = self._root, []
        parts = pattern.removeprefix("/").split("/")
        for index, part in enumerate(parts):
            if part.endswith("...}"):
                names.append(part[1:-4])
                suffix = tuple(parts[index + 1 :])
                table = next((table for known, table in node.rests if known == suffix), None)
                if table is None:
                    table = {}
                    node.rests.append((suffix, table))
                    node.rests.sort(key=lambda rest: -len(rest[0]))
                self._set(table, method, pattern, (endpoint, tuple(names)))
                return
            if part.startswith("{"):
                names.append(part[1:-1])
                node.parameter = node.parameter or Node()
                node = node.parameter
            else:
                node = node.literal.setdefault(part, Node())
        self._set(node.endpoints, method, pattern, (endpoint, tuple(names)))

    @staticmethod
    def _set(
        table: dict[str, tuple[T, tuple[str, ...]]], method: str, pattern: str, entry: tuple[T, tuple[str, ...]]
    ) -> None:
        if method in table:
            raise ValueError(f"{method} {pattern} is declared twice")
        table[method] = entry

    def find(self, method: str, path: str) -> Match[T]:
        """Find the endpoint for a method and an escaped path; HEAD is answered by GET."""
        wanted = "GET" if method == "HEAD" else method
        parts = parts_of(path)
        allowed: set[str] = set()
        found = self._walk(self._root, parts, 0, (), wanted, allowed)
        if found is None:
            return Match(None, {}, tuple(sorted(allowed)))
        endpoint, names, values = found
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
            found = self._walk(next_literal, parts, index + 1, values, method, allowed)
            if found is not None:
                return found
        if node.parameter is not None and part:
            found = self._walk(
                node.parameter, parts, index + 1, (*values, replace_surrogates(part)), method, allowed
            )
            if found is not None:
                return found
        for suffix, table in node.rests:
            end = len(parts) - len(suffix)
            if end <= index or tuple(parts[end:]) != suffix:
                continue
            entry = table.get(method)
            allowed.update(table)
            if entry is not None:
                rest = merge_slashes("/".join(parts[index:end]))
                return (*entry, (*values, rest if entry[1][-1] == IN_BYTES else replace_surrogates(rest)))
        return None
