"""Generated pictures: small landscapes as PNG, JPEG and animated GIF.

Another version of a compression library may write other bytes, with another hash. So none is used: PNG uses stored
blocks, GIF a code per pixel, JPEG one colour per block of 8 by 8.
"""

import struct
import zlib
from dataclasses import dataclass
from math import isqrt

from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["Landscape", "gif", "jpeg", "landscape", "png", "smile_png"]

Colour = tuple[int, int, int]

BASE83 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
SKY_SHADES = 16
SUN, HILL, SHORE = SKY_SHADES, SKY_SHADES + 1, SKY_SHADES + 2


@dataclass(frozen=True, slots=True)
class Landscape:
    """A picture of a sky, a sun, a hill and a shore: one byte per pixel, an index into the palette."""

    width: int
    height: int
    palette: tuple[Colour, ...]
    rows: tuple[bytes, ...]

    @property
    def blur_hash(self) -> str:
        """The picture's average colour as a BlurHash of one component."""
        counts = [0] * len(self.palette)
        for row in self.rows:
            for index in range(len(counts)):
                counts[index] += row.count(index)
        area = self.width * self.height
        red, green, blue = (
            sum(count * colour[part] for count, colour in zip(counts, self.palette, strict=True)) // area
            for part in range(3)
        )
        value = red << 16 | green << 8 | blue
        return "00" + "".join(BASE83[value // 83**power % 83] for power in (3, 2, 1, 0))


def landscape(rng: SeededRandom, width: int, height: int, sun_at: int | None = None) -> Landscape:
    """Draw a landscape; `sun_at` moves the sun across the sky, in pixels from the left."""
    top: Colour = (rng.between(20, 120), rng.between(60, 160), rng.between(150, 250))
    low: Colour = (rng.between(180, 255), rng.between(120, 220), rng.between(80, 200))
    sky = [blend(top, low, shade, SKY_SHADES - 1) for shade in range(SKY_SHADES)]
    hill: Colour = (rng.between(20, 90), rng.between(60, 130), rng.between(20, 90))
    palette = (*sky, (255, 244, rng.between(150, 220)), hill, (hill[0] // 2, hill[1] // 2, hill[2] // 2))
    peak = rng.between(width // 4, width * 3 // 4)
    sun_x = rng.between(width // 8, width * 7 // 8) if sun_at is None else sun_at
    sun_y, radius = height // 4, height // 8
    rows = []
    for y in range(height):
        row = bytearray([y * SKY_SHADES // height]) * width
        reach = radius * (radius + 1) - (y - sun_y) * (y - sun_y)
        if reach >= 0:
            half = isqrt(reach)
            fill(row, sun_x - half, sun_x + half + 1, SUN)
        climb = y - height // 3
        if climb > 0:
            fill(row, peak - 2 * climb, peak + climb * 3 // 2, HILL)
        if y >= height * 5 // 6:
            fill(row, 0, width, SHORE)
        rows.append(bytes(row))
    return Landscape(width, height, palette, tuple(rows))


def blend(first: Colour, second: Colour, step: int, steps: int) -> Colour:
    """Mix two colours."""
    red, green, blue = (a + (b - a) * step // steps for a, b in zip(first, second, strict=True))
    return red, green, blue


def fill(row: bytearray, start: int, stop: int, value: int) -> None:
    """Set the pixels of a row from `start` to `stop`, clipped to the picture."""
    start, stop = max(start, 0), min(stop, len(row))
    if start < stop:
        row[start:stop] = bytes([value]) * (stop - start)


def png(picture: Landscape) -> bytes:
    """Encode a picture as an indexed PNG."""
    header = struct.pack(">IIBBBBB", picture.width, picture.height, 8, 3, 0, 0, 0)
    palette = b"".join(bytes(colour) for colour in picture.palette)
    pixels = b"".join(b"\0" + row for row in picture.rows)
    return png_of((b"IHDR", header), (b"PLTE", palette), (b"IDAT", stored(pixels)))


def smile_png(colour: Colour, radius: int) -> bytes:
    """Return a smiling face with a transparent background as a PNG."""
    size = 2 * radius + 1
    header = struct.pack(">IIBBBBB", size, size, 8, 6, 0, 0, 0)
    skin, ink, nothing = bytes((*colour, 255)), b"\x30\x20\x20\xff", b"\0\0\0\0"
    pixels = bytearray()
    for y in range(-radius, radius + 1):
        pixels.append(0)
        for x in range(-radius, radius + 1):
            distance = isqrt(x * x + y * y)
            eye = abs(abs(x) - radius // 3) <= radius // 12 and abs(y + radius // 3) <= radius // 6
            mouth = y > radius // 5 and radius // 2 <= distance <= radius * 5 // 8
            pixels += ink if eye or mouth else skin if distance <= radius else nothing
    return png_of((b"IHDR", header), (b"IDAT", stored(bytes(pixels))))


def png_of(*chunks: tuple[bytes, bytes]) -> bytes:
    """Return a PNG with these chunks."""
    parts = [b"\x89PNG\r\n\x1a\n"]
    for kind, data in (*chunks, (b"IEND", b"")):
        parts.append(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    return b"".join(parts)


def stored(data: bytes) -> bytes:
    """Return a zlib stream of stored blocks."""
    parts = [b"\x78\x01"]
    for start in range(0, len(data), 0xFFFF):
        block = data[start : start + 0xFFFF]
        last = start + len(block) == len(data)
        parts.append(struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block)
    return b"".join(parts) + struct.pack(">I", zlib.adler32(data))


def gif(frames: list[Landscape]) -> bytes:
    """Encode pictures of one size and palette as a looping GIF."""
    first = frames[0]
    palette = b"".join(bytes(colour) for colour in first.palette).ljust(128 * 3, b"\0")
    parts = [
        b"GIF89a" + struct.pack("<HHBBB", first.width, first.height, 0xF6, 0, 0) + palette,
        b"\x21\xff\x0bNETSCAPE2.0\x03\x01\0\0\0",
    ]
    for frame in frames:
        parts.append(b"\x21\xf9\x04\x04\x14\0\0\0")
        parts.append(b"\x2c" + struct.pack("<HHHHB", 0, 0, frame.width, frame.height, 0))
        parts.append(b"\x07" + gif_pixels(b"".join(frame.rows)) + b"\0")
    return b"".join(parts) + b"\x3b"


def gif_pixels(pixels: bytes) -> bytes:
    """Encode pixels as one code each.

    With 128 colours a code has 8 bits until 126 codes were read. The table is cleared (0x80) before that, so a
    code is a byte; 0x81 ends the picture.
    """
    blocks = [b"\x80" + pixels[start : start + 120] for start in range(0, len(pixels), 120)]
    blocks[-1] += b"\x81"
    return b"".join(bytes([len(block)]) + block for block in blocks)


def jpeg(picture: Landscape) -> bytes:
    """Encode a picture as a baseline JPEG; every pixel is a block of 8 by 8."""
    dimensions = struct.pack(">BHHB", 8, picture.height * 8, picture.width * 8, 3)
    components = b"".join(bytes((number, 0x11, 0)) for number in (1, 2, 3))
    scan = b"\x03" + b"".join(bytes((number, 0)) for number in (1, 2, 3)) + b"\x00\x3f\x00"
    # Huffman tables: twelve size classes of four bits for DC, and one bit for the end of block for AC.
    flat = b"\x00" + bytes((0, 0, 0, 12)) + bytes(12) + bytes(range(12))
    rest = b"\x10" + bytes((1,)) + bytes(15) + b"\x00"
    return b"".join(
        (
            b"\xff\xd8",
            segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
            segment(0xDB, b"\x00" + bytes([8]) * 64),
            segment(0xC0, dimensions + components),
            segment(0xC4, flat),
            segment(0xC4, rest),
            segment(0xDA, scan),
            jpeg_blocks(picture),
            b"\xff\xd9",
        )
    )


def segment(marker: int, data: bytes) -> bytes:
    """Return a segment of a JPEG."""
    return struct.pack(">BBH", 0xFF, marker, len(data) + 2) + data


def jpeg_blocks(picture: Landscape) -> bytes:
    """Encode each block as the difference of its DC coefficients from those of the previous block."""
    shades = [luma_chroma(colour) for colour in picture.palette]
    before = (0, 0, 0)
    bits: list[str] = []
    for row in picture.rows:
        for index in row:
            shade = shades[index]
            for value, previous in zip(shade, before, strict=True):
                group_change = value - previous
                size = abs(group_change).bit_length()
                digits = group_change if group_change >= 0 else group_change + (1 << size) - 1
                bits.append(f"{size:04b}" + (f"{digits:0{size}b}" if size else "") + "0")
            before = shade
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")


def luma_chroma(colour: Colour) -> Colour:
    """Convert RGB to the luma and chroma of JPEG, centred at 0."""
    red, green, blue = colour
    luma = (299 * red + 587 * green + 114 * blue) // 1000
    return luma - 128, (blue - luma) * 564 // 1000, (red - luma) * 713 // 1000
