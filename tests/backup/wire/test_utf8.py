"""The UTF-8 table accepts what Python accepts."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.wire.utf8 import STEPS, WHOLE


def accepted(text: bytes) -> bool:
    """Return whether the table accepts a text."""
    state = WHOLE
    for byte in text:
        state = STEPS[byte] >> (state & 63)
    return state & 63 == WHOLE


def is_utf8(text: bytes) -> bool:
    """Return whether Python decodes a text as UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_every_beginning_of_a_character() -> None:
    """The table accepts a pair of bytes, alone or with one or two more, if Python decodes it."""
    for pair in product(range(256), repeat=2):
        for more in (b"", b"\x80", b"\xbf\x80", b"\x80\x7f"):
            assert accepted(bytes(pair) + more) == is_utf8(bytes(pair) + more)


@given(text=st.text(), at=st.integers(0, 20), byte=st.binary(max_size=2))
def test_texts_and_broken_texts(text: str, at: int, byte: bytes) -> None:
    """Any text passes, and one with bytes put in between passes when Python decodes it."""
    encoded = text.encode()
    assert accepted(encoded)
    broken = encoded[:at] + byte + encoded[at:]
    assert accepted(broken) == is_utf8(broken)
