"""The headers of a request, found by name at once: every request asks for a handful of them."""

from typing import overload

from starlette.types import Scope

__all__ = ["Headers"]


class Headers:
    """What a client sent, by names in any case; the first of several headers of a name counts."""

    __slots__ = ("_first", "_given")

    def __init__(self, scope: Scope) -> None:
        self._given: list[tuple[bytes, bytes]] = scope["headers"]
        self._first = dict(reversed(self._given))

    @overload
    def get(self, name: str) -> str | None: ...

    @overload
    def get(self, name: str, default: str) -> str: ...

    def get(self, name: str, default: str | None = None) -> str | None:
        """Return a header."""
        found = self._first.get(name.lower().encode())
        return default if found is None else found.decode("latin-1")

    def getlist(self, name: str) -> list[str]:
        """Return all headers of a name."""
        wanted = name.lower().encode()
        return [value.decode("latin-1") for key, value in self._given if key == wanted]

    def __contains__(self, name: str) -> bool:
        return name.lower().encode() in self._first
