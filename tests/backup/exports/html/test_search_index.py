"""The inverted index of the search page."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.backup.exports.html import search_index
from holdfast.backup.exports.html.search_index import WordIndex, fold, utf16_key, words_of


def test_words_are_folded() -> None:
    """Case, accents and compatibility forms of letters are folded in the search index."""
    assert fold("Çiğdem ÉCOLE \ufb01n \uff21") == "cigdem ecole fin a"
    assert words_of("It's TEST_case, naïve café; e-mail") == {
        "it",
        "s",
        "test",
        "case",
        "naive",
        "cafe",
        "e",
        "mail",
    }


def test_signs_are_found_alone_and_in_pairs() -> None:
    """CJK characters and emoji are indexed alone and in pairs, without skin tones."""
    assert words_of("日曜日、") == {"日", "曜", "日曜", "曜日"}
    assert words_of("👋🏽👋") == {"👋", "👋👋"}


def test_long_words_are_cut() -> None:
    """A word is cut to the maximum length of an index entry."""
    assert words_of("x" * 100_000) == {"x" * search_index.MAX_WORD}


def read(index: WordIndex) -> dict[str, list[int]]:
    """Read an index as the search page does."""
    postings: dict[str, list[int]] = {}
    for first, rows in index.shards():
        shard = json.loads(f"{{{rows}}}")
        assert next(iter(shard)) == first
        for word, steps in shard.items():
            page, pages = 0, []
            for step in steps:
                page += step
                pages.append(page)
            postings[word] = pages
    index.close()
    return postings


PAGES = st.lists(st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(["ab ac", "🎉 x", "日本"]))


@settings(max_examples=40)
@given(PAGES, st.sampled_from([1, 7, 1_000_000]), st.sampled_from([1, 64 << 10]), st.booleans())
def test_every_word_leads_to_its_pages(pages: list[str], most: int, shard: int, in_memory: bool) -> None:  # noqa: FBT001  # of hypothesis
    """With any limit of memory and file size, each word has its pages, and words are in UTF-16 order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search_index, "MAX_POSTINGS", most)
        patch.setattr(search_index, "SHARD_SIZE", shard)
        index = WordIndex(in_memory=in_memory)
        for number, text in enumerate(pages):
            index.add(number, [text])
        postings = read(index)
    expected: dict[str, list[int]] = {}
    for number, text in enumerate(pages):
        for word in words_of(text):
            expected.setdefault(word, []).append(number)
    assert postings == expected
    assert list(postings) == sorted(postings, key=utf16_key)


def test_words_can_be_written_into_a_script() -> None:
    """Words in the index have no quotes, brackets or line separators that could end a JavaScript string."""
    hostile = "\"]});canary();//\\ \u2028 '</script> __proto__ constructor"
    index = WordIndex()
    index.add(0, [hostile])
    assert set(read(index)) == {"canary", "script", "proto", "constructor"}
