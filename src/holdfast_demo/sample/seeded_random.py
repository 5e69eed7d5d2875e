"""A random number generator with the same results on every machine."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

__all__ = ["SeededRandom"]

T = TypeVar("T")


class SeededRandom(Random):
    """A seeded random number generator.

    Python guarantees the results of `random`, `getrandbits` and `randbytes` only; `choice`, `shuffle` and others
    have changed between versions. All methods here use these three.
    """

    def below(self, bound: int) -> int:
        """Return an integer from 0 to `bound` - 1."""
        return int(self.random() * bound)

    def between(self, low: int, high: int) -> int:
        """Return an integer from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def one_in(self, count: int) -> bool:
        """Return True with a probability of 1 in `count`."""
        return self.random() * count < 1

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[int(self.random() * len(items))]

    def pick_biased(self, items: Sequence[T]) -> T:
        """Return one of the items, the first ones far more often than the last."""
        chance = self.random()
        return items[int(chance * chance * chance * len(items))]

    def pick_some(self, items: Sequence[T], count: int) -> list[T]:
        """Return up to `count` different items."""
        start = self.below(len(items)) if items else 0
        return [items[(start + step) % len(items)] for step in range(min(count, len(items)))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        mixed = list(items)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def uuid(self) -> bytes:
        """Return the 16 bytes of a version 4 UUID."""
        raw = bytearray(self.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        return bytes(raw)
