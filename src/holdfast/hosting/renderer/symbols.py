"""Symbols of source code: the functions, classes and types that a file defines, from the tokens of its lexer."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

from pygments.token import STANDARD_TYPES, Keyword, Name

__all__ = ["Symbol", "symbols_in"]

MOST_SYMBOLS: Final = 500
# The languages whose lexers give functions and classes these types where they are defined, and nowhere else, or
# which define them after a keyword.
LANGUAGES: Final = frozenset(
    {
        *("C", "C#", "C++", "Go", "Java", "JavaScript", "Kotlin", "PHP", "Python", "Ruby", "Rust", "Swift"),
        "TypeScript",
    }
)
DEFINED: Final = frozenset({Name.Function, Name.Class})
KEYWORDS: Final = frozenset(
    {
        *("class", "def", "enum", "fn", "func", "fun", "function", "interface", "mod", "module", "namespace"),
        *("record", "struct", "trait", "type", "union"),
    }
)


class Symbol(NamedTuple):
    """A defined name, its line, and whether the line is indented, as that of a method is."""

    name: str
    line: int
    is_indented: bool


@lru_cache(maxsize=len(STANDARD_TYPES) * 2)
def is_kind(kind: object, parent: object) -> bool:
    """Return whether a token type is another one or below it."""
    at = kind
    while at is not None and at is not parent:
        at = getattr(at, "parent", None)
    return at is parent


def symbols_in(language: str, tokens: Iterable[tuple[object, str]]) -> list[Symbol]:
    """Return the first symbols of a text by its tokens; none for a language without them."""
    if language not in LANGUAGES:
        return []
    found: list[Symbol] = []
    line, is_indented, is_line_start = 1, False, True
    # Whether a definition has begun, and the parentheses of the receiver of a method in Go that are open.
    is_defining, receiver = False, 0
    for kind, value in tokens:
        if is_line_start and value.strip("\n"):
            is_indented = value.strip("\n")[0].isspace()
            is_line_start = False
        text = value.strip()
        if receiver or (is_defining and language == "Go" and text == "("):
            receiver += value.count("(") - value.count(")")
        elif text:
            if is_kind(kind, Name) and (kind in DEFINED or is_defining):
                found.append(Symbol(text, line, is_indented))
                if len(found) == MOST_SYMBOLS:
                    break
            is_defining = is_kind(kind, Keyword) and text in KEYWORDS
        if "\n" in value:
            line += value.count("\n")
            last = value.rpartition("\n")[2]
            is_indented, is_line_start = last[:1].isspace(), not last
    return found
