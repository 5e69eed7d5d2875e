"""How exchanges become the texts of messages."""

from collections.abc import Iterator, Sequence

from holdfast.backup.schema.backup_pb2 import BodyRange, Text
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.phrases import EMOJI, EXCHANGES, PLACES, Language
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.unusual_texts import UNUSUAL_TEXTS

__all__ = ["STYLES", "beginning_of", "fill_mention", "fill_styled", "random_texts", "unusual_text"]

STYLES = BodyRange.Style.values()[1:]
# Stands in the text for the name of a person who is mentioned.
MENTION = "\ufffc"
# So much of a long text stands in the message itself; the rule is 2048 bytes.
BEGINNING_BYTES = 2000
QUARTERS = ("00", "15", "30", "45")


def exchange_lines(rng: SeededRandom, language: Language) -> Iterator[str]:
    """Draw an exchange, and yield line after line with the gaps filled."""
    time = f"{rng.between(7, 21)}:{rng.pick(QUARTERS)}"
    number, place = rng.between(3, 60), rng.pick(PLACES[language])
    for line in rng.pick(EXCHANGES[language]):
        yield line.format(time=time, number=number, place=place) if "{" in line else line


def random_texts(rng: SeededRandom, languages: Sequence[Language]) -> Iterator[str]:
    """Yield what is said, without end: one exchange after the other, each in one of the room's languages."""
    while True:
        for line in exchange_lines(rng, rng.pick(languages)):
            chance = rng.random()
            if chance < 0.05:
                yield rng.pick(EMOJI) * rng.between(1, 3)
            yield f"{line} {rng.pick(EMOJI)}" if chance > 0.88 else line


def unusual_text(rng: SeededRandom) -> str:
    """Draw a text that looks dangerous or odd."""
    return rng.pick(UNUSUAL_TEXTS)


def fill_styled(text: Text, words: list[str], styles: dict[int, BodyRange.Style.ValueType]) -> None:
    """Write words, those at the given places in their style."""
    start = 0
    for place, word in enumerate(words):
        length = utf16_length(word)
        if place in styles:
            text.bodyRanges.add(start=start, length=length, style=styles[place])
        start += length + 1
    text.body = " ".join(words)


def fill_mention(text: Text, person: SamplePerson, rest: str) -> None:
    """Address a person by name."""
    text.body = f"{MENTION} {rest}"
    text.bodyRanges.add(start=0, length=1, mentionAci=person.aci)


def beginning_of(long_text: bytes) -> str:
    """Cut off the beginning of a text that has a file of its own, between two characters."""
    return long_text[:BEGINNING_BYTES].decode("utf-8", "ignore")


def utf16_length(text: str) -> int:
    """Count in UTF-16 code units, as ranges do."""
    return len(text.encode("utf-16-le")) // 2
