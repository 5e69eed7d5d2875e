"""Glob patterns for names and paths: `*`, `**`, `?`, `[ab]`, `[!ab]`, `{a,b}`.

`*` and `?` do not match a separator, `**` does; without separators they match everything. No library implements
this dialect, which is that of Gitea's branch protections.

A pattern is compiled to a nondeterministic finite automaton (NFA) that reads the name once, so matching takes
linear time; a backtracking regular expression would take exponential time for a pattern of many stars.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from holdfast.hosting.errors import PatternRefused

__all__ = [
    "DEEPEST",
    "LONGEST",
    "Accepts",
    "Glob",
    "GlobPart",
    "alternation",
    "any_character",
    "bits",
    "compile_glob",
    "is_plain",
]

LONGEST: Final = 1000
DEEPEST: Final = 10
# The maximum size of the cache of transitions.
KEPT_STEPS: Final = 4096

Accepts = Callable[[str], bool]


def is_plain(pattern: str) -> bool:
    """Return whether a pattern has no special characters and so matches only itself."""
    return not re.search(r"[*?\[\]{}\\]", pattern)


@lru_cache(maxsize=1024)
def compile_glob(pattern: str, separators: str = "") -> "Glob":
    """Compile a pattern; cached."""
    if len(pattern) > LONGEST:
        raise PatternRefused(f"a pattern must have at most {LONGEST} characters")
    return Glob(pattern, separators)


@dataclass(slots=True)
class GlobPart:
    """A fragment of the automaton: its first and last states, as bit sets, and whether it matches ""."""

    first: int = 0
    last: int = 0
    is_empty: bool = True


class Glob:
    """A compiled pattern."""

    def __init__(self, pattern: str, separators: str) -> None:
        self._pattern = pattern
        self._separators = frozenset(separators)
        self._accepts: list[Accepts] = []
        self._follow: list[int] = []
        self._index = 0
        part = self._alternatives(0)[0]
        self._start = 1 << len(self._accepts)
        self._follow.append(part.first)
        self._ends = part.last | (self._start if part.is_empty else 0)
        self._steps: dict[tuple[int, str], int] = {}

    def matches(self, name: str) -> bool:
        """Return whether the pattern matches the whole name."""
        at, steps = self._start, self._steps
        for sign in name:
            step = steps.get((at, sign))
            if step is None:
                step = self._step(at, sign)
                if len(steps) >= KEPT_STEPS:
                    steps.clear()
                steps[at, sign] = step
            at = step
            if not at:
                return False
        return bool(at & self._ends)

    def _step(self, at: int, sign: str) -> int:
        """Return the states reached from `at` by one character."""
        reached = 0
        for number in bits(at):
            reached |= self._follow[number]
        return sum(1 << number for number in bits(reached) if self._accepts[number](sign))

    def _state(self, accepts: Accepts, *, repeats: bool = False) -> GlobPart:
        """Add a state entered by one character, or by any number of them if `repeats`."""
        bit = 1 << len(self._accepts)
        self._accepts.append(accepts)
        self._follow.append(bit if repeats else 0)
        return GlobPart(bit, bit, repeats)

    def _then(self, before: GlobPart, after: GlobPart) -> None:
        """Concatenate two fragments."""
        for number in bits(before.last):
            self._follow[number] |= after.first
        before.first |= after.first if before.is_empty else 0
        before.last = after.last | (before.last if after.is_empty else 0)
        before.is_empty = before.is_empty and after.is_empty

    def _alternatives(self, depth: int) -> list[GlobPart]:
        """Parse the alternatives up to the closing brace, or the only one up to the end."""
        if depth > DEEPEST:
            raise PatternRefused(f"the pattern {self._pattern} nests braces more than {DEEPEST} deep")
        glob_parts = [GlobPart()]
        while self._index < len(self._pattern):
            sign = self._pattern[self._index]
            self._index += 1
            if depth and sign == "}":
                return glob_parts
            if depth and sign == ",":
                glob_parts.append(GlobPart())
            elif sign == "{":
                self._then(glob_parts[-1], alternation(self._alternatives(depth + 1)))
            else:
                self._then(glob_parts[-1], self._single(sign))
        if depth:
            raise PatternRefused(f"the pattern {self._pattern} has an unclosed {{")
        return glob_parts

    def _single(self, sign: str) -> GlobPart:
        """Parse one element of a pattern."""
        pattern = self._pattern
        if sign == "*":
            if pattern[self._index : self._index + 1] == "*":
                self._index += 1
                return self._state(any_character, repeats=True)
            return self._state(self._inner, repeats=True)
        if sign == "?":
            return self._state(self._inner)
        if sign == "[":
            return self._state(self._character_class())
        if sign == "\\":
            if self._index == len(pattern):
                raise PatternRefused(f"the pattern {pattern} ends with a backslash")
            sign = pattern[self._index]
            self._index += 1
        return self._state(sign.__eq__)

    def _inner(self, sign: str) -> bool:
        """Accept any character except the separators."""
        return sign not in self._separators

    def _character_class(self) -> Accepts:
        """Parse a character class; a range must be ascending."""
        pattern, begin = self._pattern, self._index
        negated = pattern[begin : begin + 1] == "!"
        begin += negated
        end = pattern.find("]", begin + 1)
        if end < 0:
            raise PatternRefused(f"the pattern {pattern} has an unclosed [")
        self._index = end + 1
        content = pattern[begin:end]
        ranges: list[tuple[str, str]] = []
        while content:
            wide = len(content) > 2 and content[1] == "-"
            first, last = content[0], content[2 if wide else 0]
            if first > last:
                raise PatternRefused(f"the pattern {pattern} has a descending range")
            ranges.append((first, last))
            content = content[3 if wide else 1 :]
        return lambda sign: negated != any(first <= sign <= last for first, last in ranges)


def alternation(parts: list[GlobPart]) -> GlobPart:
    """Combine alternatives into one fragment."""
    combined = GlobPart(is_empty=any(part.is_empty for part in parts))
    for part in parts:
        combined.first |= part.first
        combined.last |= part.last
    return combined


def any_character(_sign: str) -> bool:
    """Accept any character."""
    return True


def bits(number: int) -> list[int]:
    """Yield the positions of the bits that are set."""
    positions = []
    while number:
        lowest = number & -number
        positions.append(lowest.bit_length() - 1)
        number ^= lowest
    return positions
