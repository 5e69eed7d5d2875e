"""How exchanges become the texts of messages."""

from collections.abc import Iterator, Sequence

from holdfast.backup.schema.backup_pb2 import BodyRange, Text
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.phrases import EMOJI, EXCHANGES, PLACES, Tongue
from holdfast_demo.sample.seeded_random import Dice
from holdfast_demo.sample.unusual_texts import CURIOSITIES

__all__ = ["STYLES", "conversation", "curious", "emphasise", "mention", "opening"]

STYLES = BodyRange.Style.values()[1:]
# Stands in the text for the name of a person who is mentioned.
MENTION = "\ufffc"
# So much of a long text stands in the message itself; the rule is 2048 bytes.
OPENING_BYTES = 2000
QUARTERS = ("00", "15", "30", "45")


def exchange(dice: Dice, tongue: Tongue) -> Iterator[str]:
    """Draw an exchange, and yield line after line with the gaps filled."""
    time = f"{dice.between(7, 21)}:{dice.pick(QUARTERS)}"
    number, place = dice.between(3, 60), dice.pick(PLACES[tongue])
    for line in dice.pick(EXCHANGES[tongue]):
        yield line.format(time=time, number=number, place=place) if "{" in line else line


def conversation(dice: Dice, tongues: Sequence[Tongue]) -> Iterator[str]:
    """Yield what is said, without end: one exchange after the other, each in one of the room's languages."""
    while True:
        for line in exchange(dice, dice.pick(tongues)):
            mood = dice.random()
            if mood < 0.05:
                yield dice.pick(EMOJI) * dice.between(1, 3)
            yield f"{line} {dice.pick(EMOJI)}" if mood > 0.88 else line


def curious(dice: Dice) -> str:
    """Draw a text that looks dangerous or odd."""
    return dice.pick(CURIOSITIES)


def emphasise(text: Text, words: list[str], styles: dict[int, BodyRange.Style.ValueType]) -> None:
    """Write words, those at the given places in their style."""
    start = 0
    for place, word in enumerate(words):
        length = utf16_length(word)
        if place in styles:
            text.bodyRanges.add(start=start, length=length, style=styles[place])
        start += length + 1
    text.body = " ".join(words)


def mention(text: Text, person: SamplePerson, rest: str) -> None:
    """Address a person by name."""
    text.body = f"{MENTION} {rest}"
    text.bodyRanges.add(start=0, length=1, mentionAci=person.aci)


def opening(long_text: bytes) -> str:
    """Cut off the beginning of a text that has a file of its own, between two characters."""
    return long_text[:OPENING_BYTES].decode("utf-8", "ignore")


def utf16_length(text: str) -> int:
    """Count in UTF-16 code units, as ranges do."""
    return len(text.encode("utf-16-le")) // 2
