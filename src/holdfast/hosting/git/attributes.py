"""Bounds the matching cost of `.gitattributes` patterns before git matches them.

The matcher of git and libgit2 backtracks: a pattern of many stars takes exponential time, and a library call
cannot be interrupted. So the worst case is computed first.
"""

import re
from collections import Counter
from math import comb
from typing import Final

__all__ = ["MOST_EFFORT", "effort"]

# About a second in the worst case: real patterns have two or three stars and need a thousandth of it.
MOST_EFFORT: Final = 10**8
STARS: Final = re.compile(rb"\*+")


def effort(content: bytes, path: bytes) -> int:
    """Return the maximum number of ways to match the patterns of a file against a path."""
    lines = Counter(len(STARS.findall(line)) for line in content.split(b"\n") if b"*" in line)
    length = len(path)
    # Beyond this the exact number does not matter.
    return sum(count * comb(length + min(stars, 64), min(stars, 64)) for stars, count in lines.items())
