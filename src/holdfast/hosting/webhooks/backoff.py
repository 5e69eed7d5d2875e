"""How long to wait before a receiver that could not be told is told again."""

import random
from typing import Final

__all__ = ["pause_before"]

FIRST_SECONDS: Final = 10.0
# With eight tries the seven pauses add up to about a day: 10 s, 43 s, 3 min, 13 min, 57 min, 4 h, 17 h.
GROWTH: Final = 4.3
LONGEST_SECONDS: Final = 18 * 3600.0
# So that receivers that went down together are not asked together.
JITTER: Final = 0.15
# What a receiver asks for itself counts up to here.
LONGEST_WISH: Final = 3600


def pause_before(tries: int, *, wish: str = "", chance: random.Random | None = None) -> float:
    """Return how many seconds to wait after so many tries; `wish` is the Retry-After header of the last answer."""
    grown = FIRST_SECONDS * GROWTH ** min(tries - 1, 20)
    pause = min(grown, LONGEST_SECONDS)
    spread = (chance or random).uniform(1 - JITTER, 1 + JITTER)
    asked = min(int(wish), LONGEST_WISH) if wish.isascii() and wish.isdigit() and len(wish) < 9 else 0
    return max(pause * spread, float(asked))
