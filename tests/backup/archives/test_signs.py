"""Index tokens for scripts without word separators, and for emoji."""

import pytest

from holdfast.backup.archives.signs import sign_query, sign_words, split_signs


@pytest.mark.parametrize("text", ["plain", "Zürich", "Привет", "مرحبا", ""])
def test_texts_with_words_need_nothing(text: str) -> None:
    """Texts in scripts with spaces have no tokens of signs, because the index splits them itself."""
    assert not sign_words(text)


def test_runs_are_pairs_and_the_last_sign() -> None:
    """A run of signs is indexed as pairs and its last sign, so that every part of it is found."""
    assert sign_words("北京人 hi 東") == "x5317y4eac x4eacy4eba x4ebay x6771y"
    assert sign_query("北京人") == 'signs : "x5317y4eac x4eacy4eba"'
    assert sign_query("京") == "signs : x4eacy *"


def test_how_an_emoji_looks_does_not_matter() -> None:
    """Skin tones and variation selectors are left out of the tokens."""
    assert sign_words("👍🏽") == sign_words("👍") == "x1f44dy"
    assert sign_query("❤️") == sign_query("❤")


def test_a_word_of_both_is_taken_apart() -> None:
    """A string of letters and signs is split into its words and its runs of signs."""
    assert split_signs("hi北京you") == (["hi", "you"], ["北京"])
