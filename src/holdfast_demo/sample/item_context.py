"""What a message of the sample can refer to, and the moment at which it is written."""

from collections.abc import Callable, Iterator, MutableSequence
from dataclasses import dataclass, field
from typing import Literal

from holdfast.backup.schema.backup_pb2 import ChatItem, Reaction
from holdfast_demo.sample.chats import Kind, Room
from holdfast_demo.sample.media import Library
from holdfast_demo.sample.other_records import Pack
from holdfast_demo.sample.people import SamplePerson
from holdfast_demo.sample.phrases import EMOJI
from holdfast_demo.sample.seeded_random import Dice
from holdfast_demo.sample.texts import conversation

__all__ = ["Beat", "By", "Edition", "Fill", "Moment", "Scene", "Stage", "react", "react_often"]

# "spec": only what the specification has; "current": with the additions of 2026, without what was retired.
Edition = Literal["spec", "current"]
By = Literal["me", "other", "anyone", "same"]


@dataclass(frozen=True, slots=True)
class Stage:
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
class Moment:
    """Where, when and by whom an item is written."""

    stage: Stage
    dice: Dice
    room: Room
    author: SamplePerson
    sent: int = 0
    arrived: int = 0
    lines: Iterator[str] = field(default_factory=lambda: iter(()))

    def enter(self, room: Room) -> None:
        """Go to a room, where a conversation begins."""
        self.room = room
        self.lines = conversation(self.dice, room.tongues)

    def say(self) -> str:
        """Return the next line of the conversation."""
        return next(self.lines)

    @property
    def everyone(self) -> tuple[SamplePerson, ...]:
        """All people of the room."""
        return (self.stage.me, *self.room.people)

    def other(self) -> SamplePerson:
        """Somebody of the room besides the author."""
        others = [person for person in self.everyone if person.id != self.author.id]
        return self.dice.pick(others) if others else self.author


# Puts the body into an item that already has its chat, author, time and direction.
Fill = Callable[[ChatItem, Moment], None]


@dataclass(frozen=True, slots=True)
class Beat:
    """One item of a scene and who writes it; "same" is whoever wrote the item before."""

    fill: Fill
    by: By = "anyone"


@dataclass(frozen=True, slots=True)
class Scene:
    """Items that belong together, played one after the other in one room.

    With `only`, the scene happens once in a history, in that room of its kind.
    """

    where: Kind
    beats: tuple[Beat, ...]
    only: int | None = None


def react(reactions: MutableSequence[Reaction], at: Moment, count: int) -> None:
    """Let up to `count` people of the room react, each once."""
    for number, person in enumerate(at.dice.some(at.everyone, count)):
        when = min(at.arrived + at.dice.below(600_000), at.stage.backup_time)
        emoji = at.dice.pick_early(EMOJI)
        reactions.append(Reaction(emoji=emoji, authorId=person.id, sentTimestamp=when, sortOrder=number + 1))


def react_often(reactions: MutableSequence[Reaction], at: Moment) -> None:
    """Let people react to one message in eight."""
    if at.dice.one_in(8):
        react(reactions, at, at.dice.between(1, 3))
