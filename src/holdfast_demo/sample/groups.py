"""The groups of a sample, and their records."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.backup.schema.backup_pb2 import AvatarColor, Group, Recipient
from holdfast_demo.sample.names import GROUP_TEMPLATES, GroupTemplate
from holdfast_demo.sample.people import DAY, INITIAL_FRIENDS, SamplePerson
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = ["ENDED", "SampleGroup", "group_record", "make_groups"]

# One group in ten was ended by its admins: the one with this index.
ENDED = 4
LABELS = (("🎼", "Alto"), ("🧭", "Guide"), ("", "Treasurer"), ("🍰", "Baker"))


@dataclass(frozen=True, slots=True)
class SampleGroup:
    """A group; `id` is the recipient id, `members` are those other than the account's owner."""

    id: int
    title: str
    template: GroupTemplate
    members: tuple[SamplePerson, ...]
    index: int


def make_groups(rng: SeededRandom, count: int, first_id: int, people: list[SamplePerson]) -> list[SampleGroup]:
    """Create `count` groups with ids from `first_id` on; the first one has the first friends as members."""
    friends = [person for person in people if person.kind == "friend"]
    groups: list[SampleGroup] = []
    for index in range(count):
        template = GROUP_TEMPLATES[index % len(GROUP_TEMPLATES)]
        repetition = index // len(GROUP_TEMPLATES)
        title = f"{template.title} {repetition + 1}" if repetition else template.title
        size = INITIAL_FRIENDS if index == 0 else rng.pick((2, 3, 4, 5, 6, 8, 12))
        members = friends[:size] if index == 0 else rng.pick_some(friends, size)
        groups.append(SampleGroup(first_id + index, title, template, tuple(members), index))
    return groups


def group_record(
    group: SampleGroup,
    me: SamplePerson,
    outsiders: Sequence[SamplePerson],
    rng: SeededRandom,
    now: int,
    *,
    current: bool,
) -> Recipient:
    """Return the record of a group; `outsiders` were invited, asked to join, or were banned."""
    blocked = group.index % 10 == 5
    record = Group(
        masterKey=rng.randbytes(32),
        whitelisted=not blocked,
        hideStory=group.index % 4 == 3,
        storySendMode=Group.StorySendMode.values()[group.index % 3],
        blocked=blocked,
    )
    if group.index % 4 != 2:
        record.avatarColor = AvatarColor.values()[(group.index * 5 + 11) % len(AvatarColor.values())]
    if current and blocked:
        record.blockedAtTimestamp = now - rng.between(1, 90) * DAY
    fill_snapshot(record.snapshot, group, me, rng, current=current)
    if group.index % 3 == 0:
        fill_invitations(record.snapshot, me, outsiders, now)
    return Recipient(id=group.id, group=record)


def fill_snapshot(
    state: Group.GroupSnapshot, group: SampleGroup, me: SamplePerson, rng: SeededRandom, *, current: bool
) -> None:
    """Fill in the members and their permissions."""
    index = group.index
    required = Group.AccessControl
    state.title.title = group.title
    state.description.descriptionText = group.template.description
    state.version = 3 + len(group.members)
    state.announcements_only = index % 4 == 3
    state.accessControl.attributes = required.MEMBER if index % 2 else required.ADMINISTRATOR
    state.accessControl.members = required.ADMINISTRATOR if index % 2 else required.MEMBER
    state.accessControl.addFromInviteLink = (required.ANY, required.ADMINISTRATOR, required.UNSATISFIABLE)[
        index % 3
    ]
    if index % 2 == 0:
        state.avatarUrl = f"groups/{rng.getrandbits(64):016x}"
        state.disappearingMessagesTimer.disappearingMessagesDuration = 2_419_200
    if index % 3 != 2:
        state.inviteLinkPassword = rng.randbytes(16)
    if current:
        state.accessControl.memberLabel = required.MEMBER
        state.terminated = index % 10 == ENDED
    for number, person in enumerate((me, *group.members)):
        role = Group.Member.ADMINISTRATOR if number % 4 == 0 else Group.Member.DEFAULT
        member = state.members.add(userId=person.aci, role=role, joinedAtVersion=number)
        if current and number % 3 == 1:
            member.labelEmoji, member.labelString = LABELS[number % len(LABELS)]


def fill_invitations(
    state: Group.GroupSnapshot, me: SamplePerson, outsiders: Sequence[SamplePerson], now: int
) -> None:
    """Fill in who was invited, who asked to join, and who was banned."""
    for number, person in enumerate(outsiders):
        when = now - (number + 1) * DAY
        if person.kind == "invitee":
            pending = state.membersPendingProfileKey.add(addedByUserId=me.aci, timestamp=when)
            pending.member.userId = b"\x01" + person.pni
            pending.member.role = Group.Member.DEFAULT
        elif person.kind == "gone":
            state.membersPendingAdminApproval.add(userId=person.aci, timestamp=when)
        elif person.kind == "stranger":
            state.members_banned.add(userId=person.aci, timestamp=when)
