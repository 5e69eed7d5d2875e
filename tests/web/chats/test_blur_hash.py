"""Placeholders of pictures, decoded from their BlurHash."""

import base64
import zlib

import pytest

from holdfast.web.chats.blur_hash import SIDE, placeholder


def pixels(text: str) -> list[list[tuple[int, int, int]]]:
    """Return the pixels of the placeholder of a BlurHash."""
    raw = base64.b64decode(placeholder(text).removeprefix("data:image/png;base64,"))
    assert raw.startswith(b"\x89PNG")
    at = raw.index(b"IDAT")
    lines = zlib.decompress(raw[at + 4 : at + 4 + int.from_bytes(raw[at - 4 : at], "big")])
    rows = [lines[n * (1 + 3 * SIDE) + 1 : (n + 1) * (1 + 3 * SIDE)] for n in range(SIDE)]
    return [[(row[x], row[x + 1], row[x + 2]) for x in range(0, len(row), 3)] for row in rows]


def test_one_component_is_one_colour() -> None:
    """A BlurHash of one component is a picture in its average colour."""
    red = 255 << 16
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
    text = "00" + "".join(digits[red // 83**power % 83] for power in (3, 2, 1, 0))
    assert {colour for row in pixels(text) for colour in row} == {(255, 0, 0)}


def test_several_components_are_decoded_by_position() -> None:
    """The example of the BlurHash specification is lighter at the top than at the bottom."""
    result = pixels("LEHV6nWB2yk8pyo0adR*.7kCMdnj")
    assert sum(result[0][2]) > sum(result[-1][2])
    assert len({colour for row in result for colour in row}) > 10


@pytest.mark.parametrize("text", ["", "L", "LEHV6n", "LEHV6nWB2yk8pyo0adR*.7kCMdn", "0" * 400, "00ä000", '00"000'])
def test_an_invalid_hash_shows_nothing(text: str) -> None:
    """The placeholder of an invalid BlurHash is an empty string."""
    assert placeholder(text) == ""
