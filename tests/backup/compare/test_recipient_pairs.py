"""Contacts, groups and chats of two backups are matched by their identifiers."""

import pytest

from holdfast.backup.compare.recipient_pairs import DANGLING, RecipientPairs, pair_recipients
from holdfast.backup.compare.roster import Roster, read_roster
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema.backup_pb2 import (
    CallLink,
    Chat,
    Contact,
    DistributionListItem,
    Group,
    Recipient,
    ReleaseNotes,
    Self,
)
from tests.backup.compare.snapshots import opened, snapshot

ADA, BOB = b"a" * 16, b"b" * 16


def people(*contacts: Contact) -> Roster:
    """Return a roster of contacts, numbered from 1, each with a chat of the same number."""
    roster = Roster(BackupInfo())
    for number, contact in enumerate(contacts, 1):
        roster.recipients[number] = Recipient(id=number, contact=contact)
        roster.chats[number] = Chat(id=number, recipientId=number)
    return roster


def numbers(pairing: RecipientPairs) -> tuple[list[int], list[int]]:
    """List the common numbers of both sides."""
    return list(pairing.people_before.values()), list(pairing.people_after.values())


def test_everybody_is_found_whatever_their_ids() -> None:
    """Every recipient and chat of a renumbered backup is paired with its original."""
    source = snapshot(400)
    before, after = read_roster(opened(source.raw())), read_roster(opened(source.renumbered(1).raw()))
    pairing = pair_recipients(before, after)
    assert all(len(earlier) == 1 and later is not None for earlier, later in pairing.recipients.values())
    assert all(len(earlier) == 1 and later is not None for earlier, later in pairing.chats.values())
    for number, (earlier, later) in pairing.recipients.items():
        assert later is not None
        assert before.name(earlier[0]) == after.name(later) == pairing.name(number)


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (Contact(aci=ADA), Contact(aci=ADA, e164=1), True),
        (Contact(aci=ADA, e164=1), Contact(aci=ADA, e164=2), True),
        (Contact(pni=ADA), Contact(aci=BOB, pni=ADA), True),
        (Contact(e164=1), Contact(aci=ADA, e164=1), True),
        (Contact(aci=ADA, e164=1), Contact(e164=1), True),
        (Contact(aci=ADA, e164=1), Contact(aci=BOB, e164=1), False),
        (Contact(aci=ADA, pni=BOB), Contact(aci=BOB, pni=BOB), False),
        (Contact(aci=ADA), Contact(pni=ADA), False),
        (Contact(), Contact(), False),
    ],
)
def test_people_are_matched_by_their_strongest_common_id(old: Contact, new: Contact, *, same: bool) -> None:
    """Two contacts are the same by ACI, else by PNI or number, as numbers can change hands."""
    (first,), (second,) = numbers(pair_recipients(people(old), people(new)))
    assert (first == second) is same


def test_two_entries_may_turn_out_to_be_one_person() -> None:
    """Two contacts that the later backup has as one are one person with one chat."""
    pairing = pair_recipients(people(Contact(e164=1), Contact(aci=ADA)), people(Contact(aci=ADA, e164=1)))
    assert numbers(pairing) == ([1, 1], [1])
    assert pairing.chats == {1: ((1, 2), 1)}
    assert pairing.collapsed == {1}


def test_what_the_later_file_keeps_apart_stays_apart() -> None:
    """A contact that the later backup has as two is paired with the one that has its ACI."""
    pairing = pair_recipients(people(Contact(aci=ADA, e164=1)), people(Contact(e164=1), Contact(aci=ADA)))
    assert numbers(pairing) == ([2], [1, 2])


def test_other_recipients_have_keys_of_their_own() -> None:
    """Groups, lists and call links are paired by key, and the owner and the release notes by kind."""
    kinds = [
        Recipient(group=Group(masterKey=b"g" * 32)),
        Recipient(distributionList=DistributionListItem(distributionId=ADA)),
        Recipient(callLink=CallLink(rootKey=ADA)),
        Recipient(self=Self()),
        Recipient(releaseNotes=ReleaseNotes()),
    ]
    before, after = Roster(BackupInfo()), Roster(BackupInfo())
    before.recipients = dict(enumerate(kinds, 1))
    after.recipients = dict(enumerate(reversed(kinds), 7))
    assert numbers(pair_recipients(before, after)) == ([5, 4, 3, 2, 1], [1, 2, 3, 4, 5])


def test_the_owner_is_called_you() -> None:
    """The owner is "You" as an author, and others have the name of the later backup if it has one."""
    before, after = people(Contact(aci=ADA, note="x"), Contact(aci=BOB, profileGivenName="Bob")), people()
    before.recipients[9] = Recipient(id=9, self=Self())
    after.recipients[1] = Recipient(id=1, contact=Contact(aci=ADA, profileGivenName="Ada"))
    pairing = pair_recipients(before, after)
    names = [pairing.author(pairing.people_before[old]) for old in (1, 2, 9)]
    assert names == ["Ada", "Bob", "You"]
    assert pairing.name(12345) == pairing.chat_name(12345) == "Unknown"


def test_a_reference_to_nothing_meets_nothing() -> None:
    """An unknown id is paired with nothing, and raises an error with the file name in strict mode."""
    pairing = pair_recipients(people(), people())
    assert pairing.people_before[7] != pairing.people_after[7]
    assert pairing.people_before[7] >= DANGLING
    strict = pair_recipients(people(), people(), names=("a.binproto", "b.binproto"), strict=True)
    with pytest.raises(UnreadableBackup, match=r"b\.binproto refers to chat 7"):
        _ = strict.chats_after[7]
