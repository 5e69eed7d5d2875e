"""Characters are counted as people count them."""

import pytest

from holdfast.backup.rules.graphemes import count_graphemes

COUNTS = {
    "": 0,
    "abc": 3,
    "e\u0301": 1,
    "\r\n": 1,
    "\n\r": 2,
    "a\u200db": 2,
    "🇩🇪🇫🇷": 2,
    "🇩🇪🇫": 2,
    "👩‍👩‍👧‍👦": 1,
    "👍🏽👍": 2,
    "❤️": 1,
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿": 1,
    "각각": 2,
    "\u1100\u1161\u11a8": 1,
    "นี้": 1,
    "नि": 1,
    "\u0600a": 1,
    "\u200d": 1,
    "a\u0000b": 3,
    "क्": 1,
    "กำ": 1,
    "a🎉\u200d🎉": 2,
}


@pytest.mark.parametrize(("text", "count"), COUNTS.items(), ids=ascii)
def test_characters_are_counted(text: str, count: int) -> None:
    """Accents, flags, families and syllables are one each."""
    assert count_graphemes(text) == count


def test_long_texts_are_counted_quickly() -> None:
    """Once through, whatever is in it."""
    assert count_graphemes("👩‍👩‍👧‍👦" * 20_000) == 20_000
