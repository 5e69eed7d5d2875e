"""Pairs messages of one chat, author and time that are not the same to the byte."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from holdfast.backup.compare.canonical import TOMBSTONES, Aspect, aspects, canonical, parse
from holdfast.backup.compare.index import Index, MessageGroup, Side

__all__ = ["mark", "match_changed"]

TOMBSTONE: Final = "tombstone"


def mark(group: MessageGroup, marks: tuple[bytearray, bytearray]) -> None:
    """Mark the messages whose bytes are needed to tell what became of them."""
    for n in group.before:
        marks[0][n] = 1
    for n in group.after:
        marks[1][n] = 1


def match_changed(
    index: Index, group: MessageGroup
) -> Iterator[tuple[int | None, int | None, tuple[Aspect, ...]]]:
    """Pair what is left of one chat, author and time: first what means the same, then what is of one kind.

    Yields the places on both sides, None where there is none, and in what the two differ: nothing where they mean
    the same.
    """
    unmatched_messages, right = (
        UnmatchedMessages(index, "before", group.before),
        UnmatchedMessages(index, "after", group.after),
    )
    for old in group.before:
        new = right.take(unmatched_messages.meaning[old], unmatched_messages.kind[old])
        if new is not None:
            unmatched_messages.remove(old)
            yield old, new, ()
    for old in unmatched_messages.places():
        alone = unmatched_messages.count == right.count == 1
        new = right.take(None, None if alone else unmatched_messages.kind[old])
        if new is None:
            new = right.take(None, TOMBSTONE)
        if new is not None:
            unmatched_messages.remove(old)
            yield old, new, aspects(parse(index.raw("before", old)), parse(index.raw("after", new)))
    for old in unmatched_messages.places():
        yield old, None, ()
    for new in right.places():
        yield None, new, ()


class UnmatchedMessages:
    """Messages of one chat, author and time that have no partner yet, in their order."""

    def __init__(self, index: Index, side: Side, places: tuple[int, ...]) -> None:
        self.meaning: dict[int, bytes] = {}
        self.kind: dict[int, str] = {}
        self._left: dict[int, None] = dict.fromkeys(places)
        self._by_meaning: dict[bytes, list[int]] = {}
        self._by_kind: dict[str | None, list[int]] = {None: list(reversed(places))}
        for n in reversed(places):
            item = canonical(parse(index.raw(side, n)))
            kind = item.WhichOneof("item") or ""
            self.kind[n] = TOMBSTONE if kind in TOMBSTONES else kind
            self.meaning[n] = blake2b(item.SerializeToString(deterministic=True), digest_size=16).digest()
            self._by_meaning.setdefault(self.meaning[n], []).append(n)
            self._by_kind.setdefault(self.kind[n], []).append(n)

    @property
    def count(self) -> int:
        """How many are left."""
        return len(self._left)

    def places(self) -> list[int]:
        """List those that are left."""
        return list(self._left)

    def remove(self, n: int) -> None:
        """Take one that has found its partner."""
        del self._left[n]

    def take(self, meaning: bytes | None, kind: str | None) -> int | None:
        """Take the first one left that means this, or else is of this kind; any, if that is None."""
        waiting = self._by_kind.get(kind, []) if meaning is None else self._by_meaning.get(meaning, [])
        while waiting:
            n = waiting.pop()
            if n in self._left:
                self.remove(n)
                return n
        return None
