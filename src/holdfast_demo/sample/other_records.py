"""Records other than contacts, groups and chats: story lists, call links, packs, profiles and chat folders."""

from dataclasses import dataclass

from holdfast.backup.schema.backup_pb2 import (
    AdHocCall,
    CallLink,
    ChatFolder,
    DistributionList,
    NotificationProfile,
    Recipient,
    StickerPack,
)
from holdfast_demo.sample.groups import SampleGroup
from holdfast_demo.sample.people import DAY, SamplePerson
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = [
    "Pack",
    "ad_hoc_calls",
    "call_links",
    "chat_folders",
    "notification_profiles",
    "packs",
    "story_lists",
]

MY_STORY = bytes(16)


@dataclass(frozen=True, slots=True)
class Pack:
    """An installed sticker pack."""

    id: bytes
    key: bytes

    def record(self) -> StickerPack:
        """Return its record."""
        return StickerPack(packId=self.id, packKey=self.key)


def packs(rng: SeededRandom) -> tuple[Pack, ...]:
    """Return installed sticker packs."""
    return tuple(Pack(rng.randbytes(16), rng.randbytes(32)) for _ in range(3))


def story_lists(rng: SeededRandom, first_id: int, people: list[SamplePerson], now: int) -> list[Recipient]:
    """Return the distribution lists of stories: the built-in one, a custom one, and a deleted one."""
    built_in = Recipient(id=first_id)
    built_in.distributionList.distributionId = MY_STORY
    shared = built_in.distributionList.distributionList
    shared.name = "My Story"
    shared.allowReplies = True
    if rng.one_in(2):
        shared.privacyMode = DistributionList.ALL
    else:
        shared.privacyMode = DistributionList.ALL_EXCEPT
        shared.memberRecipientIds.extend(person.id for person in people if person.kind in {"invitee", "stranger"})
    custom = Recipient(id=first_id + 1)
    custom.distributionList.distributionId = rng.uuid()
    custom.distributionList.distributionList.name = "Choir & friends"
    custom.distributionList.distributionList.privacyMode = DistributionList.ONLY_WITH
    custom.distributionList.distributionList.memberRecipientIds.extend(person.id for person in people[:4])
    deleted = Recipient(id=first_id + 2)
    deleted.distributionList.distributionId = rng.uuid()
    deleted.distributionList.deletionTimestamp = now - rng.between(10, 500) * DAY
    return [built_in, custom, deleted]


def call_links(rng: SeededRandom, first_id: int, now: int, *, current: bool) -> list[Recipient]:
    """Return a call link of the account's owner, and one of another person."""
    own = CallLink(
        rootKey=rng.randbytes(16),
        adminKey=rng.randbytes(32),
        name="Sunday coffee",
        restrictions=CallLink.ADMIN_APPROVAL,
        expirationMs=now + 90 * DAY,
    )
    other = CallLink(
        rootKey=rng.randbytes(16), name="Chorprobe online", restrictions=CallLink.NONE, expirationMs=now + 5 * DAY
    )
    if not current:
        # The field was retired after the specification.
        own.epoch = rng.randbytes(4)
    return [Recipient(id=first_id + number, callLink=link) for number, link in enumerate((own, other))]


def ad_hoc_calls(rng: SeededRandom, links: list[Recipient], count: int, now: int) -> list[AdHocCall]:
    """Return calls that used the links."""
    return [
        AdHocCall(
            callId=rng.getrandbits(63),
            recipientId=links[number % len(links)].id,
            state=AdHocCall.GENERIC,
            callTimestamp=now - rng.below(600 * DAY),
        )
        for number in range(count)
    ]


def notification_profiles(
    rng: SeededRandom, people: list[SamplePerson], groups: list[SampleGroup], now: int
) -> list[NotificationProfile]:
    """Return two notification profiles, one of them with a schedule."""
    days = NotificationProfile
    work = NotificationProfile(
        name="Work",
        emoji="💼",
        color=0xFF4A6FA5,
        createdAtMs=now - 400 * DAY,
        allowAllMentions=True,
        allowedMembers=[people[0].id, people[2].id, groups[-1].id],
        scheduleEnabled=True,
        scheduleStartTime=830,
        scheduleEndTime=1715,
        scheduleDaysEnabled=[days.MONDAY, days.TUESDAY, days.WEDNESDAY, days.THURSDAY, days.FRIDAY],
        id=rng.uuid(),
    )
    night = NotificationProfile(
        name="Schlaf 😴",
        color=0xFF2B2D42,
        createdAtMs=now - 200 * DAY,
        allowAllCalls=True,
        allowedMembers=[people[1].id],
        scheduleStartTime=2230,
        scheduleEndTime=600,
        scheduleDaysEnabled=[days.SATURDAY, days.SUNDAY],
        id=rng.uuid(),
    )
    return [work, night]


def chat_folders(
    rng: SeededRandom, me: SamplePerson, people: list[SamplePerson], groups: list[SampleGroup]
) -> list[ChatFolder]:
    """Return the folder of all chats, and two custom ones."""
    everything = ChatFolder(
        showMutedChats=True,
        includeAllIndividualChats=True,
        includeAllGroupChats=True,
        folderType=ChatFolder.ALL,
        id=rng.uuid(),
    )
    unread = ChatFolder(
        name="Unread",
        showOnlyUnread=True,
        includeAllIndividualChats=True,
        includeAllGroupChats=True,
        folderType=ChatFolder.CUSTOM,
        excludedRecipientIds=[people[3].id, groups[-1].id],
        id=rng.uuid(),
    )
    close = ChatFolder(
        name="Familie",
        showMutedChats=True,
        folderType=ChatFolder.CUSTOM,
        includedRecipientIds=[me.id, people[0].id, people[1].id, groups[0].id],
        id=rng.uuid(),
    )
    return [everything, unread, close]
