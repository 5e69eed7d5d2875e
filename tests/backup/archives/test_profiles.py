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
    """Names are joined, and what is empty is unknown."""
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
    """The archive says which of its values stood in no backup."""
    writer.describe(10, pb.Recipient(id=1, contact=pb.Contact(aci=KEY[:16])), 1, "Ada")
    assert [note for *_, note in writer.notes.counts if note.startswith("avatarColor not set")]


def test_the_members_of_a_group_are_replaced(writer: ProfileWriter) -> None:
    """Members, invited people, those who asked, and banned ones."""
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
    assert len(writer.connection.execute("SELECT * FROM group_member").fetchall()) == 2
    assert "Boats" in row(writer, "group").values()


def test_members_of_a_list_who_are_not_in_the_file_are_skipped(writer: ProfileWriter) -> None:
    """And noted."""
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
    """A later snapshot says something else."""
    writer.dry = True
    writer.describe(10, pb.Recipient(id=1, contact=pb.Contact(aci=KEY[:16])), 1, "Ada")
    writer.describe_chat(10, pb.Chat(id=1, recipientId=1), 1)
    assert writer.connection.execute("SELECT count(*) FROM recipient").fetchone()[0] == 0
    assert writer.connection.execute("SELECT count(*) FROM chat").fetchone()[0] == 0
    assert writer.notes.counts


def test_a_chat_is_written_again_with_what_changed(writer: ProfileWriter) -> None:
    """Optional fields that are not set are unknown, not 0."""
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
    """Presets by their names, photos and custom colours as such."""
    style = pb.ChatStyle(wallpaperPreset=pb.ChatStyle.SOLID_BLUSH, customColorId=4)
    assert style_of(style, Notes()) == ("SOLID_BLUSH", "custom 4")
    style.wallpaperPhoto.SetInParent()
    style.bubbleColorPreset = pb.ChatStyle.SOLID_ULTRAMARINE
    assert style_of(style, Notes()) == ("photo", "SOLID_ULTRAMARINE")
    assert style_of(pb.ChatStyle(autoBubbleColor=pb.ChatStyle.AutomaticBubbleColor()), Notes()) == (
        None,
        "automatic",
    )
