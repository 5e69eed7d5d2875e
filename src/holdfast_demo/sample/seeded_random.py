"""Chance that falls the same way on every machine."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

__all__ = ["SeededRandom"]

T = TypeVar("T")


class SeededRandom(Random):
    """A seeded source of chance.

    Python promises to keep only `random`, `getrandbits` and `randbytes` as they are; `choice`, `shuffle` and their
    kin have changed between versions. So the sample draws with these methods and with nothing else.
    """

    def below(self, bound: int) -> int:
        """Draw a whole number from 0 up to but not including `bound`."""
        return int(self.random() * bound)

    def between(self, low: int, high: int) -> int:
        """Draw a whole number from `low` to `high`, both included."""
        return low + int(self.random() * (high - low + 1))

    def one_in(self, count: int) -> bool:
        """Say yes once in `count` times."""
        return self.random() * count < 1

    def pick(self, things: Sequence[T]) -> T:
        """Draw one of several things."""
        return things[int(self.random() * len(things))]

    def pick_biased(self, things: Sequence[T]) -> T:
        """Draw one of several things, the first ones far more often than the last."""
        chance = self.random()
        return things[int(chance * chance * chance * len(things))]

    def pick_some(self, things: Sequence[T], count: int) -> list[T]:
        """Draw up to `count` different things."""
        start = self.below(len(things)) if things else 0
        return [things[(start + step) % len(things)] for step in range(min(count, len(things)))]

    def shuffled(self, things: Sequence[T]) -> list[T]:
        """Return the things in an order left to chance."""
        mixed = list(things)
        for last in range(len(mixed) - 1, 0, -1):
            other = self.below(last + 1)
            mixed[last], mixed[other] = mixed[other], mixed[last]
        return mixed

    def uuid(self) -> bytes:
        """Draw the 16 bytes of a version 4 UUID."""
        raw = bytearray(self.randbytes(16))
        raw[6] = raw[6] & 0x0F | 0x40
        raw[8] = raw[8] & 0x3F | 0x80
        return bytes(raw)
