"""Counting of grapheme clusters."""

import pytest

from holdfast.backup.rules.graphemes import count_graphemes, kind_of

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
    "🎉a\u200d🎉": 3,
    "🎉\u0301\u200d🎉": 1,
    "e\u0301\u200d🎉": 2,
    "\u200d🎉": 2,
    "a🇩🇪": 2,
    "🇩a🇪🇫": 3,
    "\n\u0301": 2,
    "\r\u0301": 2,
    "\x00\u0301": 2,
    "a\r": 2,
    "\u0600\n": 2,
    "\u0600\x00": 2,
}
# The first and the last sign of each class, and those beside them.
KINDS = {
    "control": "\x00\x1f\x7f\x9f\u200b\u2028\U000e0000\U000e0fff",
    "other": " ~\xa8\xaa\u10ff\u1200\u0378\ua95f\ua97d\uabff\ud7a4\ud7c7\ud7ca\ud7fc"
    "\U0001f200\U0001fffe\U000e1000",
    "return": "\r",
    "feed": "\n",
    "joiner": "\u200d",
    "prepend": "\u0600\u0605",
    "extend": "\u0301\u20dd\u200c",
    "spacing": "\u0903\u0e33",
    "flag": "\U0001f1e6\U0001f1ff",
    "L": "\u1100\u115f\ua960\ua97c",
    "V": "\u1160\u11a7\ud7b0\ud7c6",
    "T": "\u11a8\u11ff\ud7cb\ud7fb",
    "LV": "\uac00\uac1c\ud788",
    "LVT": "\uac01\uac1b\ud7a3",
    "picture": "\xa9\xae\u2194\u2199\U0001f1e5\U0001f3fa\U0001fffd",
}
# What each part of a Korean syllable takes after it.
SYLLABLES = {
    "L": {"L", "V", "LV", "LVT"},
    "V": {"V", "T"},
    "LV": {"V", "T"},
    "T": {"T"},
    "LVT": {"T"},
}


@pytest.mark.parametrize(("text", "count"), COUNTS.items(), ids=ascii)
def test_characters_are_counted(text: str, count: int) -> None:
    """Accents, flags, families and syllables are one each."""
    assert count_graphemes(text) == count


@pytest.mark.parametrize("kind", KINDS)
def test_every_sign_plays_its_part(kind: str) -> None:
    """Every character of a class has the grapheme property of that class."""
    assert {hex(ord(sign)) for sign in KINDS[kind] if kind_of(sign) != kind} == set()


@pytest.mark.parametrize("before", SYLLABLES)
def test_a_korean_syllable_is_one_character(before: str) -> None:
    """The parts of a Hangul syllable join only in their order."""
    joined = {after for after in SYLLABLES if count_graphemes(KINDS[before][0] + KINDS[after][0]) == 1}
    assert joined == SYLLABLES[before]


def test_long_texts_are_counted_quickly() -> None:
    """A text of 20,000 emoji of seven code points each is counted in one pass."""
    assert count_graphemes("👩‍👩‍👧‍👦" * 20_000) == 20_000
