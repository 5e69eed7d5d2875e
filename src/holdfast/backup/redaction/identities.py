"""Consistent pseudonyms for identifiers that occur in several places.

Pseudonyms are assigned in the order of occurrence and stored: memory grows with people, groups and sticker packs.
The mapping is one-to-one, so that unique values stay unique, and equal ones equal.
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
# Unassigned prefixes: a country code, and an area code of North America.
PREFIXES: Final = ("999", "1555")
# Characters that are invalid in usernames, by their size in UTF-8.
INVALID_CHARACTERS: Final = {1: "-+=!", 2: "łńśżź", 3: "ḃḋḟṁṡ", 4: "🀰🀱🀲🀳🀴"}
# Number of digits of the largest discriminator of a username.
MAX_DIGITS: Final = len(str(LARGEST))


class Pseudonyms(Generic[Name]):
    """A one-to-one mapping of values to pseudonyms."""

    def __init__(self) -> None:
        self._pseudonyms: dict[Name, Name] = {}
        self._used: set[Name] = set()

    def rename(self, name: Name, draw: Callable[[], Name], every: Callable[[], Iterator[Name]]) -> Name:
        """Return the pseudonym of a value; a new one is random, or the first unused if nearly all are in use."""
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
    """Replaces identifiers of people, groups and other things by pseudonyms."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._keys: Pseudonyms[bytes] = Pseudonyms()
        self._telephones: Pseudonyms[int] = Pseudonyms()
        self._usernames: Pseudonyms[str] = Pseudonyms()

    def service_id(self, value: bytes) -> bytes:
        """Replace a service id: a UUID, or a UUID after a type byte."""
        if len(value) == UUID + 1:
            return value[:1] + self.uuid(value[1:])
        return self.uuid(value)

    def uuid(self, value: bytes) -> bytes:
        """Replace a UUID by its pseudonym, keeping the version; the nil UUID is kept."""
        if len(value) == UUID and not any(value):
            return value
        return self._keys.rename(value, lambda: self.another_uuid(value), lambda: every_bytes(len(value)))

    def another_uuid(self, value: bytes) -> bytes:
        """Return a random UUID of the same version."""
        replacement = bytearray(self._rng.randbytes(len(value)))
        if len(value) == UUID:
            replacement[6] = replacement[6] & 0x0F | value[6] & 0xF0
            replacement[8] = replacement[8] & 0x3F | value[8] & 0xC0
        return bytes(replacement)

    def key(self, value: bytes) -> bytes:
        """Replace a key that serves as an identifier."""
        size = len(value)
        return self._keys.rename(value, lambda: self._rng.randbytes(size), lambda: every_bytes(size))

    def telephone(self, value: bytes) -> bytes:
        """Replace a phone number; 0 means none and is kept."""
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
        """Return a random number with the same size as a varint; 0 is kept."""
        number = read_number(value)
        if number == 0:
            return value
        lowest, highest = same_size(number)
        replacement = self._rng.randint(lowest, highest)
        return write_number(replacement if replacement != number else lowest + highest - number, len(value))

    def username(self, value: bytes) -> bytes:
        """Replace a username by one that is valid or invalid in the same way."""
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
    """Decode a varint."""
    return sum((byte & 0x7F) << (7 * index) for index, byte in enumerate(value)) & LARGEST


def write_number(number: int, size: int) -> bytes:
    """Encode a varint in exactly `size` bytes."""
    encoded = encode_varint(number)
    if len(encoded) == size:
        return encoded
    return encoded[:-1] + bytes((encoded[-1] | 0x80,)) + b"\x80" * (size - len(encoded) - 1) + b"\0"


def every_bytes(size: int) -> Iterator[bytes]:
    """Yield all byte strings of a size."""
    return (number.to_bytes(size, "big") for number in range(256**size))


def same_size(number: int) -> tuple[int, int]:
    """Return the lowest and the highest number with the same size as a varint, except 0."""
    size = len(encode_varint(number))
    return max(1 << 7 * (size - 1), 1), min((1 << 7 * size) - 1, LARGEST)


def same_length(number: int) -> tuple[int, int]:
    """Return the lowest and the highest number with the same size as a varint and the same number of digits."""
    lowest, highest = same_size(number)
    length = len(str(number))
    return max(lowest, 10 ** (length - 1)), min(highest, 10**length - 1)


def unassigned_range(lowest: int, highest: int) -> tuple[int, int]:
    """Return the unassigned phone numbers of a range, or the whole range if there are none."""
    length = len(str(highest))
    for prefix in PREFIXES:
        first = int(prefix.ljust(length, "0"))
        last = int(prefix.ljust(length, "9"))
        if length > len(prefix) + 4 and lowest <= first and last <= highest:
            return first, last
    return lowest, highest


def alphabets(name: str) -> list[str]:
    """Return for each position of a username the characters that do not change its validity."""
    nickname, dot, number = name.rpartition(".")
    significant = number.lstrip("0")
    nonzero = digits[1:]
    # A number with the most digits must stay within, or above, the maximum.
    if significant.isascii() and significant.isdigit() and len(significant) >= MAX_DIGITS:
        nonzero = "1" if int(significant) <= LARGEST else "9"
    return [
        *(alphabet(character, digits) for character in nickname + dot),
        *(character if character == "0" else alphabet(character, nonzero) for character in number),
    ]


def alphabet(character: str, numerals: str) -> str:
    """Return the characters of the same class."""
    if character in "._":
        return character
    if character in ascii_letters:
        return CONSONANTS
    if character in digits:
        return numerals
    return INVALID_CHARACTERS[len(character.encode())]
