"""Whether a backup may be the only copy: what makes it incomplete, and what is lost."""

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
    """Write a phone's folder and return what holds all of it."""
    return folder_of(RECORDS, tmp_path).parent


def files_of(home: Path) -> list[Path]:
    """List the attachment files."""
    return sorted((home / "files").glob("??/*"))


def uses_of(home: Path, file: Path) -> int:
    """Count the messages and other records that use an attachment file."""
    with backup.open(home, LOCAL_KEYS) as found:
        return sum(one.attachment is not None and one.attachment.name == file.name for one in pointers(found))


def test_a_folder_as_the_phone_wrote_it_is_complete(home: Path) -> None:
    """What the phone did not have itself is listed apart, and does not count."""
    found = check_completeness(home, LOCAL_KEYS)
    assert found.answer is Answer.COMPLETE
    assert (found.errors, found.findings, found.lost) == (0, (), ())
    assert found.messages == 80
    assert found.attachments >= len(files_of(home)) > 3
    assert {one.loss for one in found.not_on_device} <= {Loss.NOT_KEPT, Loss.NOT_DOWNLOADED}


@pytest.mark.parametrize("harm", ["missing", "truncated", "damaged", "exchanged"])
def test_an_attachment_that_cannot_be_had_makes_it_incomplete(home: Path, harm: str) -> None:
    """Every use of it is listed, and what is wrong with it."""
    file, other = files_of(home)[:2]
    expected = uses_of(home, file)
    whole = file.read_bytes()
    match harm:
        case "missing":
            file.unlink()
        case "truncated":
            file.write_bytes(whole[:-20])
        case "damaged":
            file.write_bytes(whole[:40] + bytes([whole[40] ^ 1]) + whole[41:])
        case _:
            file.write_bytes(other.read_bytes())
    found = check_completeness(home, LOCAL_KEYS)
    assert found.answer is Answer.INCOMPLETE
    assert found.errors == 0
    assert len(found.lost) == expected > 0
    wanted = {"missing": {Loss.MISSING}, "truncated": {Loss.TRUNCATED}, "damaged": {Loss.DAMAGED}}
    assert {one.loss for one in found.lost} <= wanted.get(harm, {Loss.DAMAGED, Loss.TRUNCATED})


def test_what_is_lost_is_named_by_chat_date_and_person(home: Path) -> None:
    """And sorted so."""
    for file in files_of(home):
        file.unlink()
    found = check_completeness(home, LOCAL_KEYS)
    frames = [Frame.FromString(raw) for raw in RECORDS[1:]]
    items = {
        index: frame.chatItem for index, frame in enumerate(frames, 1) if frame.WhichOneof("item") == "chatItem"
    }
    people = {frame.recipient.id: frame.recipient for frame in frames if frame.WhichOneof("item") == "recipient"}
    chats = {frame.chat.id: frame.chat.recipientId for frame in frames if frame.WhichOneof("item") == "chat"}
    told = [one for one in found.lost if one.frame in items]
    assert len(told) > 3
    for one in told:
        item = items[one.frame]
        assert one.sent_ms == item.dateSent
        assert one.chat == recipient_name(people[chats[item.chatId]])
        owner = people[item.authorId].WhichOneof("destination") == "self"
        assert one.person == ("You" if owner else recipient_name(people[item.authorId]))
    order = [(one.chat.casefold(), one.sent_ms, one.person.casefold()) for one in found.lost]
    assert order == sorted(order)


def test_an_error_an_importer_trips_over_makes_it_incomplete(tmp_path: Path) -> None:
    """All attachments may be there, and still it cannot be restored."""
    orphans = [raw for raw in RECORDS[1:] if Frame.FromString(raw).WhichOneof("item") != "chat"]
    home = folder_of([RECORDS[0], *orphans], tmp_path).parent
    found = check_completeness(home, LOCAL_KEYS)
    assert found.answer is Answer.INCOMPLETE
    assert found.errors > 0
    assert len(found.findings) == min(found.errors, 1000)


@pytest.mark.parametrize("part", ["main", "metadata"])
def test_a_folder_that_lacks_a_file_is_incomplete(home: Path, part: str) -> None:
    """There is nothing to restore it from."""
    (snapshot,) = home.glob("signal-backup-*")
    (snapshot / part).unlink()
    assert check_completeness(home, LOCAL_KEYS).answer is Answer.INCOMPLETE


def test_a_changed_container_is_incomplete(home: Path) -> None:
    """One bit in the middle is enough, though most of it could still be read."""
    (main,) = home.glob("signal-backup-*/main")
    data = bytearray(main.read_bytes())
    data[len(data) // 2] ^= 1
    main.write_bytes(data)
    found = check_completeness(home, LOCAL_KEYS)
    assert found.answer is Answer.INCOMPLETE
    assert "container.mac" in {finding.rule.id for finding in found.findings}


def test_a_file_without_its_folder_has_no_attachments() -> None:
    """It is complete only if no message has any; from a pipe too."""
    sealed = check_completeness(io.BytesIO(container_of(RECORDS)), KEYS)
    assert sealed.answer is Answer.INCOMPLETE
    assert {one.loss for one in sealed.lost} == {Loss.NOT_KEPT}
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as target:
        target.write(stream_of(without_files())[: 1 << 15])
    with os.fdopen(reading, "rb") as source:
        plain = check_completeness(source)
    assert plain.lost == ()
    assert plain.attachments == 0


def without_files() -> list[bytes]:
    """Take the records of a sample that have nothing to do with messages."""
    kept = {"account", "recipient", "chat"}
    return [RECORDS[0], *(raw for raw in RECORDS[1:12] if Frame.FromString(raw).WhichOneof("item") in kept)]


def test_what_is_no_backup_and_a_wrong_key_are_errors(home: Path, tmp_path: Path) -> None:
    """Not an answer: nobody knows then."""
    with pytest.raises(WrongKey):
        check_completeness(home, SET_A.pool)
    (tmp_path / "x.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with pytest.raises(UnsupportedFormat):
        check_completeness(tmp_path / "x.png")
