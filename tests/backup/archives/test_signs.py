"""Index tokens for scripts without word separators, and for emoji."""

import pytest

from holdfast.backup.archives.signs import EMOJI, LOOKS, RUN, SCRIPTS, sign_query, split_signs
from tests.backup.wire.core import Core


@pytest.mark.parametrize("text", ["plain", "Zürich", "Привет", "مرحبا", "…so", "\u200d\ufe0f", "🏽", ""])
def test_texts_with_words_need_nothing(core: Core, text: str) -> None:
    """Texts in scripts with spaces have no tokens of signs, because the index splits them itself."""
    assert not core.signs.sign_words(text)
    assert core.signs.index_tokens(text, None) is core.signs.index_tokens(None, text) is None


def test_runs_are_those_of_the_expression(core: Core) -> None:
    """The characters at the ends of the ranges, and those beside them, are read as `RUN` reads them in queries."""
    ends = {ord(character) for character in SCRIPTS + EMOJI + LOOKS if character != "-"}
    for code in sorted({code + step for code in ends for step in (-1, 0, 1)} | {0x2019, 0x10FFFF}):
        for text in (chr(code), f"京{chr(code)}東", f"a{chr(code)}b{chr(code)}", f"{chr(code)}京"):
            runs = [core.signs.run_words(run) for run in RUN.findall(text)]
            assert core.signs.sign_words(text) == " ".join(filter(None, runs)), hex(code)


def test_tokens_are_those_of_text_and_file_names(core: Core) -> None:
    """A run ends with the text: it does not continue in what else is searchable."""
    assert core.signs.index_tokens("hi 京", "東.jpg") == "x4eacy x6771y"
    assert core.signs.index_tokens(None, "👍") == core.signs.index_tokens("👍", "a") == "x1f44dy"


def test_runs_are_pairs_and_the_last_sign(core: Core) -> None:
    """A run of signs is indexed as pairs and its last sign, so that every part of it is found."""
    sign_words = core.signs.sign_words
    assert sign_words("北京人 hi 東") == "x5317y4eac x4eacy4eba x4ebay x6771y"
    assert sign_query("北京人") == 'signs : "x5317y4eac x4eacy4eba"'
    assert sign_query("京") == "signs : x4eacy *"


def test_how_an_emoji_looks_does_not_matter(core: Core) -> None:
    """Skin tones and variation selectors are left out of the tokens."""
    sign_words = core.signs.sign_words
    assert sign_words("👍🏽") == sign_words("👍") == "x1f44dy"
    assert sign_query("❤️") == sign_query("❤")


def test_a_word_of_both_is_taken_apart() -> None:
    """A string of letters and signs is split into its words and its runs of signs."""
    assert split_signs("hi北京you") == (["hi", "you"], ["北京"])
