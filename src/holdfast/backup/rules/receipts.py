"""Validates the receipt of a gift badge, as far as possible without the server.

A receipt is a zero byte, five points of the Ristretto group, a length-prefixed proof, the expiration time, the
level and a serial number. The proof is not verified, and trailing bytes are ignored.
"""

from functools import lru_cache
from typing import Final

__all__ = ["is_receipt"]

POINTS: Final = 5
POINT: Final = 32
LENGTH: Final = 8
# The sizes of the expiration time, the level and the serial number.
TAIL: Final = 8 + 8 + 16

PRIME: Final = 2**255 - 19
D: Final = -121665 * pow(121666, -1, PRIME) % PRIME
ROOT_OF_MINUS_ONE: Final = pow(2, (PRIME - 1) // 4, PRIME)


@lru_cache(maxsize=1024)
def is_receipt(data: bytes) -> bool:
    """Return whether bytes have the form of a receipt."""
    start = 1 + POINTS * POINT
    if len(data) < start + LENGTH + TAIL or data[0] != 0:
        return False
    proof = int.from_bytes(data[start : start + LENGTH], "little")
    if len(data) < start + LENGTH + proof + TAIL:
        return False
    return all(is_point(data[at : at + POINT]) for at in range(1, start, POINT))


def is_point(data: bytes) -> bool:
    """Return whether 32 bytes are a point of Ristretto (RFC 9496, section 4.3.1)."""
    s = int.from_bytes(data, "little")
    if s >= PRIME or s & 1:
        return False
    square = s * s % PRIME
    u1 = (1 - square) % PRIME
    u2 = (1 + square) % PRIME
    u2_square = u2 * u2 % PRIME
    v = (-(D * u1 * u1) - u2_square) % PRIME
    was_square, inverse = inverse_root(v * u2_square % PRIME)
    x = 2 * s * inverse * u2 % PRIME
    x = PRIME - x if x & 1 else x
    y = u1 * inverse * inverse * u2 * v % PRIME
    t = x * y % PRIME
    return was_square and not t & 1 and y != 0


def inverse_root(value: int) -> tuple[bool, int]:
    """Return whether the inverse of a number is a square, and its non-negative root (RFC 9496, section 4.2)."""
    cube = value * value * value % PRIME
    root = cube * pow(cube * cube * value % PRIME, (PRIME - 5) // 8, PRIME) % PRIME
    check = value * root * root % PRIME
    if check in (PRIME - 1, PRIME - ROOT_OF_MINUS_ONE):
        root = root * ROOT_OF_MINUS_ONE % PRIME
    return check in (1, PRIME - 1), PRIME - root if root & 1 else root
