"""Tokens for scripts without word separators, and for emoji."""

import pytest

from holdfast.backup.archives.signs import sign_query, sign_words, split_signs


@pytest.mark.parametrize("text", ["plain", "Zürich", "Привет", "مرحبا", ""])
def test_texts_with_words_need_nothing(text: str) -> None:
    """The index finds them as they are."""
    assert not sign_words(text)


def test_runs_are_pairs_and_the_last_sign() -> None:
    """So that every part of a run is found by the pairs in it."""
    assert sign_words("北京人 hi 東") == "x5317y4eac x4eacy4eba x4ebay x6771y"
    assert sign_query("北京人") == 'signs : "x5317y4eac x4eacy4eba"'
    assert sign_query("京") == "signs : x4eacy *"


def test_how_an_emoji_looks_does_not_matter() -> None:
    """Skin tones and variation selectors are left out."""
    assert sign_words("👍🏽") == sign_words("👍") == "x1f44dy"
    assert sign_query("❤️") == sign_query("❤")


def test_a_word_of_both_is_taken_apart() -> None:
    """The words, and the runs."""
    assert split_signs("hi北京you") == (["hi", "you"], ["北京"])
