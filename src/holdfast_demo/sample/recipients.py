"""Everybody and everything in a sample that has an id, put together from its size and its seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from holdfast.backup.schema.backup_pb2 import AvatarColor, Recipient
from holdfast_demo.sample import other_records
from holdfast_demo.sample.groups import Circle, found, group
from holdfast_demo.sample.people import MAX_PEOPLE, SamplePerson, Standing, bystander, contact, meet
from holdfast_demo.sample.seeded_random import Dice

__all__ = ["Cast", "assemble", "recipients"]

MIN_PEOPLE = 14
# So many people at most wait at the door of a group.
WAITING = 8


@dataclass(frozen=True, slots=True)
class Cast:
    """The people and groups of a sample, and the recipients that are neither."""

    me: SamplePerson
    news: SamplePerson
    people: list[SamplePerson]
    circles: list[Circle]
    lists: list[Recipient]
    links: list[Recipient]

    def standing(self, *standings: Standing) -> tuple[SamplePerson, ...]:
        """Find the first few people of certain standings."""
        return tuple(person for person in self.people if person.standing in standings)[:WAITING]


def assemble(dice: Dice, messages: int, now: int, *, current: bool) -> Cast:
    """Invent a cast that grows with the square root of the messages."""
    me = bystander(dice, 1, "Robin", "Fairweather")
    news = bystander(dice, 2, "News", "")
    people = meet(dice, min(max(MIN_PEOPLE, isqrt(messages)), MAX_PEOPLE), 3)
    circles = found(dice, len(people) // 3, people[-1].id + 1, people)
    lists = other_records.story_lists(dice, circles[-1].id + 1, people, now)
    links = other_records.call_links(dice, lists[-1].id + 1, now, current=current)
    return Cast(me, news, people, circles, lists, links)


def recipients(cast: Cast, dice: Dice, now: int, *, current: bool) -> Iterator[Recipient]:
    """Write the record of every recipient."""
    owner = Recipient(id=cast.me.id)
    owner.self.avatarColor = AvatarColor.A210
    yield owner
    channel = Recipient(id=cast.news.id)
    channel.releaseNotes.SetInParent()
    yield channel
    for person in cast.people:
        yield contact(person, dice, now, current=current)
    waiting = cast.standing("gone", "invitee", "stranger")
    for circle in cast.circles:
        yield group(circle, cast.me, waiting, dice, now, current=current)
    yield from cast.lists
    yield from cast.links
