"""Texts of messages, with styles and mentions."""

from collections.abc import Iterator, Sequence

from holdfast.backup.schema.backup_pb2 import BodyRange, Text
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.phrases import EMOJI, EXCHANGES, PLACES, Language
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.unusual_texts import UNUSUAL_TEXTS

__all__ = ["STYLES", "beginning_of", "fill_mention", "fill_styled", "random_texts", "unusual_text"]

STYLES = BodyRange.Style.values()[1:]
# The placeholder of a mention.
MENTION = "\ufffc"
# How much of a long text the message itself contains; the limit is 2048 bytes.
BEGINNING_BYTES = 2000
QUARTERS = ("00", "15", "30", "45")


def exchange_lines(rng: SeededRandom, language: Language) -> Iterator[str]:
    """Yield the lines of a random exchange with their placeholders filled in."""
    time = f"{rng.between(7, 21)}:{rng.pick(QUARTERS)}"
    number, place = rng.between(3, 60), rng.pick(PLACES[language])
    for line in rng.pick(EXCHANGES[language]):
        yield line.format(time=time, number=number, place=place) if "{" in line else line


def random_texts(rng: SeededRandom, languages: Sequence[Language]) -> Iterator[str]:
    """Yield lines of random exchanges in the given languages, endlessly."""
    while True:
        for line in exchange_lines(rng, rng.pick(languages)):
            chance = rng.random()
            if chance < 0.05:
                yield rng.pick(EMOJI) * rng.between(1, 3)
            yield f"{line} {rng.pick(EMOJI)}" if chance > 0.88 else line


def unusual_text(rng: SeededRandom) -> str:
    """Return a random text that looks dangerous or unusual."""
    return rng.pick(UNUSUAL_TEXTS)


def fill_styled(text: Text, words: list[str], styles: dict[int, BodyRange.Style.ValueType]) -> None:
    """Fill in words; `styles` has the style of a word by its position."""
    start = 0
    for place, word in enumerate(words):
        length = utf16_length(word)
        if place in styles:
            text.bodyRanges.add(start=start, length=length, style=styles[place])
        start += length + 1
    text.body = " ".join(words)


def fill_mention(text: Text, person: SamplePerson, rest: str) -> None:
    """Fill in a text that mentions a person."""
    text.body = f"{MENTION} {rest}"
    text.bodyRanges.add(start=0, length=1, mentionAci=person.aci)


def beginning_of(long_text: bytes) -> str:
    """Return the beginning of a text that is stored as a file, cut between two characters."""
    return long_text[:BEGINNING_BYTES].decode("utf-8", "ignore")


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 code units, the unit of body ranges."""
    return len(text.encode("utf-16-le")) // 2
