"""Texts of a sample and their body ranges."""

from hypothesis import given
from hypothesis import strategies as st

from holdfast.backup.schema.backup_pb2 import Text
from holdfast_demo.sample.people import make_person
from holdfast_demo.sample.phrases import EXCHANGES, LANGUAGES, PLACES
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.texts import STYLES, beginning_of, fill_mention, fill_styled, random_texts
from tests.holdfast_demo.sample.sample_parts import items

WORDS = st.text(st.characters(exclude_categories=["Cs", "Zs"]), min_size=1)


def slice_utf16(text: str, start: int, length: int) -> str:
    """Cut a text the way a range does."""
    return text.encode("utf-16-le")[2 * start : 2 * (start + length)].decode("utf-16-le")


@given(st.lists(WORDS, min_size=1))
def test_emphasis_covers_its_words(words: list[str]) -> None:
    """Each range is exactly one word, whatever characters come before it."""
    text = Text()
    fill_styled(text, words, {index: STYLES[index % len(STYLES)] for index in range(len(words))})
    assert [slice_utf16(text.body, span.start, span.length) for span in text.bodyRanges] == words


def test_a_mention_stands_for_a_name() -> None:
    """The text has a placeholder where the name goes."""
    text = Text()
    person = make_person(SeededRandom(1), 9, "Robin", "Fairweather")
    fill_mention(text, person, "hello")
    (span,) = text.bodyRanges
    assert slice_utf16(text.body, span.start, span.length) == "\ufffc"
    assert span.mentionAci == person.aci


def test_ranges_lie_inside_their_texts() -> None:
    """No message of a sample has a range beyond its end."""
    texts = [item.standardMessage.text for item in items(3000)]
    assert sum(bool(text.bodyRanges) for text in texts) > 30
    for text in texts:
        size = len(text.body.encode("utf-16-le")) // 2
        assert all(span.start + span.length <= size for span in text.bodyRanges)


@given(st.text(min_size=1).map(lambda text: text * 3000))
def test_the_opening_of_a_long_text_is_its_beginning(text: str) -> None:
    """At most 2048 bytes are kept, and no character is cut in two."""
    first = beginning_of(text.encode())
    assert text.startswith(first)
    assert 1990 < len(first.encode()) <= 2048


def test_every_line_of_every_language_is_said() -> None:
    """Every line of each language is used, and all placeholders are filled."""
    for tongue in LANGUAGES:
        assert PLACES[tongue]
        texts = random_texts(SeededRandom(1), [tongue])
        lines = "\n".join(next(texts) for _ in range(1000))
        assert "{" not in lines
        for exchange in EXCHANGES[tongue]:
            assert all(part in lines for line in exchange for part in line.partition("{")[:1])
