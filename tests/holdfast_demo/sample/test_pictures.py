"""PNG, GIF and JPEG pictures, decoded to the pixels that were drawn."""

import string
import struct
import zlib
from collections.abc import Iterator

from holdfast_demo.sample.pictures import Landscape, gif, jpeg, landscape, luma_chroma, png, smile_png
from holdfast_demo.sample.seeded_random import SeededRandom

PICTURE = landscape(SeededRandom(5), 40, 30)


def png_chunks(data: bytes) -> dict[bytes, bytes]:
    """Take a PNG apart, checking every checksum."""
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    parts: dict[bytes, bytes] = {}
    offset = 8
    while offset < len(data):
        (size,) = struct.unpack_from(">I", data, offset)
        kind, body = data[offset + 4 : offset + 8], data[offset + 8 : offset + 8 + size]
        assert struct.unpack_from(">I", data, offset + 8 + size) == (zlib.crc32(kind + body),)
        parts[kind] = body
        offset += 12 + size
    return parts


def test_a_png_holds_the_pixels_that_were_drawn() -> None:
    """Unpacking the picture data gives back every row."""
    parts = png_chunks(png(PICTURE))
    assert list(parts) == [b"IHDR", b"PLTE", b"IDAT", b"IEND"]
    assert zlib.decompress(parts[b"IDAT"]) == b"".join(b"\0" + row for row in PICTURE.rows)
    assert max(max(row) for row in PICTURE.rows) < len(parts[b"PLTE"]) // 3


def test_a_large_png_is_stored_in_several_blocks() -> None:
    """A stored block holds at most 65535 bytes, so a larger picture needs more than one."""
    large = landscape(SeededRandom(5), 300, 300)
    assert zlib.decompress(png_chunks(png(large))[b"IDAT"]) == b"".join(b"\0" + row for row in large.rows)


def test_a_sticker_is_transparent_in_its_corners_and_not_in_its_middle() -> None:
    """The corners of a sticker are transparent, and its centre is opaque."""
    pixels = zlib.decompress(png_chunks(smile_png((10, 20, 30), 20))[b"IDAT"])
    size = 41
    alpha = [[pixels[y * (size * 4 + 1) + 1 + x * 4 + 3] for x in range(size)] for y in range(size)]
    assert (alpha[0][0], alpha[-1][-1], alpha[20][20]) == (0, 0, 255)


def gif_frames(data: bytes) -> Iterator[bytes]:
    """Read the pixels of each picture of a GIF as `gif_pixels` writes them: a code is a byte."""
    assert data[:6] == b"GIF89a"
    offset = 13 + 128 * 3
    while data[offset] != 0x3B:
        if data[offset] == 0x21:
            offset += 2
            while data[offset]:
                offset += data[offset] + 1
            offset += 1
            continue
        assert data[offset] == 0x2C
        assert data[offset + 10] == 7
        offset += 11
        codes = b""
        while data[offset]:
            codes += data[offset + 1 : offset + 1 + data[offset]]
            offset += data[offset] + 1
        offset += 1
        assert codes.endswith(b"\x81")
        runs = codes[:-1].split(b"\x80")
        # The 127th code after a clear would be nine bits wide.
        assert max(map(len, runs)) <= 126
        yield b"".join(runs)


def test_a_gif_holds_every_picture() -> None:
    """Every picture of an animated GIF can be read back."""
    pictures = [landscape(SeededRandom(5), 40, 30, sun_at=x) for x in (5, 15, 25)]
    assert list(gif_frames(gif(pictures))) == [b"".join(picture.rows) for picture in pictures]


def test_a_jpeg_holds_a_flat_block_for_each_pixel() -> None:
    """Reading the size classes and differences gives back the brightness and colour of every pixel."""
    data = jpeg(PICTURE)
    assert data.startswith(b"\xff\xd8\xff\xe0")
    assert data.endswith(b"\xff\xd9")
    scan = data.index(b"\xff\xda") + 2
    start = scan + struct.unpack_from(">H", data, scan)[0]
    body = data[start:-2].replace(b"\xff\x00", b"\xff")
    bits = f"{int.from_bytes(body, 'big'):0{len(body) * 8}b}"
    expected = [luma_chroma(PICTURE.palette[index]) for row in PICTURE.rows for index in row]
    actual, last, offset = [], [0, 0, 0], 0
    for _ in expected:
        for part in range(3):
            size = int(bits[offset : offset + 4], 2)
            digits = bits[offset + 4 : offset + 4 + size]
            change = int(digits, 2) if digits else 0
            last[part] += change if digits.startswith("1") or not digits else change - (1 << size) + 1
            assert bits[offset + 4 + size] == "0"
            offset += 5 + size
        actual.append(tuple(last))
    assert expected == actual
    assert set(bits[offset:]) <= {"1"}
    assert len(bits) - offset < 8


def test_a_blur_hash_is_the_average_colour() -> None:
    """A BlurHash of one component is two zeros, and the average colour in four digits of base 83."""
    half = Landscape(2, 1, ((0, 0, 0), (200, 100, 50)), (b"\x00\x01",))
    digits = string.digits + string.ascii_uppercase + string.ascii_lowercase + "#$%*+,-.:;=?@[]^_{|}~"
    value = 0
    for sign in half.blur_hash[2:]:
        value = value * 83 + digits.index(sign)
    assert (len(half.blur_hash), half.blur_hash[:2]) == (6, "00")
    assert value.to_bytes(3) == bytes((100, 50, 25))
