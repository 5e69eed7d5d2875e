"""Completeness of a backup: what makes it incomplete, and which attachments are lost."""

import io
import os
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.completeness import Answer, Loss, check_completeness
from holdfast.backup.errors import UnsupportedFormat, WrongKey
from holdfast.backup.media import pointers
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import Frame
from tests.backup.container.vectors import SET_A
from tests.backup.streams import KEYS, LOCAL_KEYS, container_of, folder_of, sample, stream_of

RECORDS = sample(80)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Write a phone's folder and return its path."""
    return folder_of(RECORDS, tmp_path).parent


def files_of(folder: Path) -> list[Path]:
    """List the attachment files."""
    return sorted((folder / "files").glob("??/*"))


def uses_of(folder: Path, file: Path) -> int:
    """Count the messages and other records that use an attachment file."""
    with backup.open(folder, LOCAL_KEYS) as source:
        attachments = [pointer.attachment for pointer in pointers(source)]
    return sum(entry is not None and entry.name == file.name for entry in attachments)


def test_a_folder_as_the_phone_wrote_it_is_complete(home: Path) -> None:
    """Attachments that the phone did not have are listed apart, and the backup is complete."""
    result = check_completeness(home, LOCAL_KEYS)
    assert result.answer is Answer.COMPLETE
    assert (result.errors, result.findings, result.lost) == (0, (), ())
    assert result.messages == 80
    assert result.attachments >= len(files_of(home)) > 3
    assert {item.loss for item in result.not_on_device} == {Loss.NOT_KEPT, Loss.NOT_DOWNLOADED}


@pytest.mark.parametrize("damage", ["missing", "truncated", "damaged", "exchanged"])
def test_an_attachment_that_cannot_be_had_makes_it_incomplete(home: Path, damage: str) -> None:
    """Every use of a missing, truncated, damaged or swapped file is listed with the kind of loss."""
    file, other = files_of(home)[:2]
    expected = uses_of(home, file)
    content = file.read_bytes()
    match damage:
        case "missing":
            file.unlink()
        case "truncated":
            file.write_bytes(content[:-20])
        case "damaged":
            file.write_bytes(content[:40] + bytes([content[40] ^ 1]) + content[41:])
        case _:
            file.write_bytes(other.read_bytes())
    result = check_completeness(home, LOCAL_KEYS)
    assert result.answer is Answer.INCOMPLETE
    assert result.errors == 0
    assert len(result.lost) == expected > 0
    losses = {"missing": {Loss.MISSING}, "truncated": {Loss.TRUNCATED}, "damaged": {Loss.DAMAGED}}
    assert {item.loss for item in result.lost} <= losses.get(damage, {Loss.DAMAGED, Loss.TRUNCATED})


def test_what_is_lost_is_named_by_chat_date_and_person(home: Path) -> None:
    """Losses have chat, date and person of the message, and are sorted by these."""
    for file in files_of(home):
        file.unlink()
    result = check_completeness(home, LOCAL_KEYS)
    frames = [Frame.FromString(raw) for raw in RECORDS[1:]]
    items = {
        index: frame.chatItem for index, frame in enumerate(frames, 1) if frame.WhichOneof("item") == "chatItem"
    }
    people = {frame.recipient.id: frame.recipient for frame in frames if frame.WhichOneof("item") == "recipient"}
    chats = {frame.chat.id: frame.chat.recipientId for frame in frames if frame.WhichOneof("item") == "chat"}
    located = [loss for loss in result.lost if loss.frame in items]
    assert len(located) > 3
    for loss in located:
        item = items[loss.frame]
        assert loss.sent_ms == item.dateSent
        assert loss.chat == recipient_name(people[chats[item.chatId]])
        owner = people[item.authorId].WhichOneof("destination") == "self"
        assert loss.person == ("You" if owner else recipient_name(people[item.authorId]))
    order = [(loss.chat.casefold(), loss.sent_ms, loss.person.casefold()) for loss in result.lost]
    assert order == sorted(order)


def test_an_error_an_importer_trips_over_makes_it_incomplete(tmp_path: Path) -> None:
    """A backup whose messages refer to no chat is incomplete, with all attachments present."""
    orphans = [raw for raw in RECORDS[1:] if Frame.FromString(raw).WhichOneof("item") != "chat"]
    folder = folder_of([RECORDS[0], *orphans], tmp_path).parent
    result = check_completeness(folder, LOCAL_KEYS)
    assert result.answer is Answer.INCOMPLETE
    assert result.errors > 0
    assert len(result.findings) == min(result.errors, 1000)


@pytest.mark.parametrize("part", ["main", "metadata"])
def test_a_folder_that_lacks_a_file_is_incomplete(home: Path, part: str) -> None:
    """A snapshot without one of its files is incomplete."""
    (snapshot,) = home.glob("signal-backup-*")
    (snapshot / part).unlink()
    assert check_completeness(home, LOCAL_KEYS).answer is Answer.INCOMPLETE


def test_the_newest_snapshot_without_its_messages_makes_every_folder_around_it_incomplete(home: Path) -> None:
    """It is reported for the folder of the snapshots and for its parent, not for an older snapshot in it."""
    (snapshot,) = home.glob("signal-backup-*")
    (home / "signal-backup-2099-01-01-00-00-00").mkdir()
    answers = [check_completeness(path, LOCAL_KEYS).answer for path in (home, home.parent, snapshot)]
    assert answers == [Answer.INCOMPLETE, Answer.INCOMPLETE, Answer.COMPLETE]


def test_a_changed_container_is_incomplete(home: Path) -> None:
    """One flipped bit in the main file makes the backup incomplete."""
    (main,) = home.glob("signal-backup-*/main")
    data = bytearray(main.read_bytes())
    data[len(data) // 2] ^= 1
    main.write_bytes(data)
    result = check_completeness(home, LOCAL_KEYS)
    assert result.answer is Answer.INCOMPLETE
    assert "container.mac" in {finding.rule.id for finding in result.findings}


def test_a_file_without_its_folder_has_no_attachments() -> None:
    """Attachments of a single file are lost, and without attachments none is."""
    sealed = check_completeness(io.BytesIO(container_of(RECORDS)), KEYS)
    assert sealed.answer is Answer.INCOMPLETE
    assert {item.loss for item in sealed.lost} == {Loss.NOT_KEPT}
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as target:
        target.write(stream_of(without_files())[: 1 << 15])
    with os.fdopen(reading, "rb") as source:
        plain = check_completeness(source)
    assert plain.lost == ()
    assert plain.attachments == 0


def without_files() -> list[bytes]:
    """Return the records of a sample without messages."""
    kinds = {"account", "recipient", "chat"}
    return [RECORDS[0], *(raw for raw in RECORDS[1:12] if Frame.FromString(raw).WhichOneof("item") in kinds)]


def test_what_is_no_backup_and_a_wrong_key_are_errors(home: Path, tmp_path: Path) -> None:
    """A wrong key and a file of another format are errors, not an incomplete backup."""
    with pytest.raises(WrongKey):
        check_completeness(home, SET_A.pool)
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(UnsupportedFormat):
        check_completeness(tmp_path / "x.png")
