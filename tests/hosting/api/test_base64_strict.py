"""Strict decoding of Base64, and the positions of errors."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosting.api import base64_strict
from holdfast.hosting.http.errors import ApiError


@given(st.binary(max_size=100), st.lists(st.tuples(st.integers(0, 140), st.sampled_from(["\r\n", "\n", "\r"]))))
def test_what_was_encoded_is_decoded(content: bytes, ends: list[tuple[int, str]]) -> None:
    """Line ends at any position of the encoded text are ignored."""
    text = base64.b64encode(content).decode()
    for position, end in ends:
        text = text[:position] + end + text[position:]
    assert base64_strict.decode(text) == content


@given(st.text(alphabet="AQ=/-\n é\ud800", max_size=12))
def test_invalid_base64_is_refused_with_its_position(text: str) -> None:
    """The position is at most the length of the text, and no other exception is raised."""
    position = base64_strict.first_wrong(text.encode(errors="surrogatepass"))
    if position is None:
        base64_strict.decode(text)
    else:
        assert 0 <= position <= len(text.encode(errors="surrogatepass"))
        with pytest.raises(ApiError, match=f"^illegal base64 data at input byte {position}$"):
            base64_strict.decode(text)


@pytest.mark.parametrize(
    ("text", "place"), [("YQ=\n", 4), ("YQ\n==Y", 5), ("\nY", 1), ("YWJjZ", 4), ("-", 0), ("=", 0), ("Y=", 1)]
)
def test_the_position_is_the_one_go_reports(text: str, place: int) -> None:
    """The position is counted in bytes of the input, line ends included, as Go does."""
    assert base64_strict.first_wrong(text.encode()) == place
