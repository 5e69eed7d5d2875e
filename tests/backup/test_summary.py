"""The summary of a backup equals the counts of protobuf objects."""

import io
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import Info
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.names import recipient_name
from holdfast.backup.schema import RECORDS
from holdfast.backup.schema.backup_pb2 import AccountData, BackupInfo, Chat, ChatItem, Contact, Frame, Recipient
from holdfast.backup.summary import ChatCount
from tests.backup.streams import (
    HEADER,
    KEYS,
    MODERN_KEYS,
    empty_frame,
    file_forms,
    folder_of,
    message_stream,
    record,
    sample,
    small_sample,
    stream_of,
)
from tests.holdfast_demo.sample.sample_parts import pointers


def by_objects(records: tuple[bytes, ...]) -> dict[str, object]:
    """Count everything with protobuf objects."""
    frames = [Frame.FromString(raw) for raw in records[1:]]
    kinds = Counter(frame.WhichOneof("item") for frame in frames)
    items = [frame.chatItem for frame in frames if frame.HasField("chatItem")]
    names = {frame.recipient.id: recipient_name(frame.recipient) for frame in frames}
    chats = {
        frame.chat.id: names.get(frame.chat.recipientId, "Unknown") for frame in frames if frame.HasField("chat")
    }
    dates = [item.dateSent for item in items if item.dateSent]
    months = Counter(f"{datetime.fromtimestamp(date / 1000, UTC):%Y-%m}" for date in dates)
    files = [pointer.locatorInfo for frame in frames for pointer in pointers(frame)]
    stored = [locator for locator in files if locator.ListFields()]
    sizes = sorted(Counter(item.chatId for item in items).values(), reverse=True)[:10]
    return {
        "counts": {name: kinds[name] for name in RECORDS[1:]},  # type: ignore[index]  # a counter by name
        "empty_frames": kinds[None],
        "frames": len(frames),
        "recipients": dict(
            Counter(frame.recipient.WhichOneof("destination") for frame in frames if frame.HasField("recipient"))
        ),
        "messages": dict(Counter(item.WhichOneof("item") for item in items)),
        "first_ms": min(dates, default=None),
        "last_ms": max(dates, default=None),
        "months": dict(sorted(months.items())),
        "attachments": len(stored),
        "attachment_bytes": sum(locator.size for locator in stored),
        "largest": sizes,
        "chats": chats,
    }


def compare(summary: Info, expected: dict[str, object]) -> None:
    """Assert that a summary equals the expected counts."""
    for name, value in expected.items():
        if name not in {"largest", "chats"}:
            assert getattr(summary, name) == value, name
    assert [chat.messages for chat in summary.largest_chats] == expected["largest"]
    chats = expected["chats"]
    assert isinstance(chats, dict)
    assert {chat.name for chat in summary.largest_chats} <= set(chats.values())


@pytest.mark.parametrize(("messages", "seed"), [(1, 1), (60, 2), (1500, 3)])
def test_every_figure_is_what_protobuf_counts(messages: int, seed: int) -> None:
    """All counts of samples are those of the parsed protobuf messages."""
    records = sample(messages, seed)
    summary = backup.info(io.BytesIO(stream_of(records)))
    compare(summary, by_objects(records))
    assert summary.bytes == len(stream_of(records))
    owner = Frame.FromString(records[1]).account
    assert summary.account == f"{owner.givenName} {owner.familyName}".strip()


def test_every_form_gives_the_same_answer() -> None:
    """Every format has the same summary, except for the name of the format and its media."""
    expected = by_objects(small_sample())
    for _name, data in file_forms(small_sample()):
        summary = backup.info(io.BytesIO(data), MODERN_KEYS)
        assert {name: getattr(summary, name) for name in ("counts", "messages", "months", "attachments")} == {
            name: expected[name] for name in ("counts", "messages", "months", "attachments")
        }
        assert summary.bytes == len(stream_of(small_sample()))
        assert summary.media is None or summary.form == "plaintext export"


def test_info_shows_the_header_and_counts_every_record_type() -> None:
    """The counts include all eight record types, also those that do not occur."""
    data = record(HEADER) + empty_frame(1) + empty_frame(2) * 3 + empty_frame(4) * 5 + empty_frame(8) + record(b"")
    summary = backup.info(io.BytesIO(data))
    assert summary.header == backup.Header(1, 1_700_000_000_123, "App 2.0", "App 1.0")
    assert summary.header.made_at == datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)
    assert summary.counts == {
        **dict.fromkeys(RECORDS[1:], 0),
        "account": 1,
        "recipient": 3,
        "chatItem": 5,
        "chatFolder": 1,
    }
    assert (summary.empty_frames, summary.frames, summary.bytes) == (1, 11, len(data))


@pytest.mark.parametrize(
    "raw",
    [
        b"\x0a\x00\x12\x00",
        b"\x22\x02\x08\x01\x22\x02\x10\x01",
        b"\x4a\x00",
        b"\x08\x01",
        b"\x0a\x00\x22\x02\x08\x05",
    ],
)
def test_a_frame_is_counted_once_whatever_it_holds(raw: bytes) -> None:
    """A frame with two records, a split record or none is counted once, as protobuf reads it."""
    records = (HEADER, raw, raw, b"\x22\x02\x08\x01")
    summary = backup.info(io.BytesIO(stream_of(records)))
    expected = by_objects(records)
    for name in ("counts", "empty_frames", "frames"):
        assert getattr(summary, name) == expected[name]


def test_older_revisions_are_no_messages_of_their_own() -> None:
    """The attachments of a revision are counted, and its date and the revision itself are not."""
    item = ChatItem(chatId=1, dateSent=1_700_000_000_000)
    item.standardMessage.SetInParent()
    older = item.revisions.add(chatId=1, dateSent=1)
    older.standardMessage.attachments.add().pointer.locatorInfo.size = 70
    summary = backup.info(io.BytesIO(message_stream(Frame(chatItem=item))))
    assert (summary.first_ms, summary.last_ms) == (1_700_000_000_000, 1_700_000_000_000)
    assert summary.messages == {"standardMessage": 1}
    assert (summary.attachments, summary.attachment_bytes) == (1, 70)
    assert summary.months == {"2023-11": 1}


def test_the_ten_largest_chats_have_names() -> None:
    """The largest chats have the names of their recipients, or Unknown."""
    frames = [Frame(account=AccountData(givenName="Ada"))]
    for number in range(1, 13):
        frames.append(Frame(recipient=Recipient(id=number, contact=Contact(username=f"user.{number}"))))
        frames.append(Frame(chat=Chat(id=100 + number, recipientId=number)))
    for number in range(1, 13):
        frames += [Frame(chatItem=ChatItem(chatId=100 + number))] * number
    frames += [Frame(chatItem=ChatItem(chatId=999))] * 20
    summary = backup.info(io.BytesIO(message_stream(*frames)))
    expected = [ChatCount("Unknown", 20), *(ChatCount(f"user.{number}", number) for number in range(12, 3, -1))]
    assert list(summary.largest_chats) == expected
    assert summary.account == "Ada"


def test_dates_beyond_the_calendar_have_no_month_and_cost_nothing() -> None:
    """All messages beyond the calendar are counted in one unknown month."""
    frames = [Frame(chatItem=ChatItem(dateSent=(1 << 64) - 1 - (number << 40))) for number in range(500)]
    summary = backup.info(io.BytesIO(message_stream(*frames, Frame(chatItem=ChatItem(dateSent=1)))))
    assert summary.months == {"1970-01": 1, "unknown": 500}
    assert (summary.first_ms, summary.last_ms) == (1, (1 << 64) - 1)


def test_info_takes_a_path_an_open_file_or_an_opened_backup(tmp_path: Path) -> None:
    """A path, a string, a file object and an open backup give the same summary."""
    file = tmp_path / "x.binproto"
    file.write_bytes(stream_of(small_sample()))
    with file.open("rb") as source, backup.open(file) as reader:
        assert backup.info(file) == backup.info(str(file)) == backup.info(source) == backup.info(reader)


def test_a_time_beyond_the_calendar_is_no_date() -> None:
    """An impossible time in the header is None."""
    data = record(BackupInfo(version=1, backupTimeMs=2**64 - 1).SerializeToString())
    assert backup.info(io.BytesIO(data)).header.made_at is None


@pytest.mark.parametrize("verify", [False, True])
def test_a_folder_says_what_became_of_its_media(tmp_path: Path, *, verify: bool) -> None:
    """Attachments are present, missing or damaged, and some damage is found only by decrypting."""
    snapshot = folder_of(sample(300), tmp_path)
    files = sorted((snapshot.parent / "files").glob("*/*"))
    files[0].unlink()
    files[1].write_bytes(files[1].read_bytes()[:50])
    changed = bytearray(files[2].read_bytes())
    changed[20] ^= 1
    files[2].write_bytes(changed)
    media = backup.info(snapshot, KEYS, verify_media=verify).media
    assert media is not None
    damaged = 2 if verify else 1
    assert (media.files, media.missing, media.damaged) == (len(files), 1, damaged)
    assert media.present == len(files) - 1 - damaged
    assert media.verified is verify


def test_a_malformed_frame_is_located() -> None:
    """The error has the frame and the byte, also for text that is not UTF-8."""
    data = record(HEADER) + empty_frame(1) * 2 + record(b"\x22\x05abc")
    with pytest.raises(DamagedBackup, match=r"middle of a field \(frame 3, byte \d+\)"):
        backup.info(io.BytesIO(data))
    bad_text = Frame(account=AccountData(givenName="Anna")).SerializeToString().replace(b"Anna", b"\xffnna")
    with pytest.raises(DamagedBackup, match=r"not UTF-8 \(frame 1, byte \d+\)"):
        backup.info(io.BytesIO(record(HEADER) + record(bad_text)))
