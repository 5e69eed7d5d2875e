"""Exponential backoff with jitter for webhook retries, honouring `Retry-After`."""

import random
from typing import Final

__all__ = ["retry_delay"]

FIRST_SECONDS: Final = 10.0
# With eight attempts the seven delays add up to about a day: 10 s, 43 s, 3 min, 13 min, 57 min, 4 h, 17 h.
GROWTH: Final = 4.3
MAX_SECONDS: Final = 18 * 3600.0
# Jitter, so that receivers that failed together are not retried together.
JITTER: Final = 0.15
# Not the generator of the module `random`, which others seed, nor one whose state forked processes share.
GENERATOR: Final = random.SystemRandom()
# The longest `Retry-After` that is honoured, in seconds.
MAX_RETRY_AFTER: Final = 3600


def retry_delay(tries: int, *, retry_after: str = "", source: random.Random | None = None) -> float:
    """Return the delay in seconds after a number of attempts; `retry_after` is the response's header."""
    grown = FIRST_SECONDS * GROWTH ** min(tries - 1, 20)
    delay = min(grown, MAX_SECONDS)
    spread = (source or GENERATOR).uniform(1 - JITTER, 1 + JITTER)
    requested = (
        min(int(retry_after), MAX_RETRY_AFTER)
        if retry_after.isascii() and retry_after.isdigit() and len(retry_after) < 9
        else 0
    )
    return max(delay * spread, float(requested))
