r"""Regular expressions that match in linear time, for patterns written by users.

They match a whole text. Supported are `.`, `[ab]`, `[^a-z]`, `\d`, `\w`, `\s`, `*`, `+`, `?`, `|` and groups;
anchors at the ends change nothing. A backtracking matcher would take exponential time for some patterns.
"""

from functools import lru_cache
from typing import Final

from holdfast.hosting.errors import PatternRefused
from holdfast.hosting.store.globs import (
    DEEPEST,
    LONGEST,
    Accepts,
    Glob,
    GlobPart,
    alternation,
    any_character,
    bits,
)

__all__ = ["RegularExpression", "compile_regular_expression"]

QUANTIFIERS: Final = "*+?"
CLASSES: Final[dict[str, Accepts]] = {
    "d": str.isdigit,
    "w": lambda sign: sign.isalnum() or sign == "_",
    "s": str.isspace,
}


@lru_cache(maxsize=1024)
def compile_regular_expression(pattern: str) -> "RegularExpression":
    """Compile a regular expression; raise `PatternRefused` for one that is invalid or not supported."""
    if len(pattern) > LONGEST:
        raise PatternRefused(f"a pattern must have at most {LONGEST} characters")
    return RegularExpression(pattern)


class RegularExpression(Glob):
    """A compiled regular expression: the automaton of a glob with another syntax."""

    def __init__(self, pattern: str) -> None:
        super().__init__(pattern.removeprefix("^").removesuffix("$"), "")

    def _alternatives(self, depth: int) -> list[GlobPart]:
        """Parse the alternatives up to the closing parenthesis, or up to the end."""
        if depth > DEEPEST:
            raise PatternRefused(f"the pattern {self._pattern} nests groups more than {DEEPEST} deep")
        glob_parts = [GlobPart()]
        while self._index < len(self._pattern):
            sign = self._pattern[self._index]
            self._index += 1
            if sign == ")":
                if not depth:
                    raise PatternRefused(f"the pattern {self._pattern} closes a group that is not open")
                return [alternation(glob_parts)]
            if sign == "|":
                glob_parts.append(GlobPart())
            else:
                self._then(glob_parts[-1], self._quantified(self._atom(sign, depth)))
        if depth:
            raise PatternRefused(f"the pattern {self._pattern} has an unclosed group")
        return [alternation(glob_parts)]

    def _atom(self, sign: str, depth: int) -> GlobPart:
        """Parse a character, a class or a group."""
        if sign == "(":
            if self._pattern.startswith("?:", self._index):
                self._index += 2
            return self._alternatives(depth + 1)[0]
        if sign == ".":
            return self._state(any_character)
        if sign == "[":
            return self._state(self._bracketed())
        if sign == "\\":
            return self._state(self._escaped())
        if sign in "*+?{}^$":
            raise PatternRefused(f"the pattern {self._pattern} has an unexpected {sign}")
        return self._state(sign.__eq__)

    def _quantified(self, part: GlobPart) -> GlobPart:
        """Apply the quantifiers after an atom."""
        while self._pattern[self._index : self._index + 1] and self._pattern[self._index] in QUANTIFIERS:
            sign = self._pattern[self._index]
            self._index += 1
            if sign in "*+":
                for number in bits(part.last):
                    self._follow[number] |= part.first
            part.is_empty = part.is_empty or sign in "*?"
        return part

    def _escaped(self) -> Accepts:
        """Parse the character after a backslash."""
        sign = self._pattern[self._index : self._index + 1]
        if not sign:
            raise PatternRefused(f"the pattern {self._pattern} ends with a backslash")
        self._index += 1
        if sign in CLASSES:
            return CLASSES[sign]
        if sign.isalnum():
            raise PatternRefused(f"the pattern {self._pattern} has an unknown escape")
        return sign.__eq__

    def _bracketed(self) -> Accepts:
        """Parse a bracketed class up to its end."""
        negated = self._pattern.startswith("^", self._index)
        self._index += negated
        accepted: list[Accepts] = []
        while True:
            sign = self._pattern[self._index : self._index + 1]
            if not sign:
                raise PatternRefused(f"the pattern {self._pattern} has an unclosed [")
            self._index += 1
            if sign == "]" and accepted:
                return lambda character: negated != any(accepts(character) for accepts in accepted)
            last = self._pattern[self._index + 1 : self._index + 2]
            if sign == "\\":
                accepted.append(self._escaped())
            elif self._pattern.startswith("-", self._index) and last not in {"", "]"}:
                self._index += 2
                accepted.append(in_range(sign, last))
            else:
                accepted.append(sign.__eq__)


def in_range(first: str, last: str) -> Accepts:
    """Return the test whether a character is between two."""
    return lambda sign: first <= sign <= last
