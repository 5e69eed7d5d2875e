"""Changes of settings, contacts, groups, chats and other records are reported by name."""

from holdfast.backup.compare.field_changes import FieldChange
from tests.backup.compare.snapshots import Snapshot, difference, snapshot


def last_frame(frames: Snapshot, kind: str) -> object:
    """Return the last frame of a kind."""
    return next(getattr(frame, kind) for frame in reversed(frames.frames) if frame.WhichOneof("item") == kind)


def test_renamed_people_groups_and_chats_are_told() -> None:
    """A new group title, a member who left, a note and an archived chat are reported."""
    old, new = snapshot(), snapshot().renumbered(4)
    group = new.groups()[0].group.snapshot
    before = group.title.title
    group.title.title = "Harbour"
    del group.members[1]
    contact = new.contacts()[0].contact
    contact.note = "met at sea"
    new.chats[0].archived = not new.chats[0].archived
    differences = difference(old.raw(), new.raw())
    by_kind = {record.kind: record for record in differences.records}
    assert set(by_kind) == {"group", "person", "chat"}
    assert FieldChange("group.snapshot.title.title", before, "Harbour") in by_kind["group"].fields
    assert [change.after for change in by_kind["group"].fields if "members" in change.field] == [""]
    assert [change.after for change in by_kind["person"].fields] == ["met at sea"]
    assert [change.field for change in by_kind["chat"].fields] == ["archived"]
    assert differences.settings == ()
    assert differences.chats == ()


def test_settings_and_the_media_key_are_the_accounts() -> None:
    """Settings and the media key are differences; the time and the program of a backup are not."""
    old, new = snapshot(), snapshot()
    new.header.backupTimeMs += 1
    new.header.currentAppVersion = "next"
    new.header.debugInfo = b"x"
    assert difference(old.raw(), new.raw()).same
    new.header.mediaRootBackupKey = b"k" * 32
    new.frames[0].account.accountSettings.typingIndicators ^= True
    assert {change.field for change in difference(old.raw(), new.raw()).settings} == {
        "mediaRootBackupKey",
        "accountSettings.typingIndicators",
    }


def test_other_records_come_and_go() -> None:
    """Removed and added sticker packs, calls by link, notification profiles and folders are reported."""
    kinds = {"stickerPack", "adHocCall", "notificationProfile", "chatFolder"}
    old, new = snapshot(), snapshot()
    new.frames = [frame for frame in new.frames if frame.WhichOneof("item") not in kinds]
    differences = difference(old.raw(), new.raw())
    assert {(record.kind, record.what) for record in differences.records} == {
        (kind, "removed") for kind in ("sticker pack", "call by link", "notification profile", "chat folder")
    }
    back = difference(new.raw(), old.raw())
    assert {record.what for record in back.records} == {"added"}


def test_the_order_of_folders_is_theirs() -> None:
    """Another order of chat folders is a difference, because apps show them in that order."""
    old, new = snapshot(), snapshot()
    positions = [index for index, frame in enumerate(new.frames) if frame.HasField("chatFolder")]
    first, last = positions[0], positions[-1]
    new.frames[first], new.frames[last] = new.frames[last], new.frames[first]
    (record,) = difference(old.raw(), new.raw()).records
    assert (record.kind, record.fields[0].field) == ("chat folder", "order")
