"""The context in which an item is generated: the sample, the chat, the author and the time."""

from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.backup.schema.backup_pb2 import ChatItem, Reaction
from holdfast_demo.sample.chats import ChatKind, SampleChat
from holdfast_demo.sample.media import Library
from holdfast_demo.sample.other_records import Pack
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.phrases import EMOJI
from holdfast_demo.sample.seeded_random import SeededRandom
from holdfast_demo.sample.texts import random_texts

__all__ = [
    "By",
    "Edition",
    "Fill",
    "ItemContext",
    "ItemSequence",
    "ItemTemplate",
    "SampleContext",
    "react",
    "react_often",
]

# "spec": only what the specification has; "current": with the additions of 2026, without what was retired.
Edition = Literal["spec", "current"]
By = Literal["me", "other", "anyone", "same"]


@dataclass(frozen=True, slots=True)
class SampleContext:
    """What is constant in a history.

    `outsiders` have accounts but are in no group; `invitees` are known by their phone number identity only.
    """

    edition: Edition
    backup_time: int
    me: SamplePerson
    news: SamplePerson
    outsiders: tuple[SamplePerson, ...]
    invitees: tuple[SamplePerson, ...]
    packs: tuple[Pack, ...]
    library: Library

    @property
    def current(self) -> bool:
        """Whether additions to the specification may be used."""
        return self.edition == "current"


@dataclass(slots=True)
class ItemContext:
    """The chat, author and times of the next item."""

    sample: SampleContext
    rng: SeededRandom
    chat: SampleChat
    author: SamplePerson
    sent: int = 0
    arrived: int = 0
    lines: Iterator[str] = field(default_factory=lambda: iter(()))

    def switch_to(self, chat: SampleChat) -> None:
        """Continue with another chat and new texts."""
        self.chat = chat
        self.lines = random_texts(self.rng, chat.languages)

    def next_text(self) -> str:
        """Return the next text."""
        return next(self.lines)

    @property
    def participants(self) -> tuple[SamplePerson, ...]:
        """All participants of the chat, including the account's owner."""
        return (self.sample.me, *self.chat.people)

    def other_participant(self) -> SamplePerson:
        """Return a participant other than the author, if there is one."""
        others = [person for person in self.participants if person.id != self.author.id]
        return self.rng.pick(others) if others else self.author


# Fills in the body of an item that already has its chat, author, time and direction.
Fill = Callable[[ChatItem, ItemContext], None]


@dataclass(frozen=True, slots=True)
class ItemTemplate:
    """A function that fills in an item, and who its author is; "same" is the author of the previous item."""

    fill: Fill
    by: By = "anyone"


@dataclass(frozen=True, slots=True)
class ItemSequence:
    """Items that follow each other in one chat.

    With `chat_index`, a history has the sequence once, in the chat of its kind with that index.
    """

    chat_kind: ChatKind
    items: tuple[ItemTemplate, ...]
    chat_index: int | None = None


def react(reactions: MutableSequence[Reaction], context: ItemContext, count: int) -> None:
    """Add reactions of up to `count` participants, one each."""
    for number, person in enumerate(context.rng.pick_some(context.participants, count)):
        when = min(context.arrived + context.rng.below(600_000), context.sample.backup_time)
        emoji = context.rng.pick_biased(EMOJI)
        reactions.append(Reaction(emoji=emoji, authorId=person.id, sentTimestamp=when, sortOrder=number + 1))


def react_often(reactions: MutableSequence[Reaction], context: ItemContext) -> None:
    """Add reactions to one message in eight."""
    if context.rng.one_in(8):
        react(reactions, context, context.rng.between(1, 3))
