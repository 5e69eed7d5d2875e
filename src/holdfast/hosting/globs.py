"""Patterns for names and paths: `*`, `**`, `?`, `[ab]`, `[!ab]`, `{a,b}`.

A `*` and a `?` stop at a separator, `**` does not; without separators all of them cross everything. There is no
library for this dialect, which is what people have written into their branch protections for years.
"""

import re
from functools import lru_cache

from holdfast.hosting.errors import PatternRefused

__all__ = ["compile_glob", "is_plain"]


def is_plain(pattern: str) -> bool:
    """Tell whether a pattern is a plain name that matches only itself."""
    return not re.search(r"[*?\[\]{}\\]", pattern)


@lru_cache(maxsize=4096)
def compile_glob(pattern: str, separators: str = "") -> re.Pattern[str]:
    """Turn a pattern into a regular expression that a whole name must match."""
    inner = f"[^{re.escape(separators)}]" if separators else "."
    made: list[str] = []
    depth = index = 0
    while index < len(pattern):
        sign = pattern[index]
        index += 1
        if sign == "*":
            if pattern[index : index + 1] == "*":
                index += 1
                made.append(".*")
            else:
                made.append(f"{inner}*")
        elif sign == "?":
            made.append(inner)
        elif sign == "[":
            end = pattern.find("]", index + 1)
            if end < 0:
                raise PatternRefused(f"the pattern {pattern} opens a [ that nothing closes")
            negated = pattern[index] == "!"
            content = pattern[index + negated : end]
            made.append(f"[{'^' if negated else ''}{character_class(content, pattern)}]")
            index = end + 1
        elif sign == "{":
            depth += 1
            made.append("(?:")
        elif sign == "}" and depth:
            depth -= 1
            made.append(")")
        elif sign == "," and depth:
            made.append("|")
        elif sign == "\\":
            if index == len(pattern):
                raise PatternRefused(f"the pattern {pattern} ends with a backslash")
            made.append(re.escape(pattern[index]))
            index += 1
        else:
            made.append(re.escape(sign))
    if depth:
        raise PatternRefused(f"the pattern {pattern} opens a {{ that nothing closes")
    return re.compile("".join(made), re.DOTALL)


def character_class(content: str, pattern: str) -> str:
    """Write what stands between brackets; a range must run upwards."""
    for first, last in re.findall(r"(.)-(.)", content):
        if first > last:
            raise PatternRefused(f"the pattern {pattern} has a range that runs backwards")
    return re.sub(r"([\\\]\[^])", r"\\\1", content)
