"""URL parameters inside a conversation."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.archives import Position
from holdfast.web.chats.open_archive import OpenArchive
from holdfast.web.chats.view import (
    ConversationRequest,
    PageNotFound,
    format_position,
    page_number,
    parse_id,
    parse_position,
    to_datetime,
)

whole = st.integers(0, 2**63 - 1)


@given(whole, whole, whole)
def test_positions_round_trip_through_urls(ms: int, n: int, number: int) -> None:
    """Every position of a message is parsed from its text in a URL."""
    position = Position(ms, n, number)
    assert parse_position(format_position(position)) == position


@given(st.text(max_size=30))
def test_any_text_is_a_position_or_not_found(text: str) -> None:
    """A position that is accepted has three parts, and there is no other error."""
    with suppress(PageNotFound):
        assert format_position(parse_position(text)).count(".") == 2


@pytest.mark.parametrize("text", ["", "-1", "1e3", "٣", "9" * 30, str(2**63), "1\n"])
def test_an_invalid_number_is_not_found(text: str) -> None:
    """Signs, exponents, digits of other scripts and numbers beyond 64 bits are no ids."""
    with pytest.raises(PageNotFound):
        parse_id(text)


def test_pages_are_numbered_from_one(opened: OpenArchive) -> None:
    """An invalid page number counts as 1; queries are encoded, and a timestamp out of range has no date."""
    with opened.reading() as archive:
        for text, number in {"": 1, "0": 1, "3": 3, "x": 1, "-2": 1, "9" * 20: 1}.items():
            assert page_number(ConversationRequest(opened, archive, "", {"page": text})) == number
        view = ConversationRequest(opened, archive, "/base", {})
        assert view.address("chat/1", q="a b&c", empty="", none=None) == "/base/chat/1?q=a+b%26c"
    assert to_datetime(None) is to_datetime(2**62) is None
