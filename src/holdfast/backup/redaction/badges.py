"""Gift badges: the proof of one is no secret text, but a number that only its owner should be able to show.

A proof has a version, five points of a curve, a length and so many bytes, the second it expires, the level of the
badge, and a serial number. Points are replaced by one that everybody knows, what is none by what is none, and the
rest by chance; expiry and level stay.
"""

import random
from typing import Final

from holdfast.backup.rules.receipts import is_point

__all__ = ["replace_proof"]

POINT: Final = 32
POINTS: Final = 5
LENGTH_AT: Final = 1 + POINTS * POINT
TAIL: Final = 8 + 8 + 16
# The base point of ristretto255, as RFC 9496 writes it.
BASE_POINT: Final = bytes.fromhex("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76")
# Larger than any point is.
INVALID_POINT: Final = b"\xff" * POINT


def replace_proof(value: bytes, rng: random.Random) -> bytes:
    """Make up a proof of the same badge; bytes that are none are replaced by chance, but for how they begin."""
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
