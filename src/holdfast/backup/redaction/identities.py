"""The same stranger for the same person: pseudonyms for what is referred to from several places.

Pseudonyms are given out in the order in which identities are met, and remembered: memory grows with people, groups
and sticker packs. Two identities do not share one, so whatever was unique stays so, and nothing else becomes so.
"""

import random
from collections.abc import Callable, Iterator
from itertools import product
from string import ascii_letters, ascii_lowercase, digits
from typing import Final, Generic, TypeVar

from holdfast.backup.wire.varint import encode_varint

__all__ = ["Identities", "read_number", "write_number"]

Name = TypeVar("Name", bytes, int, str)

UUID: Final = 16
MAX_TRIES: Final = 64
LARGEST: Final = (1 << 64) - 1
CONSONANTS: Final = "bcdfghjklmnpqrstvwxz"
# No country has the first prefix, and no place in America the second.
PREFIXES: Final = ("999", "1555")
# By how many bytes they take; none may stand in a username.
INVALID_CHARACTERS: Final = {1: "-+=!", 2: "łńśżź", 3: "ḃḋḟṁṡ", 4: "🀰🀱🀲🀳🀴"}
# How many digits the largest number of a username has.
MAX_DIGITS: Final = len(str(LARGEST))


class Pseudonyms(Generic[Name]):
    """Who was renamed to what."""

    def __init__(self) -> None:
        self._pseudonyms: dict[Name, Name] = {}
        self._used: set[Name] = set()

    def rename(self, name: Name, draw: Callable[[], Name], every: Callable[[], Iterator[Name]]) -> Name:
        """Return the pseudonym of a name; a new one is drawn, or found among all where nearly all are taken."""
        existing = self._pseudonyms.get(name)
        if existing is not None:
            return existing
        pseudonym = next(
            (new for new in (draw() for _ in range(MAX_TRIES)) if new != name and new not in self._used), None
        )
        if pseudonym is None:
            pseudonym = next((new for new in every() if new not in self._used), name)
        self._pseudonyms[name] = pseudonym
        self._used.add(pseudonym)
        return pseudonym


class Identities:
    """Renames people, groups and whatever else is known by an id."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._keys: Pseudonyms[bytes] = Pseudonyms()
        self._telephones: Pseudonyms[int] = Pseudonyms()
        self._usernames: Pseudonyms[str] = Pseudonyms()

    def service_id(self, value: bytes) -> bytes:
        """Rename somebody by their id: a UUID, or one behind a byte that says which kind it is."""
        if len(value) == UUID + 1:
            return value[:1] + self.uuid(value[1:])
        return self.uuid(value)

    def uuid(self, value: bytes) -> bytes:
        """Rename a UUID, keeping its version; the one of zeros has a meaning of its own and stays."""
        if len(value) == UUID and not any(value):
            return value
        return self._keys.rename(value, lambda: self.another_uuid(value), lambda: every_bytes(len(value)))

    def another_uuid(self, value: bytes) -> bytes:
        """Make up a UUID of the same version."""
        replacement = bytearray(self._rng.randbytes(len(value)))
        if len(value) == UUID:
            replacement[6] = replacement[6] & 0x0F | value[6] & 0xF0
            replacement[8] = replacement[8] & 0x3F | value[8] & 0xC0
        return bytes(replacement)

    def key(self, value: bytes) -> bytes:
        """Rename what is known by its key."""
        size = len(value)
        return self._keys.rename(value, lambda: self._rng.randbytes(size), lambda: every_bytes(size))

    def telephone(self, value: bytes) -> bytes:
        """Rename a telephone number; 0 is none."""
        number = read_number(value)
        if number == 0:
            return value
        lowest, highest = same_length(number)
        first, last = unassigned_range(lowest, highest)
        pseudonym = self._telephones.rename(
            number, lambda: self._rng.randint(first, last), lambda: iter(range(lowest, highest + 1))
        )
        return write_number(pseudonym, len(value))

    def number(self, value: bytes) -> bytes:
        """Make up a number that takes as many bytes, another one each time; 0 stays."""
        number = read_number(value)
        if number == 0:
            return value
        lowest, highest = same_size(number)
        replacement = self._rng.randint(lowest, highest)
        return write_number(replacement if replacement != number else lowest + highest - number, len(value))

    def username(self, value: bytes) -> bytes:
        """Rename a username, which is right or wrong in the same way afterwards."""
        name = value.decode()
        alphabets_by_position = alphabets(name)
        pseudonym = self._usernames.rename(
            name.lower(),
            lambda: "".join(map(self._rng.choice, alphabets_by_position)),
            lambda: map(
                "".join,
                product(
                    *(
                        ascii_lowercase if character is CONSONANTS else character
                        for character in alphabets_by_position
                    )
                ),
            ),
        )
        return pseudonym.encode()


def read_number(value: bytes) -> int:
    """Read a number as it stands on the wire."""
    return sum((byte & 0x7F) << (7 * index) for index, byte in enumerate(value)) & LARGEST


def write_number(number: int, size: int) -> bytes:
    """Write a number in exactly so many bytes."""
    encoded = encode_varint(number)
    if len(encoded) == size:
        return encoded
    return encoded[:-1] + bytes((encoded[-1] | 0x80,)) + b"\x80" * (size - len(encoded) - 1) + b"\0"


def every_bytes(size: int) -> Iterator[bytes]:
    """Yield all bytes of a size."""
    return (number.to_bytes(size, "big") for number in range(256**size))


def same_size(number: int) -> tuple[int, int]:
    """Return the lowest and the highest number that take as many bytes on the wire, 0 aside."""
    size = len(encode_varint(number))
    return max(1 << 7 * (size - 1), 1), min((1 << 7 * size) - 1, LARGEST)


def same_length(number: int) -> tuple[int, int]:
    """Return the lowest and the highest number with as many digits that take as many bytes on the wire."""
    lowest, highest = same_size(number)
    length = len(str(number))
    return max(lowest, 10 ** (length - 1)), min(highest, 10**length - 1)


def unassigned_range(lowest: int, highest: int) -> tuple[int, int]:
    """Return the numbers of a range that nobody has, or all of it where none is known not to be had."""
    length = len(str(highest))
    for prefix in PREFIXES:
        first = int(prefix.ljust(length, "0"))
        last = int(prefix.ljust(length, "9"))
        if length > len(prefix) + 4 and lowest <= first and last <= highest:
            return first, last
    return lowest, highest


def alphabets(name: str) -> list[str]:
    """List the signs that may stand in each place of a username without making it any more or less valid."""
    nickname, dot, number = name.rpartition(".")
    significant = number.lstrip("0")
    nonzero = digits[1:]
    # As a number it must stay on its side of the largest, which only shows where it has as many digits.
    if significant.isascii() and significant.isdigit() and len(significant) >= MAX_DIGITS:
        nonzero = "1" if int(significant) <= LARGEST else "9"
    return [
        *(alphabet(character, digits) for character in nickname + dot),
        *(character if character == "0" else alphabet(character, nonzero) for character in number),
    ]


def alphabet(character: str, numerals: str) -> str:
    """List the signs of the same kind."""
    if character in "._":
        return character
    if character in ascii_letters:
        return CONSONANTS
    if character in digits:
        return numerals
    return INVALID_CHARACTERS[len(character.encode())]
