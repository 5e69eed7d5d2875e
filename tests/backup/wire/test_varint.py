"""Encoding of varints."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.errors import DamagedBackup
from holdfast.backup.wire.varint import encode_varint, read_varint


@pytest.mark.parametrize(("value", "expected"), [(0, "00"), (5, "05"), (7, "07"), (127, "7f"), (256, "8002")])
def test_known_numbers(value: int, expected: str) -> None:
    """Known numbers are encoded to the expected bytes."""
    assert expected == encode_varint(value).hex()


@given(st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_what_is_written_is_read(value: int, rest: bytes) -> None:
    """Every 32-bit number comes back, and not one byte behind it is touched."""
    source = io.BytesIO(encode_varint(value) + rest)
    assert value == read_varint(source)
    assert rest == source.read()


@pytest.mark.parametrize("text", ["8580808000", "85808080808000"])
def test_a_number_may_be_written_longer_than_needed(text: str) -> None:
    """Overlong encodings of a number are read."""
    assert read_varint(io.BytesIO(bytes.fromhex(text))) == 5


@pytest.mark.parametrize(
    ("text", "problem", "offset"),
    [
        ("", "the file ends in the middle of a length", 0),
        ("80", "the file ends in the middle of a length", 1),
        ("808080808001", "a length is larger than 32 bits can say", 0),
        ("ffffffff10", "a length is larger than 32 bits can say", 0),
        ("80" * 10 + "00", "a length does not end within 10 bytes", 0),
    ],
)
def test_what_is_not_a_length_is_named(text: str, problem: str, offset: int) -> None:
    """Each invalid length has an error with its problem and its offset."""
    with pytest.raises(DamagedBackup) as caught:
        read_varint(io.BytesIO(bytes.fromhex(text)))
    assert (problem, offset) == (caught.value.problem, caught.value.offset)


def test_a_negative_number_is_a_mistake() -> None:
    """A negative number is a ValueError."""
    with pytest.raises(ValueError, match="negative"):
        encode_varint(-1)
