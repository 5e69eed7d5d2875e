"""The people of a sample, and their contact records."""

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

# The number of friends before the first person of another kind: enough for a group with every send status.
INITIAL_FRIENDS = 10
OTHER_KINDS: tuple[ContactKind, ...] = ("gone", "number", "invitee", "stranger")

MAX_PEOPLE = 4000

# Blocks of phone numbers reserved for fiction: the first number and the size.
FICTIONAL_BLOCKS: dict[Language, tuple[int, int]] = {
    "en": (44_7700_900000, 1000),
    "de": (49_171_3920000, 100),
    "fr": (33_639_980000, 10000),
}


@dataclass(frozen=True, slots=True)
class SamplePerson:
    """A person of the sample; `id` is the recipient id."""

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
        """The full name."""
        return f"{self.given} {self.family}"

    @property
    def username(self) -> str:
        """A unique username with its discriminator."""
        return f"heron_{self.index}.{10 + self.index % 90}"


def make_person(rng: SeededRandom, recipient: int, given: str, family: str) -> SamplePerson:
    """Create a person who is not a contact: the account's owner, or the sender of release notes."""
    return SamplePerson(
        recipient, rng.uuid(), rng.uuid(), 1_200_555_0100, given, family, "en", "friend", MAX_PEOPLE
    )


def make_people(rng: SeededRandom, count: int, first_id: int) -> list[SamplePerson]:
    """Create `count` people with ids from `first_id` on; most are friends, and the first ones have every kind."""
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
    """Return an unused fictional phone number; beyond the national blocks, +1 AAA 555 01xx."""
    block, size = FICTIONAL_BLOCKS.get(language, (0, 0))
    if used < size:
        return block + used
    return 1_000_555_0100 + (201 + index // 100) * 10_000_000 + index % 100


def contact_record(person: SamplePerson, rng: SeededRandom, backup_time: int, *, current: bool) -> Recipient:
    """Return the contact record of a person."""
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
    # Every fifth person after the first 12 has no stored colour; clients derive it from the id.
    if person.index < 12 or person.index % 5:
        record.avatarColor = AvatarColor.values()[person.index % len(AvatarColor.values())]
    return Recipient(id=person.id, contact=record)


def fill_profile(record: Contact, person: SamplePerson, rng: SeededRandom) -> None:
    """Fill in the profile of a person with an account."""
    record.aci = person.aci
    record.pni = person.pni
    record.profileKey = rng.randbytes(32)
    record.profileSharing = person.kind != "stranger"
    record.profileGivenName = person.given
    record.profileFamilyName = person.family
    record.identityKey = b"\x05" + rng.randbytes(32)


def fill_friend_details(record: Contact, person: SamplePerson) -> None:
    """Fill in fields that only some friends have."""
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
