"""A roster has all records of a backup except its messages."""

import pytest

from holdfast.backup.compare.roster import read_roster
from holdfast.backup.errors import DamagedBackup, UnreadableBackup
from holdfast.backup.schema.backup_pb2 import AccountData, ChatItem, Contact, Frame, Recipient
from tests.backup.compare.snapshots import opened, snapshot
from tests.backup.streams import HEADER, message_stream, record


def test_a_roster_has_every_record_that_is_no_message() -> None:
    """A roster has all records but messages, which it counts."""
    source = snapshot(400)
    roster = read_roster(opened(source.raw()))
    assert list(roster.recipients.values()) == source.recipients
    assert list(roster.chats.values()) == source.chats
    assert roster.messages == 400
    assert roster.header == source.header
    assert roster.account == source.frames[0].account
    for kind, records in (
        ("stickerPack", roster.packs),
        ("adHocCall", roster.calls),
        ("notificationProfile", roster.profiles),
        ("chatFolder", roster.folders),
    ):
        assert records == [getattr(frame, kind) for frame in source.frames if frame.HasField(kind)]  # type: ignore[arg-type]  # one of the fields of a frame
        assert records, kind


def test_the_same_frames_give_the_same_digest() -> None:
    """Equal backups have the same digest, and different ones have different digests."""
    first, second = snapshot(60), snapshot(60, seed=2)
    assert read_roster(opened(first.raw())).digest == read_roster(opened(first.raw())).digest
    assert read_roster(opened(first.raw())).digest != read_roster(opened(second.raw())).digest


def test_frames_of_the_future_are_kept_once_and_empty_ones_not_at_all() -> None:
    """An unknown frame is kept unchanged and only once, and an empty frame is dropped."""
    account = Frame(account=AccountData(givenName="Ada")).SerializeToString()
    future = b"\x9a\x06\x03abc"
    raw = b"".join(map(record, [HEADER, account, future, b"", future]))
    roster = read_roster(opened(raw))
    assert roster.unknown_frames == [future]


def test_names_are_those_of_the_file() -> None:
    """A contact without a name is shown by number, and unknown ids are "Unknown"."""
    person = Recipient(id=3, contact=Contact(e164=4915550100))
    roster = read_roster(opened(message_stream(Frame(account=AccountData()), Frame(recipient=person))))
    assert (roster.name(3), roster.name(4), roster.chat_name(1)) == ("+4915550100", "Unknown", "Unknown")


def test_a_backup_without_an_account_is_refused() -> None:
    """A backup without an account record raises `UnreadableBackup`."""
    with pytest.raises(UnreadableBackup, match="no account"):
        read_roster(opened(message_stream(Frame(chatItem=ChatItem(chatId=1)))))


def test_damage_inside_a_message_is_found_with_its_place() -> None:
    """A damaged message raises an error with its frame, although a roster has no messages."""
    valid = Frame(account=AccountData()).SerializeToString()
    invalid = b"\x22\x07\x5a\x05\x12\x03\x0a\x01\xff"
    with pytest.raises(DamagedBackup, match="frame 2"):
        read_roster(opened(b"".join(map(record, [HEADER, valid, invalid]))))
