"""Matches messages of one chat, author and time whose bytes differ."""

from collections.abc import Iterator
from hashlib import blake2b
from typing import Final

from holdfast.backup.compare.canonical import TOMBSTONES, Aspect, canonicalize, differing_aspects, parse_item
from holdfast.backup.compare.index import MessageGroup, MessageIndex, Side

__all__ = ["mark_messages", "match_changed"]

TOMBSTONE: Final = "tombstone"


def mark_messages(group: MessageGroup, marks: tuple[bytearray, bytearray]) -> None:
    """Mark the messages of a group, whose bytes are needed to match them."""
    for n in group.before:
        marks[0][n] = 1
    for n in group.after:
        marks[1][n] = 1


def match_changed(
    index: MessageIndex, group: MessageGroup
) -> Iterator[tuple[int | None, int | None, tuple[Aspect, ...]]]:
    """Match the messages of a group: first those with equal canonical forms, then those of the same kind.

    Yields the positions on both sides, None for an added or removed message, and the aspects in which they differ.
    """
    left, right = (
        UnmatchedMessages(index, "before", group.before),
        UnmatchedMessages(index, "after", group.after),
    )
    for old in group.before:
        new = right.take(left.digest[old], left.kind[old])
        if new is not None:
            left.remove(old)
            yield old, new, ()
    for old in left.positions():
        is_only_pair = left.count == right.count == 1
        new = right.take(None, None if is_only_pair else left.kind[old])
        if new is None:
            new = right.take(None, TOMBSTONE)
        if new is not None:
            left.remove(old)
            yield (
                old,
                new,
                differing_aspects(parse_item(index.raw("before", old)), parse_item(index.raw("after", new))),
            )
    for old in left.positions():
        yield old, None, ()
    for new in right.positions():
        yield None, new, ()


class UnmatchedMessages:
    """Messages of one chat, author and time that are not matched yet, in order."""

    def __init__(self, index: MessageIndex, side: Side, positions: tuple[int, ...]) -> None:
        self.digest: dict[int, bytes] = {}
        self.kind: dict[int, str] = {}
        self._remaining: dict[int, None] = dict.fromkeys(positions)
        self._by_digest: dict[bytes, list[int]] = {}
        self._by_kind: dict[str | None, list[int]] = {None: list(reversed(positions))}
        for n in reversed(positions):
            item = canonicalize(parse_item(index.raw(side, n)))
            kind = item.WhichOneof("item") or ""
            self.kind[n] = TOMBSTONE if kind in TOMBSTONES else kind
            self.digest[n] = blake2b(item.SerializeToString(deterministic=True), digest_size=16).digest()
            self._by_digest.setdefault(self.digest[n], []).append(n)
            self._by_kind.setdefault(self.kind[n], []).append(n)

    @property
    def count(self) -> int:
        """The number of unmatched messages."""
        return len(self._remaining)

    def positions(self) -> list[int]:
        """List the positions of the unmatched messages."""
        return list(self._remaining)

    def remove(self, n: int) -> None:
        """Remove a matched message."""
        del self._remaining[n]

    def take(self, digest: bytes | None, kind: str | None) -> int | None:
        """Remove and return the first message with this digest, or without one of this kind; None is any kind."""
        candidates = self._by_kind.get(kind, []) if digest is None else self._by_digest.get(digest, [])
        while candidates:
            n = candidates.pop()
            if n in self._remaining:
                self.remove(n)
                return n
        return None
