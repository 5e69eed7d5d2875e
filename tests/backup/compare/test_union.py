"""Two rosters are merged: recipients once, identifiers unique, and conflicts reported."""

from holdfast.backup.compare.recipient_pairs import pair_recipients
from holdfast.backup.compare.roster import Roster
from holdfast.backup.compare.union import ALREADY_CLAIMED, NEWER_GROUP, Conflict, merge_rosters
from holdfast.backup.schema import BackupInfo, Frame
from holdfast.backup.schema.backup_pb2 import (
    AccountData,
    Chat,
    ChatFolder,
    ChatStyle,
    Contact,
    DistributionList,
    DistributionListItem,
    Group,
    NotificationProfile,
    Recipient,
    StickerPack,
)

ADA, BOB = b"a" * 16, b"b" * 16


def roster(*recipients: Recipient, **parts: object) -> Roster:
    """Return a roster."""
    result = Roster(BackupInfo(version=1), account=AccountData())
    result.recipients = {recipient.id: recipient for recipient in recipients}
    for name, value in parts.items():
        setattr(result, name, value)
    return result


def person(number: int, **fields: object) -> Recipient:
    """Return a contact."""
    return Recipient(id=number, contact=Contact(**fields))  # type: ignore[arg-type]  # whatever a contact takes


def merged(before: Roster, after: Roster) -> tuple[list[Frame], list[Conflict]]:
    """Merge two rosters."""
    conflicts: list[Conflict] = []
    _header, frames = merge_rosters(pair_recipients(before, after, strict=True), conflicts.append)
    return [Frame.FromString(raw) for raw in frames], conflicts


def people(frames: list[Frame]) -> list[Contact]:
    """List the contacts."""
    return [frame.recipient.contact for frame in frames if frame.HasField("recipient")]


def test_everybody_of_both_is_there_once() -> None:
    """The contacts of both backups are there once with new ids, and the later note wins as a conflict."""
    before = roster(person(7, aci=ADA, note="old"), person(8, e164=1))
    after = roster(person(1, aci=ADA, note="new"), person(2, aci=BOB))
    frames, conflicts = merged(before, after)
    assert [frame.recipient.id for frame in frames if frame.HasField("recipient")] == [1, 2, 3]
    assert [contact.note for contact in people(frames)] == ["new", "", ""]
    assert [(conflict.field, conflict.kept, conflict.dropped) for conflict in conflicts] == [
        ("contact.note", "new", "old")
    ]


def test_a_person_is_completed_by_what_only_the_older_file_knows() -> None:
    """Numbers, ids and keys that only the older backup has are added, without a conflict."""
    before = roster(person(1, aci=ADA, pni=BOB, e164=1, profileKey=b"k" * 32, profileGivenName="Ada"))
    frames, conflicts = merged(before, roster(person(1, aci=ADA)))
    (contact,) = people(frames)
    assert contact == before.recipients[1].contact
    assert conflicts == []


def test_a_number_that_passed_to_somebody_else_is_theirs() -> None:
    """A number or username of two contacts stays with the later one, and is a conflict.

    Usernames are compared without regard to case.
    """
    before = roster(person(1, aci=ADA, e164=1, username="Ada.01"))
    frames, conflicts = merged(before, roster(person(1, aci=BOB, e164=1, username="ada.01")))
    bob, ada = people(frames)
    assert (bob.e164, bob.username) == (1, "ada.01")
    assert (ada.aci, ada.e164, ada.username) == (ADA, 0, "")
    assert {(conflict.field, conflict.why) for conflict in conflicts} == {
        ("e164", ALREADY_CLAIMED),
        ("username", ALREADY_CLAIMED),
    }


def test_the_higher_version_of_a_group_wins() -> None:
    """The higher version of a group wins, even if it is in the older backup."""

    def group(number: int, version: int, title: str) -> Recipient:
        result = Recipient(id=number, group=Group(masterKey=b"g" * 32))
        result.group.snapshot.version = version
        result.group.snapshot.title.title = title
        return result

    frames, conflicts = merged(roster(group(1, 9, "nine")), roster(group(1, 8, "eight")))
    assert frames[1].recipient.group.snapshot.title.title == "nine"
    assert {(conflict.kept, conflict.dropped, conflict.why) for conflict in conflicts} == {
        ("nine", "eight", NEWER_GROUP),
        ("9", "8", NEWER_GROUP),
    }


def test_lists_come_after_their_members_and_name_them_once() -> None:
    """A distribution list comes last, and has two members who became one person only once."""
    story = DistributionListItem(distributionId=ADA, distributionList=DistributionList(memberRecipientIds=[1, 2]))
    before = roster(person(1, e164=1), person(2, aci=ADA), Recipient(id=3, distributionList=story))
    frames, _conflicts = merged(before, roster(person(5, aci=ADA, e164=1), person(6, aci=BOB)))
    *_others, last = [frame.recipient for frame in frames if frame.HasField("recipient")]
    assert last.distributionList.distributionList.memberRecipientIds == [1]


def test_colours_of_both_are_kept_and_chats_find_theirs() -> None:
    """Two custom colours with one id get two ids, which their chats refer to, and equal ones stay one."""

    def colored(number: int, color: int, recipient: int) -> Roster:
        account = AccountData()
        account.accountSettings.customChatColors.append(ChatStyle.CustomChatColor(id=4, solid=color))
        chat = Chat(id=number, recipientId=recipient, style=ChatStyle(customColorId=4))
        return roster(person(recipient, e164=recipient), account=account, chats={number: chat})

    frames, _conflicts = merged(colored(1, 0xFF0000FF, 1), colored(1, 0xFF00FF00, 2))
    colors = {color.id: color.solid for color in frames[0].account.accountSettings.customChatColors}
    chats = [frame.chat for frame in frames if frame.HasField("chat")]
    assert [colors[chat.style.customColorId] for chat in chats] == [0xFF00FF00, 0xFF0000FF]
    frames, _conflicts = merged(colored(1, 0xFF0000FF, 1), colored(1, 0xFF0000FF, 2))
    assert len(frames[0].account.accountSettings.customChatColors) == 1


def test_no_two_chats_are_pinned_to_one_place() -> None:
    """Of two chats with the same pinned order, that of the older backup moves to the next."""
    sides = [
        roster(person(number, e164=number), chats={1: Chat(id=1, recipientId=number, pinnedOrder=3)})
        for number in (1, 2)
    ]
    frames, _conflicts = merged(*sides)
    assert [frame.chat.pinnedOrder for frame in frames if frame.HasField("chat")] == [3, 4]


def test_records_with_a_key_are_there_once_and_there_is_one_folder_for_all() -> None:
    """Sticker packs, profiles, the folder of all chats and unknown frames of both are there once."""
    packs = [StickerPack(packId=ADA, packKey=b"k")]
    profiles = [NotificationProfile(id=ADA, name="Work", allowedMembers=[1])]
    all_chats = ChatFolder(folderType=ChatFolder.ALL, id=ADA)
    before = roster(
        person(1, e164=1), packs=packs, profiles=profiles, folders=[all_chats], unknown_frames=[b"\x9a\x06\x00"]
    )
    other_all = ChatFolder(folderType=ChatFolder.ALL, id=BOB)
    own = ChatFolder(folderType=ChatFolder.CUSTOM, id=ADA, name="Sea", includedRecipientIds=[4])
    after = roster(
        person(4, e164=1), packs=packs, profiles=[], folders=[other_all, own], unknown_frames=[b"\x9a\x06\x00"]
    )
    frames, _conflicts = merged(before, after)
    kinds = [frame.WhichOneof("item") for frame in frames]
    assert kinds == [
        "account",
        "recipient",
        "stickerPack",
        "notificationProfile",
        "chatFolder",
        "chatFolder",
        None,
    ]
    assert frames[5].chatFolder.includedRecipientIds == frames[3].notificationProfile.allowedMembers == [1]
