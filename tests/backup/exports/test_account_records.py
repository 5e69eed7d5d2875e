"""Records of accounts, chats, people and groups."""

from holdfast.backup.archives import Archive
from holdfast.backup.exports import schemas
from holdfast.backup.exports.account_records import account_list, chat_record, other_records, recipient_records


def test_groups_have_their_members_by_name(opened: Archive) -> None:
    """Also those who were invited or banned."""
    groups = [one for one in recipient_records(opened) if isinstance(one, schemas.ExportedGroup)]
    members = [member for group in groups for member in group.members]
    (count,) = opened.connection.execute("SELECT count(*) FROM group_member").fetchone()
    assert len(members) == count
    assert {"member", "invited"} <= {member.standing for member in members}
    assert any(member.name for member in members)


def test_people_have_had_names(two_snapshots: Archive) -> None:
    """The earliest first."""
    several = [one for one in recipient_records(two_snapshots) if len(one.names) > 1]
    assert several
    for one in several:
        assert [name.first_seen_ms for name in one.names] == sorted(name.first_seen_ms for name in one.names)


def test_only_some_can_be_asked_for(opened: Archive) -> None:
    """By their ids."""
    wanted = {one.id for one in list(recipient_records(opened))[:3]}
    assert {one.id for one in recipient_records(opened, wanted)} == wanted


def test_an_account_has_its_snapshots_and_settings(two_snapshots: Archive) -> None:
    """The settings only where they are asked for."""
    (account,) = account_list(two_snapshots, settings=True)
    assert [one.made_ms for one in account.snapshots] == sorted(one.made_ms for one in account.snapshots)
    assert len(account.snapshots) == 2
    assert account.settings
    assert account_list(two_snapshots, settings=False)[0].settings == {}


def test_a_chat_has_its_settings(opened: Archive) -> None:
    """As the archive has them."""
    for one in opened.chats():
        found = chat_record(opened, one, ("a", "b"))
        assert (found.id, found.name, found.archived) == (one.id, one.name, one.archived)
        assert found.files == ("a", "b")


def test_the_rest_of_a_backup_is_told(opened: Archive) -> None:
    """Calls by link, sticker packs, notification profiles and chat folders."""
    kinds = {type(one) for one in other_records(opened)}
    assert kinds == {
        schemas.ExportedCallLinkCall,
        schemas.ExportedStickerPack,
        schemas.ExportedNotificationProfile,
        schemas.ExportedChatFolder,
    }
