"""Parses `.editorconfig` files and matches their globs against a path.

All alternatives of a glob are matched in parallel, so the time is at most the length of the glob times that of the
path.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from holdfast.hosting.errors import PatternRefused

__all__ = ["definition_for", "matches"]

MOST_STEPS: Final = 2_000_000
LONGEST_SELECTOR: Final = 4096
DEEPEST: Final = 32
UNSET: Final = "unset"
LOWERED: Final = frozenset({"charset", "indent_style", "end_of_line"})
RANGE: Final = re.compile(r"\{([+-]?[0-9]{1,18})\.\.([+-]?[0-9]{1,18})\}")
NUMBER: Final = re.compile(r"[+-]?[0-9]{1,18}")
PAIR: Final = re.compile(r"([^=:]+?)\s*[=:]\s*(.*)")


@dataclass(slots=True)
class MatchBudget:
    """The remaining number of matching steps, to bound the cost of a glob."""

    left: int = MOST_STEPS

    def take(self, count: int) -> None:
        """Use up some steps; raise `PatternRefused` if none are left."""
        self.left -= count
        if self.left < 0:
            raise PatternRefused("the .editorconfig takes too long to match")


def sections(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the glob and the properties of each section."""
    selector: str | None = None
    pairs: dict[str, str] = {}
    for line in text.removeprefix("\ufeff").splitlines():
        stripped = line.strip()
        if not stripped or stripped[0] in "#;":
            continue
        if stripped.startswith("[") and stripped.endswith("]"):
            if selector is not None:
                yield selector, pairs
            selector, pairs = stripped[1:-1], {}
        elif pair := PAIR.fullmatch(stripped):
            pairs[pair[1].strip().lower()] = pair[2]
    if selector is not None:
        yield selector, pairs


def definition_for(text: str, path: str, keys: tuple[str, ...]) -> dict[str, str] | None:
    """Return the properties of a file for these keys; None if no section matches.

    The last matching section with a key wins; `unset` removes it.
    """
    steps = MatchBudget()
    fitting = [pairs for selector, pairs in sections(text) if fits(selector, path, steps)]
    if not fitting:
        return None
    definition: dict[str, str] = {}
    for pairs in reversed(fitting):
        for key in keys:
            if pairs.get(key) and key not in definition:
                definition[key] = pairs[key].lower() if key in LOWERED else pairs[key]
    return {key: definition[key] for key in keys if definition.get(key, UNSET).lower() != UNSET}


def matches(selector: str, path: str) -> bool:
    """Return whether a glob matches a path."""
    return fits(selector, path, MatchBudget())


def fits(selector: str, path: str, steps: MatchBudget) -> bool:
    """Return whether a glob matches a path, within a budget of steps."""
    if len(selector) > LONGEST_SELECTOR:
        return False
    starts = {0}
    if "/" not in selector:
        # A glob without a slash matches in any directory.
        starts |= {index + 1 for index, letter in enumerate(path) if letter == "/"}
    return len(path) in GlobMatcher(selector.removeprefix("/"), path, steps).ends(
        0, len(selector.removeprefix("/")), starts
    )


class GlobMatcher:
    """Matches one glob against one path."""

    def __init__(self, selector: str, path: str, steps: MatchBudget) -> None:
        self.selector = selector
        self.path = path
        self.steps = steps

    def ends(self, at: int, stop: int, starts: set[int], depth: int = 0) -> set[int]:
        """Return the path positions where a part of the glob can end, given its start positions."""
        selector, path = self.selector, self.path
        while at < stop and starts:
            self.steps.take(len(starts))
            sign = selector[at]
            if sign == "*":
                many = selector.startswith("**", at) and at + 1 < stop
                starts = self.star_positions(starts, across=many)
                at += 2 if many else 1
                continue
            if sign == "{" and (close := self.closing(at, stop)) is not None and depth < DEEPEST:
                starts = self.braces(at, close, starts, depth)
                at = close + 1
                continue
            if sign == "[" and (end := selector.find("]", at + 2, stop)) > 0 and "/" not in selector[at:end]:
                inside = selector[at + 1 : end]
                starts = {place + 1 for place in starts if place < len(path) and in_class(path[place], inside)}
                at = end + 1
                continue
            if sign == "?":
                starts = {place + 1 for place in starts if place < len(path) and path[place] != "/"}
                at += 1
                continue
            if sign == "\\" and at + 1 < stop:
                at += 1
                sign = selector[at]
            starts = {place + 1 for place in starts if path.startswith(sign, place)}
            at += 1
        return starts

    def star_positions(self, starts: set[int], *, across: bool) -> set[int]:
        """Return the positions a star can reach; a single one stops at a slash."""
        reached: set[int] = set()
        for start in sorted(starts):
            place = start
            while place not in reached and place <= len(self.path):
                reached.add(place)
                if place < len(self.path) and self.path[place] == "/" and not across:
                    break
                place += 1
        self.steps.take(len(reached))
        return reached

    def closing(self, at: int, stop: int) -> int | None:
        """Return the position of the matching closing brace."""
        self.steps.take(1)
        depth = 0
        place = at
        while place < stop:
            sign = self.selector[place]
            if sign == "\\":
                place += 1
            elif sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if not depth:
                    self.steps.take((place - at) // 8)
                    return place
            place += 1
        self.steps.take((place - at) // 8)
        return None

    def braces(self, at: int, close: int, starts: set[int], depth: int) -> set[int]:
        """Match each of the alternatives in braces, or the numbers of a range."""
        span = RANGE.fullmatch(self.selector, at, close + 1)
        if span is not None:
            low, high = sorted((int(span[1]), int(span[2])))
            number_matches = [match for place in starts if (match := NUMBER.match(self.path, place)) is not None]
            return {match.end() for match in number_matches if low <= int(match[0]) <= high}
        cuts = list(self.commas(at + 1, close))
        if not cuts:
            # Braces without alternatives are literal.
            inner = self.ends(at + 1, close, {p + 1 for p in starts if self.path.startswith("{", p)}, depth + 1)
            return {place + 1 for place in inner if self.path.startswith("}", place)}
        reached: set[int] = set()
        begin = at + 1
        for cut in [*cuts, close]:
            reached |= self.ends(begin, cut, set(starts), depth + 1)
            begin = cut + 1
        return reached

    def commas(self, at: int, stop: int) -> Iterator[int]:
        """Yield the positions of the commas that separate alternatives, without nested ones."""
        depth = 0
        while at < stop:
            sign = self.selector[at]
            if sign == "\\":
                at += 1
            elif sign in "{}":
                depth += 1 if sign == "{" else -1
            elif sign == "," and not depth:
                yield at
            at += 1


def in_class(letter: str, inside: str) -> bool:
    """Return whether a character is in a character class; a slash never is."""
    negated = inside[:1] in {"!", "^"}
    choices = inside[negated:]
    is_member = False
    at = 0
    while at < len(choices):
        if choices[at + 1 : at + 2] == "-" and at + 2 < len(choices):
            is_member |= choices[at] <= letter <= choices[at + 2]
            at += 3
        else:
            is_member |= choices[at] == letter
            at += 1
    return letter != "/" and is_member != negated
