"""Records of accounts, chats, people and groups."""

from holdfast.backup.archives import Archive
from holdfast.backup.exports import schemas
from holdfast.backup.exports.account_records import account_list, chat_record, other_records, recipient_records


def test_groups_have_their_members_by_name(opened: Archive) -> None:
    """A group has all its members, invited ones included, and their names where they are known."""
    groups = [record for record in recipient_records(opened) if isinstance(record, schemas.ExportedGroup)]
    members = [member for group in groups for member in group.members]
    (count,) = opened.connection.execute("SELECT count(*) FROM group_member").fetchone()
    assert len(members) == count
    assert {"member", "invited"} <= {member.standing for member in members}
    assert any(member.name for member in members)
    for member in members:
        assert member.name == (None if member.person_id is None else opened.names.name(member.person_id))


def test_people_have_had_names(two_snapshots: Archive) -> None:
    """The names that a recipient had are listed, the earliest first."""
    several = [record for record in recipient_records(two_snapshots) if len(record.names) > 1]
    assert several
    for record in several:
        assert [name.first_seen_ms for name in record.names] == sorted(name.first_seen_ms for name in record.names)


def test_only_some_can_be_asked_for(opened: Archive) -> None:
    """Records can be limited to the recipients with certain ids."""
    expected = {record.id for record in list(recipient_records(opened))[:3]}
    assert {record.id for record in recipient_records(opened, expected)} == expected


def test_an_account_has_its_snapshots_and_settings(two_snapshots: Archive) -> None:
    """An account has its snapshots in order, and its settings only if they are requested."""
    (account,) = account_list(two_snapshots, settings=True)
    times = [snapshot.made_ms for snapshot in account.snapshots]
    assert times == sorted(times)
    assert len(account.snapshots) == 2
    assert account.settings
    assert account_list(two_snapshots, settings=False)[0].settings == {}


def test_a_chat_has_its_settings(opened: Archive) -> None:
    """The record of a chat has its name, its files and whether it is archived."""
    for row in opened.chats():
        record = chat_record(opened, row, ("a", "b"))
        assert (record.id, record.name, record.archived) == (row.id, row.name, row.archived)
        assert record.files == ("a", "b")


def test_the_rest_of_a_backup_is_told(opened: Archive) -> None:
    """Calls by link, sticker packs, notification profiles and chat folders have records."""
    kinds = {type(record) for record in other_records(opened)}
    assert kinds == {
        schemas.ExportedCallLinkCall,
        schemas.ExportedStickerPack,
        schemas.ExportedNotificationProfile,
        schemas.ExportedChatFolder,
    }
