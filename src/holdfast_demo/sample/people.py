"""The people of a sample, and the contact records that stand for them."""

from dataclasses import dataclass
from typing import Literal

from holdfast.backup.schema.backup_pb2 import AvatarColor, Contact, Recipient
from holdfast_demo.sample.names import FAMILY_NAMES, GIVEN_NAMES
from holdfast_demo.sample.phrases import LANGUAGES, Language
from holdfast_demo.sample.seeded_random import SeededRandom

__all__ = [
    "DAY",
    "INITIAL_FRIENDS",
    "MAX_PEOPLE",
    "ContactKind",
    "SamplePerson",
    "contact_record",
    "make_people",
    "make_person",
]

# friend: an ordinary contact; gone: no longer registered; number: known by phone number only, reached by SMS;
# invitee: known by phone number identity only; stranger: asked to write and was blocked.
ContactKind = Literal["friend", "gone", "number", "invitee", "stranger"]

DAY = 86_400_000

# So many people are ordinary friends before the first unusual one is met: enough for one group to show every state
# a sent message can be in.
INITIAL_FRIENDS = 10
OTHER_KINDS: tuple[ContactKind, ...] = ("gone", "number", "invitee", "stranger")

MAX_PEOPLE = 4000

# Numbers that are set aside for fiction, as the first number of the block and the size of the block.
FICTIONAL_BLOCKS: dict[Language, tuple[int, int]] = {
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
    language: Language
    kind: ContactKind
    index: int

    @property
    def name(self) -> str:
        """The name others see."""
        return f"{self.given} {self.family}"

    @property
    def username(self) -> str:
        """A unique name with its discriminator."""
        return f"heron_{self.index}.{10 + self.index % 90}"


def make_person(rng: SeededRandom, recipient: int, given: str, family: str) -> SamplePerson:
    """Invent somebody who is nobody's contact: the account's owner, or whoever writes the news."""
    return SamplePerson(
        recipient, rng.uuid(), rng.uuid(), 1_200_555_0100, given, family, "en", "friend", MAX_PEOPLE
    )


def make_people(rng: SeededRandom, count: int, first_id: int) -> list[SamplePerson]:
    """Invent `count` people with ids from `first_id` on; most are friends, and every standing is met early."""
    people: list[SamplePerson] = []
    numbers_used = dict.fromkeys(LANGUAGES, 0)
    for index in range(count):
        past = index - INITIAL_FRIENDS
        kind: ContactKind = "friend"
        if 0 <= past < len(OTHER_KINDS):
            kind = OTHER_KINDS[past]
        elif past > 0 and rng.one_in(25):
            kind = rng.pick(OTHER_KINDS)
        language = LANGUAGES[index] if index < len(LANGUAGES) else rng.pick_biased(LANGUAGES)
        number = fictional_number(language, numbers_used[language], index)
        numbers_used[language] += 1
        given, family = rng.pick(GIVEN_NAMES[language]), rng.pick(FAMILY_NAMES[language])
        person = SamplePerson(
            first_id + index, rng.uuid(), rng.uuid(), number, given, family, language, kind, index
        )
        people.append(person)
    return people


def fictional_number(language: Language, used: int, index: int) -> int:
    """Give a phone number that belongs to nobody; beyond the national blocks, +1 AAA 555 01xx."""
    block, size = FICTIONAL_BLOCKS.get(language, (0, 0))
    if used < size:
        return block + used
    return 1_000_555_0100 + (201 + index // 100) * 10_000_000 + index % 100


def contact_record(person: SamplePerson, rng: SeededRandom, backup_time: int, *, current: bool) -> Recipient:
    """Write the contact record of a person."""
    record = Contact(blocked=person.kind == "stranger", e164=person.e164)
    if person.kind == "number":
        record.systemGivenName, record.systemFamilyName = person.given, person.family
        record.notRegistered.SetInParent()
    elif person.kind == "invitee":
        record.ClearField("e164")
        record.pni = person.pni
        record.registered.SetInParent()
    else:
        fill_profile(record, person, rng)
        if person.kind == "gone":
            record.notRegistered.unregisteredTimestamp = backup_time - rng.between(20, 300) * DAY
        else:
            record.registered.SetInParent()
    if person.kind == "friend":
        fill_friend_details(record, person)
    if person.kind == "stranger":
        record.visibility = Contact.HIDDEN_MESSAGE_REQUEST
        if current:
            record.blockedAtTimestamp = backup_time - rng.between(1, 200) * DAY
    if current and person.kind == "friend" and person.index % 3 == 0:
        record.keyTransparencyData = rng.randbytes(48)
    # Every fifth person after the first few has no stored colour, which then follows from the contact's id.
    if person.index < 12 or person.index % 5:
        record.avatarColor = AvatarColor.values()[person.index % len(AvatarColor.values())]
    return Recipient(id=person.id, contact=record)


def fill_profile(record: Contact, person: SamplePerson, rng: SeededRandom) -> None:
    """Fill in what a person with an account shares."""
    record.aci = person.aci
    record.pni = person.pni
    record.profileKey = rng.randbytes(32)
    record.profileSharing = person.kind != "stranger"
    record.profileGivenName = person.given
    record.profileFamilyName = person.family
    record.identityKey = b"\x05" + rng.randbytes(32)


def fill_friend_details(record: Contact, person: SamplePerson) -> None:
    """Fill in what the account's owner noted about a friend; which of it, depends on the person."""
    index = person.index
    record.identityState = Contact.IdentityState.values()[index % 3]
    if index % 3 == 0:
        record.username = person.username
    if index % 4 == 1:
        record.nickname.given = person.given[:3]
        record.nickname.family = "" if index % 8 == 1 else person.family[:1]
    if index % 4 == 2:
        record.note = "Met at the spring concert. Sings alto, bakes, has a dog."
        record.hideStory = True
    if index % 4 == 3:
        record.systemGivenName, record.systemFamilyName = person.given, person.family
        record.systemNickname = person.given[:2]
    if index % 20 == 7:
        record.visibility = Contact.HIDDEN
