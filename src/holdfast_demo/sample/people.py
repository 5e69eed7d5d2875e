"""The people of a sample, and the contact records that stand for them."""

from dataclasses import dataclass
from typing import Literal

from holdfast.backup.schema.backup_pb2 import AvatarColor, Contact, Recipient
from holdfast_demo.sample.names import FAMILY_NAMES, GIVEN_NAMES
from holdfast_demo.sample.phrases import TONGUES, Tongue
from holdfast_demo.sample.seeded_random import Dice

__all__ = ["DAY", "FRIENDS_FIRST", "MAX_PEOPLE", "SamplePerson", "Standing", "bystander", "contact", "meet"]

# friend: an ordinary contact; gone: no longer registered; number: known by phone number only, reached by SMS;
# invitee: known by phone number identity only; stranger: asked to write and was blocked.
Standing = Literal["friend", "gone", "number", "invitee", "stranger"]

DAY = 86_400_000

# So many people are ordinary friends before the first unusual one is met: enough for one group to show every state
# a sent message can be in.
FRIENDS_FIRST = 10
UNUSUAL: tuple[Standing, ...] = ("gone", "number", "invitee", "stranger")

MAX_PEOPLE = 4000

# Numbers that are set aside for fiction, as the first number of the block and the size of the block.
FICTION: dict[Tongue, tuple[int, int]] = {
    "en": (44_7700_900000, 1000),
    "de": (49_171_3920000, 100),
    "fr": (33_639_980000, 10000),
}


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """Somebody who appears in the history; `id` is the recipient id."""

    id: int
    aci: bytes
    pni: bytes
    e164: int
    given: str
    family: str
    tongue: Tongue
    standing: Standing
    place: int

    @property
    def name(self) -> str:
        """The name others see."""
        return f"{self.given} {self.family}"

    @property
    def username(self) -> str:
        """A unique name with its discriminator."""
        return f"heron_{self.place}.{10 + self.place % 90}"


def bystander(dice: Dice, recipient: int, given: str, family: str) -> SamplePerson:
    """Invent somebody who is nobody's contact: the account's owner, or whoever writes the news."""
    return SamplePerson(
        recipient, dice.uuid(), dice.uuid(), 1_200_555_0100, given, family, "en", "friend", MAX_PEOPLE
    )


def meet(dice: Dice, count: int, first_id: int) -> list[SamplePerson]:
    """Invent `count` people with ids from `first_id` on; most are friends, and every standing is met early."""
    people: list[SamplePerson] = []
    numbers_used = dict.fromkeys(TONGUES, 0)
    for place in range(count):
        past = place - FRIENDS_FIRST
        standing: Standing = "friend"
        if 0 <= past < len(UNUSUAL):
            standing = UNUSUAL[past]
        elif past > 0 and dice.one_in(25):
            standing = dice.pick(UNUSUAL)
        tongue = TONGUES[place] if place < len(TONGUES) else dice.pick_early(TONGUES)
        number = fictional_number(tongue, numbers_used[tongue], place)
        numbers_used[tongue] += 1
        given, family = dice.pick(GIVEN_NAMES[tongue]), dice.pick(FAMILY_NAMES[tongue])
        person = SamplePerson(
            first_id + place, dice.uuid(), dice.uuid(), number, given, family, tongue, standing, place
        )
        people.append(person)
    return people


def fictional_number(tongue: Tongue, used: int, place: int) -> int:
    """Give a phone number that belongs to nobody; beyond the national blocks, +1 AAA 555 01xx."""
    block, size = FICTION.get(tongue, (0, 0))
    if used < size:
        return block + used
    return 1_000_555_0100 + (201 + place // 100) * 10_000_000 + place % 100


def contact(person: SamplePerson, dice: Dice, backup_time: int, *, current: bool) -> Recipient:
    """Write the contact record of a person."""
    record = Contact(blocked=person.standing == "stranger", e164=person.e164)
    if person.standing == "number":
        record.systemGivenName, record.systemFamilyName = person.given, person.family
        record.notRegistered.SetInParent()
    elif person.standing == "invitee":
        record.ClearField("e164")
        record.pni = person.pni
        record.registered.SetInParent()
    else:
        profile(record, person, dice)
        if person.standing == "gone":
            record.notRegistered.unregisteredTimestamp = backup_time - dice.between(20, 300) * DAY
        else:
            record.registered.SetInParent()
    if person.standing == "friend":
        acquaintance(record, person)
    if person.standing == "stranger":
        record.visibility = Contact.HIDDEN_MESSAGE_REQUEST
        if current:
            record.blockedAtTimestamp = backup_time - dice.between(1, 200) * DAY
    if current and person.standing == "friend" and person.place % 3 == 0:
        record.keyTransparencyData = dice.randbytes(48)
    # Every fifth person after the first few has no stored colour, which then follows from the contact's id.
    if person.place < 12 or person.place % 5:
        record.avatarColor = AvatarColor.values()[person.place % len(AvatarColor.values())]
    return Recipient(id=person.id, contact=record)


def profile(record: Contact, person: SamplePerson, dice: Dice) -> None:
    """Fill in what a person with an account shares."""
    record.aci = person.aci
    record.pni = person.pni
    record.profileKey = dice.randbytes(32)
    record.profileSharing = person.standing != "stranger"
    record.profileGivenName = person.given
    record.profileFamilyName = person.family
    record.identityKey = b"\x05" + dice.randbytes(32)


def acquaintance(record: Contact, person: SamplePerson) -> None:
    """Fill in what the account's owner noted about a friend; which of it, depends on the person."""
    place = person.place
    record.identityState = Contact.IdentityState.values()[place % 3]
    if place % 3 == 0:
        record.username = person.username
    if place % 4 == 1:
        record.nickname.given = person.given[:3]
        record.nickname.family = "" if place % 8 == 1 else person.family[:1]
    if place % 4 == 2:
        record.note = "Met at the spring concert. Sings alto, bakes, has a dog."
        record.hideStory = True
    if place % 4 == 3:
        record.systemGivenName, record.systemFamilyName = person.given, person.family
        record.systemNickname = person.given[:2]
    if place % 20 == 7:
        record.visibility = Contact.HIDDEN
