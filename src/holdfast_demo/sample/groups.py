"""The groups of a sample, and the records that stand for them."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.backup.schema.backup_pb2 import AvatarColor, Group, Recipient
from holdfast_demo.sample.names import CLUBS, Club
from holdfast_demo.sample.people import DAY, FRIENDS_FIRST, SamplePerson
from holdfast_demo.sample.seeded_random import Dice

__all__ = ["ENDED", "Circle", "found", "group"]

# Of ten groups, the one at this place was ended by its admins.
ENDED = 4
LABELS = (("🎼", "Alto"), ("🧭", "Guide"), ("", "Treasurer"), ("🍰", "Baker"))


@dataclass(frozen=True, slots=True)
class Circle:
    """A group of people; `id` is the recipient id, `members` are those besides the account's owner."""

    id: int
    title: str
    club: Club
    members: tuple[SamplePerson, ...]
    place: int


def found(dice: Dice, count: int, first_id: int, people: list[SamplePerson]) -> list[Circle]:
    """Found `count` groups with ids from `first_id` on; the first one has all the early friends."""
    friends = [person for person in people if person.standing == "friend"]
    circles: list[Circle] = []
    for place in range(count):
        club = CLUBS[place % len(CLUBS)]
        season = place // len(CLUBS)
        title = f"{club.title} {season + 1}" if season else club.title
        size = FRIENDS_FIRST if place == 0 else dice.pick((2, 3, 4, 5, 6, 8, 12))
        members = friends[:size] if place == 0 else dice.some(friends, size)
        circles.append(Circle(first_id + place, title, club, tuple(members), place))
    return circles


def group(
    circle: Circle, me: SamplePerson, outsiders: Sequence[SamplePerson], dice: Dice, now: int, *, current: bool
) -> Recipient:
    """Write the group record of a circle; `outsiders` are people who were invited, asked in or were banned."""
    blocked = circle.place % 10 == 5
    record = Group(
        masterKey=dice.randbytes(32),
        whitelisted=not blocked,
        hideStory=circle.place % 4 == 3,
        storySendMode=Group.StorySendMode.values()[circle.place % 3],
        blocked=blocked,
    )
    if circle.place % 4 != 2:
        record.avatarColor = AvatarColor.values()[(circle.place * 5 + 11) % len(AvatarColor.values())]
    if current and blocked:
        record.blockedAtTimestamp = now - dice.between(1, 90) * DAY
    snapshot(record.snapshot, circle, me, dice, current=current)
    if circle.place % 3 == 0:
        waiting_room(record.snapshot, me, outsiders, now)
    return Recipient(id=circle.id, group=record)


def snapshot(state: Group.GroupSnapshot, circle: Circle, me: SamplePerson, dice: Dice, *, current: bool) -> None:
    """Fill in who is in the group and what they may do."""
    place = circle.place
    required = Group.AccessControl
    state.title.title = circle.title
    state.description.descriptionText = circle.club.description
    state.version = 3 + len(circle.members)
    state.announcements_only = place % 4 == 3
    state.accessControl.attributes = required.MEMBER if place % 2 else required.ADMINISTRATOR
    state.accessControl.members = required.ADMINISTRATOR if place % 2 else required.MEMBER
    state.accessControl.addFromInviteLink = (required.ANY, required.ADMINISTRATOR, required.UNSATISFIABLE)[
        place % 3
    ]
    if place % 2 == 0:
        state.avatarUrl = f"groups/{dice.getrandbits(64):016x}"
        state.disappearingMessagesTimer.disappearingMessagesDuration = 2_419_200
    if place % 3 != 2:
        state.inviteLinkPassword = dice.randbytes(16)
    if current:
        state.accessControl.memberLabel = required.MEMBER
        state.terminated = place % 10 == ENDED
    for number, person in enumerate((me, *circle.members)):
        role = Group.Member.ADMINISTRATOR if number % 4 == 0 else Group.Member.DEFAULT
        member = state.members.add(userId=person.aci, role=role, joinedAtVersion=number)
        if current and number % 3 == 1:
            member.labelEmoji, member.labelString = LABELS[number % len(LABELS)]


def waiting_room(
    state: Group.GroupSnapshot, me: SamplePerson, outsiders: Sequence[SamplePerson], now: int
) -> None:
    """Fill in who is invited, who asked to be let in, and who is not welcome."""
    for number, person in enumerate(outsiders):
        when = now - (number + 1) * DAY
        if person.standing == "invitee":
            pending = state.membersPendingProfileKey.add(addedByUserId=me.aci, timestamp=when)
            pending.member.userId = b"\x01" + person.pni
            pending.member.role = Group.Member.DEFAULT
        elif person.standing == "gone":
            state.membersPendingAdminApproval.add(userId=person.aci, timestamp=when)
        elif person.standing == "stranger":
            state.members_banned.add(userId=person.aci, timestamp=when)
