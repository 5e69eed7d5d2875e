"""Parses keys and ids as people write them: typed, pasted, in groups, in upper case.

An error says what was expected and the length of the input; it never contains the input.
"""

import base64
import re
import string
from itertools import pairwise
from typing import Final
from uuid import UUID

from holdfast.backup.errors import KeyRefused

__all__ = ["new_pool", "pool_weakness", "read_bytes", "read_pool", "read_uuid"]

POOL_SIZE: Final = 64
# Apps display the letter o and the digit 0 as unambiguous characters.
SIGNS: Final = str.maketrans({"#": "o", "=": "0"})

POOL_ALPHABET: Final = string.ascii_lowercase + string.digits
# A random recovery key has about 30 different characters and no repeated group of four; less than one in a billion
# is below these limits.
FEWEST_CHARACTERS: Final = 14
FEWEST_GROUPS: Final = 14
GROUP: Final = 4
# Of its 63 pairs of adjacent characters.
MOST_IN_ORDER: Final = 20

HEX: Final = re.compile(r"[0-9a-fA-F]*")
BASE64: Final = re.compile(r"[0-9a-zA-Z+/_-]*={0,2}")
UUID_TEXT: Final = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def read_pool(text: str) -> str:
    """Parse a recovery key in any grouping: 64 letters and digits, returned in lower case."""
    kept = "".join(sign for sign in text if sign.isalnum() or sign in "#=").translate(SIGNS)
    if len(kept) != POOL_SIZE:
        raise KeyRefused(f"a recovery key has {POOL_SIZE} letters and digits, but {len(kept)} were given")
    if not kept.isascii():
        strangers = sum(not sign.isascii() for sign in kept)
        raise KeyRefused(f"a recovery key is made of a to z and 0 to 9, but {strangers} of the characters are not")
    return kept.lower()


def new_pool() -> str:
    """Generate a recovery key with the random number generator of the operating system."""
    import secrets  # noqa: PLC0415  # loaded when it is needed, so that commands start at once

    return "".join(secrets.choice(POOL_ALPHABET) for _ in range(POOL_SIZE))


def pool_weakness(pool: str) -> str:
    """Return why a recovery key, in lower case and without spaces, is weak; empty if it is not."""
    characters = len(set(pool))
    if characters < FEWEST_CHARACTERS:
        return f"it has only {characters} different characters"
    groups = len({pool[start : start + GROUP] for start in range(0, len(pool), GROUP)})
    if groups < FEWEST_GROUPS:
        return "it repeats itself"
    places = [POOL_ALPHABET.index(sign) for sign in pool]
    steps = [after - before for before, after in pairwise(places)]
    if max(steps.count(1), steps.count(-1)) > MOST_IN_ORDER:
        return "its characters follow each other in the order of the alphabet"
    return ""


def read_bytes(text: str, size: int, label: str) -> bytes:
    """Parse `size` bytes written as hexadecimal or base64; the two never have the same length."""
    kept = "".join(text.split())
    if len(kept) == 2 * size and HEX.fullmatch(kept):
        return bytes.fromhex(kept)
    bare = kept.rstrip("=")
    if len(bare) == -(-size * 4 // 3) and BASE64.fullmatch(kept):
        value = _read_base64(bare)
        if value is not None:
            return value
    raise KeyRefused(
        f"{label} is {size} bytes, written as {2 * size} hexadecimal digits or as base64, "
        f"but the {len(kept)} characters given are neither"
    )


def read_uuid(text: str, label: str) -> UUID:
    """Parse a UUID, with or without hyphens."""
    kept = text.strip().lower()
    if not UUID_TEXT.fullmatch(kept):
        raise KeyRefused(
            f"{label} is a UUID, 32 hexadecimal digits with or without dashes, "
            f"but the {len(kept)} characters given are not one"
        )
    return UUID(kept)


def _read_base64(bare: str) -> bytes | None:
    """Decode base64 in either alphabet; surplus bits must be zero, otherwise a letter was mistyped."""
    plain = bare.replace("-", "+").replace("_", "/")
    value = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    return value if base64.b64encode(value).decode().rstrip("=") == plain else None
