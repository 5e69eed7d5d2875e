"""Replaces the proofs of gift badges (receipt credential presentations), which only the owner should have.

A proof has a version, five curve points, a length and that many bytes, the expiration time in seconds, the level
of the badge, and a serial number. Valid points are replaced by the base point, invalid ones by an invalid one, and
the rest by random bytes; expiration time and level are kept.
"""

import random
from typing import Final

from holdfast.backup.rules.receipts import is_point

__all__ = ["replace_proof"]

POINT: Final = 32
POINTS: Final = 5
LENGTH_AT: Final = 1 + POINTS * POINT
TAIL: Final = 8 + 8 + 16
# The generator of ristretto255 (RFC 9496).
BASE_POINT: Final = bytes.fromhex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76")
# Not a canonical encoding of a point.
INVALID_POINT: Final = b"\xff" * POINT


def replace_proof(value: bytes, rng: random.Random) -> bytes:
    """Return a replacement of a proof; bytes that are not a proof become random, except the first byte."""
    replacement = bytearray(rng.randbytes(len(value)))
    replacement[:1] = value[:1]
    proof = LENGTH_AT + 8
    size = int.from_bytes(value[LENGTH_AT:proof], "little")
    if len(value) >= proof + TAIL and value[0] == 0 and proof + size + TAIL == len(value):
        points = (value[at : at + POINT] for at in range(1, LENGTH_AT, POINT))
        replacement[1:LENGTH_AT] = b"".join(BASE_POINT if is_point(point) else INVALID_POINT for point in points)
        replacement[LENGTH_AT:proof] = value[LENGTH_AT:proof]
        replacement[proof + size : proof + size + 16] = value[proof + size : proof + size + 16]
    return bytes(replacement)
