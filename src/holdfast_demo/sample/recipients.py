"""All recipients of a sample, determined by its size and seed."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt

from holdfast.backup.schema.backup_pb2 import AvatarColor, Recipient
from holdfast_demo.sample import other_records
from holdfast_demo.sample.groups import SampleGroup, group_record, make_groups
from holdfast_demo.sample.people import (
    MAX_PEOPLE,
    ContactKind,
    SamplePerson,
    contact_record,
    make_people,
    make_person,
)
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["SampleRecipients", "make_recipients", "recipient_records"]

MIN_PEOPLE = 14
# The maximum number of people who are invited to a group, ask to join it or are banned from it.
MOST_PENDING = 8


@dataclass(frozen=True, slots=True)
class SampleRecipients:
    """The people, groups and other recipients of a sample."""

    me: SamplePerson
    news: SamplePerson
    people: list[SamplePerson]
    groups: list[SampleGroup]
    lists: list[Recipient]
    links: list[Recipient]

    def of_kind(self, *kinds: ContactKind) -> tuple[SamplePerson, ...]:
        """Return the first people of certain kinds."""
        return tuple(person for person in self.people if person.kind in kinds)[:MOST_PENDING]


def make_recipients(rng: SeededRandom, messages: int, now: int, *, current: bool) -> SampleRecipients:
    """Create the recipients; their number grows with the square root of the number of messages."""
    me = make_person(rng, 1, "Robin", "Fairweather")
    news = make_person(rng, 2, "News", "")
    people = make_people(rng, min(max(MIN_PEOPLE, isqrt(messages)), MAX_PEOPLE), 3)
    groups = make_groups(rng, len(people) // 3, people[-1].id + 1, people)
    lists = other_records.story_lists(rng, groups[-1].id + 1, people, now)
    links = other_records.call_links(rng, lists[-1].id + 1, now, current=current)
    return SampleRecipients(me, news, people, groups, lists, links)


def recipient_records(
    recipients: SampleRecipients, rng: SeededRandom, now: int, *, current: bool
) -> Iterator[Recipient]:
    """Yield the record of every recipient."""
    owner = Recipient(id=recipients.me.id)
    owner.self.avatarColor = AvatarColor.A210
    yield owner
    channel = Recipient(id=recipients.news.id)
    channel.releaseNotes.SetInParent()
    yield channel
    for person in recipients.people:
        yield contact_record(person, rng, now, current=current)
    waiting = recipients.of_kind("gone", "invitee", "stranger")
    for group in recipients.groups:
        yield group_record(group, recipients.me, waiting, rng, now, current=current)
    yield from recipients.lists
    yield from recipients.links
