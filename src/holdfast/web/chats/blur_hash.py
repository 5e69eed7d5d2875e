"""Decodes a BlurHash, the placeholder of an image in a backup, to a tiny PNG that is embedded in the page."""

import base64
import math
import struct
import zlib
from functools import lru_cache
from itertools import product
from typing import Final

__all__ = ["placeholder"]

DIGITS: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
VALUES: Final = {digit: value for value, digit in enumerate(DIGITS)}
# The browser interpolates between these pixels; higher frequencies would not be visible.
SIDE: Final = 6
MOST_COMPONENTS: Final = 4
# The shortest has one component, the longest nine by nine.
SHORTEST: Final = 6
LONGEST: Final = 4 + 2 * 81
COSINES: Final = tuple(
    tuple(math.cos(math.pi * i * (x + 0.5) / SIDE) for x in range(SIDE)) for i in range(MOST_COMPONENTS)
)

Colour = tuple[float, float, float]


@lru_cache(maxsize=4096)
def placeholder(text: str) -> str:
    """Return the image of a BlurHash as a `data:` URL; empty if the text is not a BlurHash."""
    if not SHORTEST <= len(text) <= LONGEST or not VALUES.keys() >= set(text):
        return ""
    size = VALUES[text[0]]
    columns, rows = size % 9 + 1, size // 9 + 1
    if len(text) != 4 + 2 * columns * rows:
        return ""
    components = read_components(text, columns, rows)
    lines = bytearray()
    for y in range(SIDE):
        lines.append(0)
        for x in range(SIDE):
            lines += bytes(to_srgb(level) for level in colour_at(components, x, y))
    return f"data:image/png;base64,{base64.b64encode(png(bytes(lines))).decode()}"


def read_components(text: str, columns: int, rows: int) -> dict[tuple[int, int], Colour]:
    """Decode the components: the average colour (DC) at (0, 0), and the low frequencies (AC)."""
    average = number(text[2:6])
    components: dict[tuple[int, int], Colour] = {
        (0, 0): (to_linear(average >> 16), to_linear(average >> 8 & 255), to_linear(average & 255))
    }
    largest = (VALUES[text[1]] + 1) / 166
    for j, i in product(range(min(rows, MOST_COMPONENTS)), range(min(columns, MOST_COMPONENTS))):
        if i or j:
            at = 4 + 2 * (j * columns + i)
            value = number(text[at : at + 2])
            red, green, blue = (signed_square((part - 9) / 9) * largest for part in levels(value))
            components[i, j] = (red, green, blue)
    return components


def levels(value: int) -> tuple[int, int, int]:
    """Split the value of a component into its three levels, 0 to 18."""
    return value // (19 * 19), value // 19 % 19, value % 19


def colour_at(components: dict[tuple[int, int], Colour], x: int, y: int) -> Colour:
    """Return the sum of the components at one pixel."""
    red = green = blue = 0.0
    for (i, j), (r, g, b) in components.items():
        basis = COSINES[i][x] * COSINES[j][y]
        red, green, blue = red + r * basis, green + g * basis, blue + b * basis
    return red, green, blue


def number(digits: str) -> int:
    """Parse a number in base 83."""
    value = 0
    for digit in digits:
        value = value * 83 + VALUES[digit]
    return value


def signed_square(value: float) -> float:
    """Square a number and keep its sign."""
    return math.copysign(value * value, value)


def to_linear(level: int) -> float:
    """Convert an sRGB level to linear light."""
    share = (level & 255) / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4


def to_srgb(light: float) -> int:
    """Convert linear light to an sRGB level."""
    share = min(max(light, 0.0), 1.0)
    return round(255 * (share * 12.92 if share <= 0.0031308 else 1.055 * share ** (1 / 2.4) - 0.055))


def png(lines: bytes) -> bytes:
    """Encode a PNG of `SIDE` by `SIDE` pixels from scan lines, each with its filter byte first."""
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
