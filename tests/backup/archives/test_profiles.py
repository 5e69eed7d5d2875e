"""Current rows of recipients and chats."""

import sqlite3
from collections.abc import Iterator

import pytest

from holdfast.backup.archives import schema
from holdfast.backup.archives.profiles import LATEST, ProfileWriter, style_of
from holdfast.backup.archives.snapshots import Snapshots
from holdfast.backup.archives.tolerance import Notes
from holdfast.backup.schema import backup_pb2 as pb

KEY = bytes(range(32))


@pytest.fixture
def writer() -> Iterator[ProfileWriter]:
    """Make an empty archive, and write its first snapshot."""
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    schema.create(connection)
    yield ProfileWriter(connection, Snapshots(1, 1, None, {1: (1000, "a")}), Notes(), {5: 50})
    connection.close()


def row(writer: ProfileWriter, table: str) -> dict[str, object]:
    """Return the only row of a table."""
    (values,) = writer.connection.execute(f'SELECT * FROM "{table}"').fetchall()
    return dict(values)


def test_a_contact_is_written_again_with_what_changed(writer: ProfileWriter) -> None:
    """A new version replaces the row of a contact, names are joined, and empty fields are NULL."""
    contact = pb.Contact(aci=KEY[:16], e164=4912345, profileGivenName="Ada", blockedAtTimestamp=9, note="")
    contact.avatarColor = pb.AvatarColor.A110
    writer.describe(10, pb.Recipient(id=1, contact=contact), 77, "Ada")
    contact.profileFamilyName = "Byron"
    contact.notRegistered.unregisteredTimestamp = 2**64 - 1
    writer.describe(10, pb.Recipient(id=1, contact=contact), 78, "Ada Byron")
    stored = row(writer, "recipient")
    assert (stored["name"], stored["kind"], stored["fingerprint"]) == ("Ada Byron", "contact", 78)
    assert (stored["avatar_color"], stored["last_seen"]) == ("A110", None)
    columns = list(row(writer, "contact").values())
    assert "00010203-0405-0607-0809-0a0b0c0d0e0f" in columns
    assert "Ada Byron" in columns
    # A time beyond what SQLite holds is the latest it holds, and one of a block that ended is none.
    assert LATEST in columns
    assert 9 not in columns
    assert "" not in columns


def test_a_color_that_is_computed_is_noted(writer: ProfileWriter) -> None:
    """An avatar colour that is not in the backup is computed, and a note says so."""
    writer.describe(10, pb.Recipient(id=1, contact=pb.Contact(aci=KEY[:16])), 1, "Ada")
    assert [note for *_, note in writer.notes.counts if note.startswith("avatarColor not set")]


def test_the_members_of_a_group_are_replaced(writer: ProfileWriter) -> None:
    """Members, invited, requesting and banned people are stored, and replaced by a new version of the group."""
    group = pb.Group(masterKey=KEY)
    shot = group.snapshot
    shot.title.title = "Boats"
    shot.members.add(userId=KEY[:16], role=pb.Group.Member.ADMINISTRATOR)
    shot.membersPendingProfileKey.add(addedByUserId=KEY[:16], timestamp=5).member.userId = KEY[1:17]
    shot.membersPendingAdminApproval.add(userId=KEY[2:18])
    shot.members_banned.add(userId=KEY[3:19])
    writer.describe(20, pb.Recipient(id=2, group=group), 1, "Boats")
    listed = writer.connection.execute("SELECT * FROM group_member").fetchall()
    assert sorted(
        value for entry in listed for value in entry if value in {"member", "invited", "asking", "banned"}
    ) == [
        "asking",
        "banned",
        "invited",
        "member",
    ]
    del shot.members_banned[:], shot.membersPendingProfileKey[:]
    writer.describe(20, pb.Recipient(id=2, group=group), 2, "Boats")
    left = writer.connection.execute("SELECT standing FROM group_member ORDER BY 1")
    assert [standing for (standing,) in left] == ["asking", "member"]
    assert "Boats" in row(writer, "group").values()


def test_members_of_a_list_who_are_not_in_the_file_are_skipped(writer: ProfileWriter) -> None:
    """An unknown member of a distribution list is skipped with a note, and a repeated one is stored once."""
    item = pb.DistributionListItem(distributionId=KEY[:16])
    item.distributionList.name = "Crew"
    item.distributionList.memberRecipientIds[:] = [5, 5, 6]
    writer.describe(30, pb.Recipient(id=3, distributionList=item), 1, "Crew")
    assert list(row(writer, "distribution_list_member").values()) == [30, 50]
    assert [(action, note) for _, _, action, note in writer.notes.counts][-1] == (
        "skipped",
        "a member of a distribution list who is not in the file",
    )


def test_a_dry_writer_notes_and_writes_nothing(writer: ProfileWriter) -> None:
    """A dry writer, as for an older snapshot, writes no rows but still makes notes."""
    writer.dry = True
    writer.describe(10, pb.Recipient(id=1, contact=pb.Contact(aci=KEY[:16])), 1, "Ada")
    writer.describe_chat(10, pb.Chat(id=1, recipientId=1), 1)
    assert writer.connection.execute("SELECT count(*) FROM recipient").fetchone()[0] == 0
    assert writer.connection.execute("SELECT count(*) FROM chat").fetchone()[0] == 0
    assert writer.notes.counts


def test_a_chat_is_written_again_with_what_changed(writer: ProfileWriter) -> None:
    """A new version replaces the row of a chat, and optional fields that are not set are NULL, not 0."""
    chat = pb.Chat(id=1, recipientId=1, archived=True, muteUntilMs=2**64 - 1)
    writer.describe_chat(10, chat, 1)
    stored = row(writer, "chat")
    assert (stored["archived"], stored["pinned_order"], stored["mute_until_ms"]) == (1, None, LATEST)
    writer.describe_chat(10, pb.Chat(id=1, recipientId=1, pinnedOrder=3), 2)
    stored = row(writer, "chat")
    assert (stored["archived"], stored["pinned_order"], stored["mute_until_ms"], stored["fingerprint"]) == (
        0,
        3,
        None,
        2,
    )


def test_wallpapers_and_bubbles_are_named() -> None:
    """Presets have their names, and a photo, a custom and an automatic colour are named as such."""
    style = pb.ChatStyle(wallpaperPreset=pb.ChatStyle.SOLID_BLUSH, customColorId=4)
    assert style_of(style, Notes()) == ("SOLID_BLUSH", "custom 4")
    style.wallpaperPhoto.SetInParent()
    style.bubbleColorPreset = pb.ChatStyle.SOLID_ULTRAMARINE
    assert style_of(style, Notes()) == ("photo", "SOLID_ULTRAMARINE")
    assert style_of(pb.ChatStyle(autoBubbleColor=pb.ChatStyle.AutomaticBubbleColor()), Notes()) == (
        None,
        "automatic",
    )


ACI = "00010203-0405-0607-0809-0a0b0c0d0e0f"


def stored(writer: ProfileWriter, table: str, number: int) -> dict[str, object]:
    """Return the row of a table with an id."""
    values = writer.connection.execute(f'SELECT * FROM "{table}" WHERE id = ?', (number,)).fetchone()
    return dict(values)


def test_every_column_of_a_contact_is_written(writer: ProfileWriter) -> None:
    """Every field of a contact is written to its column, and an empty field is NULL."""
    contact = pb.Contact(
        aci=KEY[:16],
        pni=KEY[16:],
        e164=4912345,
        username="ada.01",
        profileGivenName="Ada",
        profileFamilyName="Byron",
        systemGivenName="A.",
        systemFamilyName="B.",
        systemNickname="Countess",
        note="Engines",
        blocked=True,
        blockedAtTimestamp=9,
        visibility=pb.Contact.HIDDEN,
        profileSharing=True,
        hideStory=True,
        identityState=pb.Contact.VERIFIED,
        profileKey=KEY,
        identityKey=b"\5" + KEY,
    )
    contact.nickname.given, contact.nickname.family = "Ad", "By"
    contact.notRegistered.unregisteredTimestamp = 7
    writer.describe(10, pb.Recipient(id=1, contact=contact), 77, "Ada")
    assert stored(writer, "contact", 10) == {
        "id": 10,
        "aci": ACI,
        "pni": "10111213-1415-1617-1819-1a1b1c1d1e1f",
        "e164": 4912345,
        "username": "ada.01",
        "profile_name": "Ada Byron",
        "system_name": "A. B.",
        "system_nickname": "Countess",
        "nickname": "Ad By",
        "note": "Engines",
        "blocked": 1,
        "blocked_ms": 9,
        "visibility": "HIDDEN",
        "registered": 0,
        "unregistered_ms": 7,
        "profile_sharing": 1,
        "hide_story": 1,
        "identity_state": "VERIFIED",
        "profile_key": KEY,
        "identity_key": b"\5" + KEY,
    }
    writer.describe(11, pb.Recipient(id=2, contact=pb.Contact(pni=KEY[:16])), 77, "Ada")
    empty = {column: value for column, value in stored(writer, "contact", 11).items() if value is not None}
    flags = dict.fromkeys(("blocked", "profile_sharing", "hide_story"), 0)
    assert empty == {
        "id": 11,
        "pni": ACI,
        "registered": 1,
        "visibility": "VISIBLE",
        "identity_state": "DEFAULT",
        **flags,
    }


def test_every_column_of_a_group_is_written(writer: ProfileWriter) -> None:
    """An empty field is NULL, and an unknown access level is the strictest one."""
    group = pb.Group(
        masterKey=KEY,
        whitelisted=True,
        hideStory=True,
        storySendMode=pb.Group.ENABLED,
        blocked=True,
        blockedAtTimestamp=8,
    )
    shot, level = group.snapshot, pb.Group.AccessControl
    shot.title.title, shot.description.descriptionText, shot.avatarUrl = "Boats", "All of them", "groups/1"
    shot.disappearingMessagesTimer.disappearingMessagesDuration = 60
    shot.version, shot.announcements_only, shot.terminated, shot.inviteLinkPassword = 3, True, True, b"secret"
    shot.accessControl.attributes, shot.accessControl.members = level.MEMBER, level.ADMINISTRATOR
    shot.accessControl.addFromInviteLink, shot.accessControl.memberLabel = level.ANY, level.MEMBER
    writer.describe(20, pb.Recipient(id=2, group=group), 1, "Boats")
    assert stored(writer, "group", 20) == {
        "id": 20,
        "master_key": KEY,
        "title": "Boats",
        "description": "All of them",
        "avatar_url": "groups/1",
        "timer_s": 60,
        "version": 3,
        "announcements_only": 1,
        "terminated": 1,
        "access_attributes": "MEMBER",
        "access_members": "ADMINISTRATOR",
        "access_invite_link": "ANY",
        "access_member_label": "MEMBER",
        "invite_link_password": b"secret",
        "whitelisted": 1,
        "hide_story": 1,
        "story_send_mode": "ENABLED",
        "blocked": 1,
        "blocked_ms": 8,
    }
    other = pb.Group(masterKey=KEY, blockedAtTimestamp=8)
    other.snapshot.title.descriptionText, other.snapshot.description.title = "Boats", "All of them"
    other.snapshot.disappearingMessagesTimer.title = "60"
    writer.describe(21, pb.Recipient(id=2, group=other), 1, "")
    row_of_other = stored(writer, "group", 21)
    unknown = ("title", "description", "avatar_url", "timer_s", "invite_link_password", "blocked_ms")
    assert [row_of_other[column] for column in unknown] == [None] * len(unknown)
    access = ("access_attributes", "access_members", "access_invite_link", "access_member_label")
    assert {row_of_other[column] for column in access} == {"UNSATISFIABLE"}


def test_every_column_of_a_member_is_written(writer: ProfileWriter) -> None:
    """Members, invited, requesting and banned people each have their own columns."""
    group = pb.Group(masterKey=KEY)
    shot = group.snapshot
    shot.members.add(
        userId=KEY[:16],
        role=pb.Group.Member.ADMINISTRATOR,
        joinedAtVersion=2,
        labelString="Captain",
        labelEmoji="\u2693",
    )
    invited = shot.membersPendingProfileKey.add(addedByUserId=KEY[:16], timestamp=5)
    invited.member.CopyFrom(pb.Group.Member(userId=KEY[1:17], role=pb.Group.Member.DEFAULT, joinedAtVersion=4))
    shot.membersPendingProfileKey.add().member.userId = KEY[4:20]
    shot.membersPendingAdminApproval.add(userId=KEY[2:18], timestamp=6)
    shot.members_banned.add(userId=KEY[3:19], timestamp=7)
    writer.describe(20, pb.Recipient(id=2, group=group), 1, "Boats")
    rows = writer.connection.execute(
        "SELECT service_id, standing, role, joined_at_version, label, label_emoji, added_by, at_ms "
        "FROM group_member ORDER BY service_id"
    )
    assert [tuple(values) for values in rows] == [
        (ACI, "member", "ADMINISTRATOR", 2, "Captain", "\u2693", None, None),
        ("01020304-0506-0708-090a-0b0c0d0e0f10", "invited", "DEFAULT", 4, None, None, ACI, 5),
        ("02030405-0607-0809-0a0b-0c0d0e0f1011", "asking", None, None, None, None, None, 6),
        ("03040506-0708-090a-0b0c-0d0e0f101112", "banned", None, None, None, None, None, 7),
        ("04050607-0809-0a0b-0c0d-0e0f10111213", "invited", "DEFAULT", 0, None, None, None, None),
    ]


def test_every_column_of_a_call_link_is_written(writer: ProfileWriter) -> None:
    """A missing admin key, name or expiration of a call link is NULL."""
    link = pb.CallLink(
        rootKey=KEY[:16], adminKey=b"admin", name="Tea", restrictions=pb.CallLink.NONE, expirationMs=12
    )
    writer.describe(40, pb.Recipient(id=4, callLink=link), 1, "Tea")
    assert tuple(stored(writer, "call_link", 40).values()) == (40, KEY[:16], b"admin", "Tea", "NONE", 12)
    link = pb.CallLink(rootKey=KEY[:16], restrictions=pb.CallLink.NONE)
    writer.describe(40, pb.Recipient(id=4, callLink=link), 1, "Tea")
    assert tuple(stored(writer, "call_link", 40).values()) == (40, KEY[:16], None, None, "NONE", None)


def test_a_deleted_distribution_list_has_only_a_date(writer: ProfileWriter) -> None:
    """The name and the members of a deleted list are removed, and its date of deletion is clamped."""
    item = pb.DistributionListItem(distributionId=KEY[:16])
    item.distributionList.name, item.distributionList.allowReplies = "Crew", True
    item.distributionList.privacyMode = pb.DistributionList.ONLY_WITH
    item.distributionList.memberRecipientIds.append(5)
    writer.describe(30, pb.Recipient(id=3, distributionList=item), 1, "Crew")
    assert tuple(stored(writer, "distribution_list", 30).values()) == (30, ACI, "Crew", None, 1, "ONLY_WITH")
    item.deletionTimestamp = (1 << 64) - 1
    writer.describe(30, pb.Recipient(id=3, distributionList=item), 2, "")
    assert tuple(stored(writer, "distribution_list", 30).values()) == (30, ACI, None, LATEST, None, None)
    assert not writer.connection.execute("SELECT * FROM distribution_list_member").fetchall()


def test_every_column_of_a_chat_is_written_and_replaced(writer: ProfileWriter) -> None:
    """All columns are replaced by a new version, and the first and last snapshot stay as they were."""
    chat = pb.Chat(
        id=1,
        recipientId=1,
        archived=True,
        pinnedOrder=2,
        expirationTimerMs=3000,
        expireTimerVersion=4,
        muteUntilMs=5,
        markedUnread=True,
        dontNotifyForMentionsIfMuted=True,
    )
    chat.style.wallpaperPreset, chat.style.dimWallpaperInDarkMode = pb.ChatStyle.SOLID_BLUSH, True
    chat.style.autoBubbleColor.SetInParent()
    writer.describe_chat(10, pb.Chat(id=1, recipientId=1), 1)
    empty = (10, 0, None, None, 0, None, 0, 0, None, None, 0, 1, 1, None)
    assert tuple(stored(writer, "chat", 10).values()) == empty
    writer.describe_chat(10, chat, 6)
    full = (10, 1, 2, 3000, 4, 5, 1, 1, "SOLID_BLUSH", "automatic", 1, 6, 1, None)
    assert tuple(stored(writer, "chat", 10).values()) == full
