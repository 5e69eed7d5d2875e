"""What a message of the sample can refer to, and the moment at which it is written."""

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
    """What stays the same throughout a history.

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
        """Whether the later additions may be used."""
        return self.edition == "current"


@dataclass(slots=True)
class ItemContext:
    """Where, when and by whom an item is written."""

    sample: SampleContext
    rng: SeededRandom
    chat: SampleChat
    author: SamplePerson
    sent: int = 0
    arrived: int = 0
    lines: Iterator[str] = field(default_factory=lambda: iter(()))

    def switch_to(self, chat: SampleChat) -> None:
        """Go to a room, where a conversation begins."""
        self.chat = chat
        self.lines = random_texts(self.rng, chat.languages)

    def next_text(self) -> str:
        """Return the next line of the conversation."""
        return next(self.lines)

    @property
    def participants(self) -> tuple[SamplePerson, ...]:
        """All people of the room."""
        return (self.sample.me, *self.chat.people)

    def other_participant(self) -> SamplePerson:
        """Somebody of the room besides the author."""
        others = [person for person in self.participants if person.id != self.author.id]
        return self.rng.pick(others) if others else self.author


# Puts the body into an item that already has its chat, author, time and direction.
Fill = Callable[[ChatItem, ItemContext], None]


@dataclass(frozen=True, slots=True)
class ItemTemplate:
    """One item of a scene and who writes it; "same" is whoever wrote the item before."""

    fill: Fill
    by: By = "anyone"


@dataclass(frozen=True, slots=True)
class ItemSequence:
    """Items that belong together, played one after the other in one room.

    With `only`, the scene happens once in a history, in that room of its kind.
    """

    chat_kind: ChatKind
    items: tuple[ItemTemplate, ...]
    chat_index: int | None = None


def react(reactions: MutableSequence[Reaction], context: ItemContext, count: int) -> None:
    """Let up to `count` people of the room react, each once."""
    for number, person in enumerate(context.rng.pick_some(context.participants, count)):
        when = min(context.arrived + context.rng.below(600_000), context.sample.backup_time)
        emoji = context.rng.pick_biased(EMOJI)
        reactions.append(Reaction(emoji=emoji, authorId=person.id, sentTimestamp=when, sortOrder=number + 1))


def react_often(reactions: MutableSequence[Reaction], context: ItemContext) -> None:
    """Let people react to one message in eight."""
    if context.rng.one_in(8):
        react(reactions, context, context.rng.between(1, 3))
