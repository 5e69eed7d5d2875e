"""Bounds the matching cost of `.gitattributes` patterns before git matches them.

The matcher git and its libraries share tries every way of dividing a path among the stars of a pattern. A file of
one line can so keep a processor busy for days, and nothing ends a library's call; so it is asked only when the
worst that can come of it is known.
"""

import re
from collections import Counter
from math import comb
from typing import Final

__all__ = ["MOST_EFFORT", "effort"]

# About a second, if it ever comes to that: real patterns have two or three stars, and need a thousandth of it.
MOST_EFFORT: Final = 10**8
STARS: Final = re.compile(rb"\*+")


def effort(content: bytes, path: bytes) -> int:
    """Return how many ways there are at most to lay the patterns of a file over a path."""
    lines = Counter(len(STARS.findall(line)) for line in content.split(b"\n") if b"*" in line)
    length = len(path)
    # With so many stars the exact number does not matter any more, and would take long to find.
    return sum(count * comb(length + min(stars, 64), min(stars, 64)) for stars, count in lines.items())
