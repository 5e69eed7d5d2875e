"""Lists that are sent while the rest of them is loaded, if their texts are long."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

import msgspec

from holdfast.hosting.http.responses import RawResponse

__all__ = ["batches_of", "list_or_stream"]

T = TypeVar("T", bound=msgspec.Struct)
V = TypeVar("V")

# Items that are loaded at a time, and the characters of their texts above which a list is streamed.
BATCH: Final = 50
IN_MEMORY: Final = 2**21
JSON: Final = "application/json;charset=utf-8"


def batches_of(values: Sequence[V]) -> Iterator[Sequence[V]]:
    """Yield the ids of a list, or what else it is loaded by, in batches."""
    for start in range(0, len(values), BATCH):
        yield values[start : start + BATCH]


def list_or_stream(batches: Iterator[list[T]], text: Callable[[T], str]) -> list[T] | RawResponse:
    """Return a whole list, or a response that streams it if its texts are long."""
    listed: list[T] = []
    size = 0
    for batch in batches:
        listed += batch
        size += sum(len(text(item)) for item in batch)
        if size > IN_MEMORY:
            return RawResponse(pieces(listed, batches), JSON)
    return listed


def pieces(first: list[T], batches: Iterator[list[T]]) -> Iterator[bytes]:
    """Yield a list as JSON, with one batch at a time in memory."""
    text = msgspec.json.encode(first)[:-1]
    first.clear()
    yield text
    for batch in batches:
        if batch:
            yield b"," + msgspec.json.encode(batch)[1:-1]
    yield b"]"
