"""Splitting texts into pieces of one style."""

from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.exports.schemas import ExportedTextRange
from holdfast.backup.exports.styles import Piece, split_styles
from tests.examples import examples

RANGES = st.lists(
    st.builds(
        ExportedTextRange, st.integers(0, 15), st.integers(0, 20) | st.just(2**32 - 1), st.sampled_from("ABC")
    ),
    max_size=6,
)


@settings(max_examples=examples(200), deadline=None)
@given(text=st.text(st.sampled_from("ab😀é"), max_size=12), ranges=RANGES)
def test_every_unit_has_the_styles_that_cover_it(text: str, ranges: list[ExportedTextRange]) -> None:
    """Every character has the styles of the ranges that cover it, and no text is lost or repeated."""
    spans = split_styles(text, ranges)
    assert "".join(piece.text for piece in spans) == text
    offset = 0
    for piece in spans:
        for sign in piece.text:
            # A range that begins inside a sign begins after it.
            covering = {item.style for item in ranges if item.start <= offset < item.start + item.length}
            assert piece.styles == covering
            offset += 2 if sign > "\uffff" else 1


def test_a_mention_becomes_a_name_once() -> None:
    """A mention is replaced by one name, even if another range or mention overlaps it."""
    ranges = [
        ExportedTextRange(2, 3, mention_id=1, mention="Ada"),
        ExportedTextRange(3, 1, "BOLD"),
        ExportedTextRange(3, 4, mention_id=2, mention="Bob"),
    ]
    assert "".join(piece.text for piece in split_styles("a xyz b", ranges)) == "a @Ada b"
    assert split_styles("", ranges) == []
    assert split_styles("abc", []) == [Piece("abc")]
