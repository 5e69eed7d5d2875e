"""Display names of people, groups and chats."""

import pytest

from holdfast.backup.names import account_name, recipient_name
from holdfast.backup.schema.backup_pb2 import AccountData, Contact, Recipient

# Every name a contact can have, the one that is shown first.
LADDER = [
    {"nickname": Contact.Name(given="Nick", family="Name")},
    {"systemGivenName": "Book", "systemFamilyName": "Entry"},
    {"systemNickname": "Booknick"},
    {"profileGivenName": "Profile", "profileFamilyName": "Name"},
    {"username": "someone.01"},
    {"e164": 15555550100},
]
SHOWN = ["Nick Name", "Book Entry", "Booknick", "Profile Name", "someone.01", "+15555550100"]


@pytest.mark.parametrize("step", range(len(LADDER)))
def test_a_contact_is_called_by_the_first_name_there_is(step: int) -> None:
    """The nickname comes first, then the address book, then the profile, then the other names."""
    contact = Contact()
    for names in LADDER[step:]:
        contact.MergeFrom(Contact(**names))  # type: ignore[arg-type]  # fields of several types
    assert recipient_name(Recipient(contact=contact)) == SHOWN[step]


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        (Contact(profileGivenName="Ada"), "Ada"),
        (Contact(profileFamilyName="Lovelace"), "Lovelace"),
        (Contact(nickname=Contact.Name(), profileGivenName="Ada"), "Ada"),
        (Contact(), "Unknown"),
    ],
)
def test_half_a_name_is_a_name_and_none_is_said_to_be_unknown(contact: Contact, name: str) -> None:
    """A missing part of a name leaves no space, and a contact without a name is unknown."""
    assert recipient_name(Recipient(contact=contact)) == name


def recipients() -> list[tuple[Recipient, str]]:
    """Make one of every other kind, with and without a name."""
    group, plain_group = Recipient(), Recipient()
    group.group.snapshot.title.title = "Choir"
    plain_group.group.SetInParent()
    stories, deleted = Recipient(), Recipient()
    stories.distributionList.distributionList.name = "Close friends"
    deleted.distributionList.deletionTimestamp = 5
    link, plain_link = Recipient(), Recipient()
    link.callLink.name = "Weekly"
    plain_link.callLink.SetInParent()
    me, release_notes = Recipient(), Recipient()
    me.self.SetInParent()
    release_notes.releaseNotes.SetInParent()
    return [
        (group, "Choir"),
        (plain_group, "Unnamed group"),
        (stories, "Close friends"),
        (deleted, "Unnamed list"),
        (link, "Weekly"),
        (plain_link, "Call link"),
        (me, "Note to Self"),
        (release_notes, "Release Notes"),
        (Recipient(id=3), "Unknown"),
    ]


@pytest.mark.parametrize(("recipient", "name"), recipients())
def test_every_kind_of_recipient_has_a_name(recipient: Recipient, name: str) -> None:
    """Recipients of every kind have a name, also if their record has none."""
    assert recipient_name(recipient) == name


def test_the_owner_is_called_by_the_profile_or_the_username() -> None:
    """The name is that of the profile, else the username, else empty."""
    assert account_name(AccountData(givenName="Ada", familyName="Lovelace", username="ada.01")) == "Ada Lovelace"
    assert account_name(AccountData(username="ada.01")) == "ada.01"
    assert account_name(AccountData()) == ""
