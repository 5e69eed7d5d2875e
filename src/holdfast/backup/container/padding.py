"""The padded size of a file, which hides the size of its content."""

from math import ceil, floor, log
from typing import Final

__all__ = ["padded"]

SMALLEST: Final = 541
STEP: Final = 1.05


def padded(size: int) -> int:
    """Round a size up to the next bucket; buckets are five percent apart.

    This applies to writing only: clients pad in other ways too, so the size of a file is not checked.
    """
    if size < 0:
        raise ValueError("a size cannot be negative")
    if size <= SMALLEST:
        return SMALLEST
    bucket = floor(STEP ** ceil(log(size) / log(STEP)))
    return max(size, bucket)  # the logarithm may round down if a size is exactly that of a bucket
