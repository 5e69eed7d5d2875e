"""How many bytes are written for how many there are, so that a file's size tells little about its content."""

from math import ceil, floor, log
from typing import Final

__all__ = ["padded"]

SMALLEST: Final = 541
STEP: Final = 1.05


def padded(size: int) -> int:
    """Round a size up to the next of a row of sizes that lie five percent apart.

    It is a rule for writing only: clients pad in other ways too, so a size read from a file proves nothing.
    """
    if size < 0:
        raise ValueError("a size cannot be negative")
    if size <= SMALLEST:
        return SMALLEST
    bucket = floor(STEP ** ceil(log(size) / log(STEP)))
    return max(size, bucket)  # the logarithm may round down where a size lies on a step
