"""The tables of a backup, compared with an archive of the same backup."""

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import holdfast.backup as hb
from holdfast.backup.datasets import rows
from holdfast.backup.datasets.rows import TableReader
from holdfast.backup.datasets.schema import TABLES, dataset_schema
from holdfast.backup.errors import DamagedBackup
from holdfast.backup.schema import Frame
from holdfast.backup.wire import Block
from tests.backup.archives.histories import copies, items, write
from tests.backup.streams import message_stream, sample, stream_of

FAR = (1 << 63) - 1


def read(path: Path, size: int = 50) -> dict[str, list[dict[str, Any]]]:
    """Read all tables of a backup."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    with hb.open(path) as backup:
        for name, batch in TableReader(backup, size).batches():
            assert batch.schema.equals(dataset_schema(TABLES[name]), check_metadata=True)
            assert batch.num_rows
            found[name] += batch.to_pylist()
    return found


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a backup with every kind of record."""
    path = tmp_path_factory.mktemp("rows") / "chats.binproto"
    path.write_bytes(stream_of(sample(400)))
    return path


@pytest.fixture(scope="module")
def tables(source: Path) -> dict[str, list[dict[str, Any]]]:
    """Read all tables of the backup."""
    return read(source)


@pytest.fixture(scope="module")
def archived_tables(source: Path) -> dict[str, list[dict[str, Any]]]:
    """Read the tables of an archive of the backup."""
    with hb.dataset(source) as dataset:
        return {
            name: pa.Table.from_batches(dataset.batches(name), dataset.schema(name)).to_pylist()
            for name in dataset.tables
        }


def columns(rows: list[dict[str, Any]], *names: str) -> Counter[tuple[Any, ...]]:
    """Take some columns of all rows."""
    return Counter(tuple(row[name] for name in names) for row in rows)


def test_messages_are_those_of_the_archive(tables: Any, archived_tables: Any) -> None:
    """Messages have the columns, quotes, chat names and author names of an archive of the same backup."""
    same = ("direction", "kind", "sent", "sent_ms", "received", "text", "reactions", "revisions", "sms", "pinned")
    assert columns(tables["messages"], *same) == columns(archived_tables["messages"], *same)
    quoted = ("sent_ms", "reply_to_text")
    assert columns(tables["messages"], *quoted) == columns(archived_tables["messages"], *quoted)
    people = {row["person_id"]: row["name"] for row in tables["people"]}
    chats = {row["chat_id"]: row["name"] for row in tables["chats"]}
    named = Counter(
        (row["sent_ms"], chats[row["chat_id"]], people[row["author_id"]]) for row in tables["messages"]
    )
    expected = Counter((row["sent_ms"], row["chat"], row["author"]) for row in archived_tables["messages"])
    assert named == expected


@pytest.mark.parametrize(
    ("table", "names"),
    [
        (
            "attachments",
            "revision role n content_type file_name size width height caption plaintext_hash media_name",
        ),
        ("reactions", "emoji reacted"),
        ("calls", "kind type direction state started ended"),
        ("chats", "name kind messages archived pinned_order timer_ms mute_until marked_unread"),
        ("people", "name kind aci pni phone username profile_name system_name nickname note"),
        ("members", "service_id standing role added_by at"),
    ],
)
def test_other_tables_are_those_of_the_archive(tables: Any, archived_tables: Any, table: str, names: str) -> None:
    """Columns that the dataset and the archive have in common are equal."""
    # The archive lists calls through links and the release notes apart.
    renamed = {("calls", "call_link"), ("people", "release_notes")}
    rows = [row for row in tables[table] if (table, row.get("kind")) not in renamed]
    assert rows
    assert columns(rows, *names.split()) == columns(archived_tables[table], *names.split())


def test_rows_of_tables_belong_together(tables: Any, source: Path) -> None:
    """Ids link the tables to one another, and `message_id` is the number of the frame."""
    with hb.open(source) as backup:
        frames = {frame.index: Frame.FromString(frame.raw) for block in backup.blocks() for frame in block}
    for row in tables["messages"]:
        item = frames[row["message_id"]].chatItem
        assert (row["chat_id"], row["author_id"], row["sent_ms"]) == (item.chatId, item.authorId, item.dateSent)
    for name in ("reactions", "attachments"):
        counted = Counter(row["message_id"] for row in tables[name])
        assert counted == Counter({row["message_id"]: row[name] for row in tables["messages"] if row[name]})
    groups = {row["group_id"] for row in tables["chats"] if row["kind"] == "group"}
    assert {row["group_id"] for row in tables["members"]} == groups
    assert {row["event"] for row in tables["messages"] if row["kind"] != "update"} == {None}
    assert all(row["event"] for row in tables["messages"] if row["kind"] == "update")
    assert {row["direction"] for row in tables["messages"] if row["read"] is not None} == {"incoming"}


def test_findings_are_those_of_validate(tmp_path: Path) -> None:
    """The findings equal those of `validate`, with their frames."""
    header, frames = copies(60)
    broken = [item for item in items(frames) if item.HasField("standardMessage")][:5]
    for item in broken:
        item.chatId = 99_999
    path = write(tmp_path / "broken", header, frames)
    found = read(path)
    findings = hb.validate(path)
    expected = [(each.frame, each.rule.id, each.severity.value, each.path) for each in findings]
    assert expected
    assert [(row["frame"], row["rule"], row["severity"], row["path"]) for row in found["findings"]] == expected
    unresolved = [row for row in found["messages"] if row["chat_id"] is None]
    assert len(unresolved) == len(broken)


def test_the_core_reads_what_protobuf_reads(source: Path, tables: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading every message by protobuf gives the same rows, in any order of the files of a message."""

    def read_by_protobuf(data: bytes, first: int, *arguments: Any) -> tuple[int, int, int]:
        *_tables, special = arguments
        frames = list(Block(first, 0, data))
        for frame in frames:
            if frame.message.HasField("chatItem"):
                # The chat item stands last in its frame, and alone.
                end = frame.body + len(frame.raw)
                special(frame.index, end - frame.message.chatItem.ByteSize(), end)
        return 0, len(frames), 0

    monkeypatch.setattr(rows, "read_messages", read_by_protobuf)
    found = read(source)
    for table in (found["attachments"], tables["attachments"]):
        table.sort(key=lambda row: (row["message_id"], row["revision"], row["role"], row["n"]))
    assert found == tables


def test_long_texts_end_a_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch with long texts ends early, so that its column does not exceed the limit of Arrow."""
    frame = Frame()
    frame.chatItem.incoming.SetInParent()
    frame.chatItem.standardMessage.text.body = "long" * 200_000
    path = tmp_path / "long"
    path.write_bytes(message_stream(*[frame] * 5))

    def sizes() -> list[int]:
        return [batch.num_rows for batch in hb.dataset_batches(path)]

    assert sizes() == [5]
    monkeypatch.setattr(rows, "BATCH_BYTES", 1_500_000)
    assert len(sizes()) > 1
    assert sum(sizes()) == 5


def test_the_size_of_a_batch_changes_no_row(source: Path, tables: Any) -> None:
    """Batches of another size have the same rows."""
    assert read(source, 1_000_000) == tables


def test_a_time_no_calendar_has_is_empty(tmp_path: Path) -> None:
    """A timestamp beyond the calendar is null, and `sent_ms` has the number."""
    header, frames = copies(60)
    item = next(item for item in items(frames) if item.HasField("incoming"))
    item.dateSent = item.incoming.dateReceived = FAR
    row = next(row for row in read(write(tmp_path / "far", header, frames))["messages"] if row["sent_ms"] == FAR)
    assert (row["sent"], row["received"]) == (None, None)


def test_a_message_with_two_directions_is_read_as_protobuf_reads_it(tmp_path: Path) -> None:
    """A message that is encoded in two parts is merged as protobuf does, and is one row."""
    header, frames = copies(60)
    records = [frame.SerializeToString() for frame in frames]
    index = next(n for n, frame in enumerate(frames) if frame.chatItem.HasField("incoming"))
    doubled = Frame()
    doubled.chatItem.outgoing.SetInParent()
    doubled.chatItem.dateSent = 5
    records[index] += doubled.SerializeToString()
    path = tmp_path / "odd"
    path.write_bytes(stream_of([header.SerializeToString(), *records]))
    messages = read(path)["messages"]
    (row,) = (row for row in messages if row["message_id"] == index + 1)
    assert (row["direction"], row["sent_ms"]) == ("outgoing", 5)
    assert len(messages) == sum(frame.HasField("chatItem") for frame in frames)


def test_a_pinned_message_without_content_is_a_row(tmp_path: Path) -> None:
    """A message without content is a row with its pin, and the missing content is a finding."""
    header, frames = copies(60)
    item = next(item for item in items(frames) if item.HasField("incoming"))
    item.ClearField(item.WhichOneof("item") or "standardMessage")
    item.pinDetails.pinnedAtTimestamp = 5
    found = read(write(tmp_path / "empty", header, frames))
    (row,) = (row for row in found["messages"] if row["kind"] is None)
    assert (row["sent_ms"], row["text"], row["reactions"]) == (item.dateSent, None, 0)
    assert row["pinned"].timestamp() == 0.005
    assert found["findings"]


def test_a_field_that_is_new_to_a_frame_is_passed_over(tmp_path: Path) -> None:
    """A message in a frame with an unknown field is read like one without it."""
    header, frames = copies(60)
    records = [frame.SerializeToString() for frame in frames]
    index = next(n for n, frame in enumerate(frames) if frame.chatItem.HasField("incoming"))
    path = tmp_path / "known"
    path.write_bytes(stream_of([header.SerializeToString(), *records]))
    expected = read(path)["messages"]
    # Field 127, a number.
    records[index] += b"\xf8\x07\x05"
    path.write_bytes(stream_of([header.SerializeToString(), *records]))
    messages = read(path)["messages"]
    assert sorted(messages, key=lambda row: row["message_id"]) == expected


def test_damage_is_an_error(tmp_path: Path) -> None:
    """A truncated stream and damaged records raise an error, also in parts that a dataset does not have."""
    path = tmp_path / "cut"
    path.write_bytes(stream_of(sample())[:-3])
    with pytest.raises(DamagedBackup):
        read(path)
    damaged = message_stream() + b"\x03\x22\xff\xff"
    path.write_bytes(damaged)
    with pytest.raises(DamagedBackup):
        read(path)
    # A receipt, of which a dataset has nothing.
    path.write_bytes(message_stream() + b"\x07\x22\x05\x4a\x03\x0a\x01\xff")
    with pytest.raises(DamagedBackup):
        read(path)


def test_a_stream_of_messages_alone_is_read(tmp_path: Path) -> None:
    """Messages without records of their chat and author are read, and have no ids of them."""
    frame = Frame()
    frame.chatItem.chatId, frame.chatItem.authorId, frame.chatItem.dateSent = 7, 8, 9
    frame.chatItem.standardMessage.reactions.add(emoji="x", authorId=8, sentTimestamp=1)
    frame.chatItem.incoming.SetInParent()
    path = tmp_path / "alone"
    path.write_bytes(message_stream(frame))
    found = read(path)
    (row,), (reaction,) = found["messages"], found["reactions"]
    assert (row["chat_id"], row["author_id"], row["reactions"], row["text"]) == (None, None, 1, None)
    assert (row["received"], row["read"]) == (None, False)
    assert (reaction["message_id"], reaction["author_id"], reaction["emoji"]) == (1, None, "x")
    assert not found["people"]
