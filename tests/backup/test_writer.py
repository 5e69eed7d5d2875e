"""Backups are written in every format, in order, and atomically."""

import io
import stat
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup.container.folder import SnapshotFolder
from holdfast.backup.errors import DamagedRecord, KeyIncomplete, OrderBroken, UnwritableBackup
from holdfast.backup.schema.backup_pb2 import AccountData, BackupInfo, Frame, Recipient, SimpleChatUpdate
from holdfast.backup.wire import Names
from holdfast.backup.writer import (
    BackupWriter,
    write_array,
    write_container,
    write_lines,
    write_snapshot,
    write_stream,
)
from tests.backup.streams import (
    HEADER,
    KEYS,
    LOCAL_KEYS,
    MODERN_KEYS,
    array_of,
    lines_of,
    record,
    sample,
    small_sample,
    stream_of,
)

Write = Callable[..., AbstractContextManager[BackupWriter]]

FILES: dict[str, Write] = {
    "stream": write_stream,
    "lines": write_lines,
    "array": write_array,
    "legacy": lambda target, header, **more: write_container(target, header, KEYS, **more),
    "modern": lambda target, header, **more: write_container(target, header, MODERN_KEYS, **more),
}


def all_of(path: Path) -> tuple[bytes, ...]:
    """Read a backup."""
    with backup.open(path, MODERN_KEYS) as source:
        return (source.header, *(frame.raw for frame in source))


def blocks_of(records: tuple[bytes, ...]) -> Iterator[backup.Block]:
    """Return the frames in blocks, as they are read."""
    return backup.FrameStream(io.BytesIO(stream_of(records))).blocks()


@pytest.mark.parametrize("form", FILES)
def test_what_was_written_is_read(form: str, tmp_path: Path) -> None:
    """Backups are written by frame and by block, checked and unchecked, and are private."""
    header, *frames = sample()
    for number, unchecked in enumerate((False, True)):
        single, blocks = tmp_path / f"single{number}", tmp_path / f"blocks{number}"
        with FILES[form](single, header, unchecked=unchecked) as writer:
            for frame in frames:
                writer.write(frame)
        with FILES[form](blocks, header, unchecked=unchecked) as writer:
            for block in blocks_of(sample()):
                writer.write_block(block)
        assert all_of(single) == all_of(blocks) == sample()
        assert stat.S_IMODE(single.stat().st_mode) == 0o600


def test_message_objects_are_taken_as_well() -> None:
    """The header and the frames may be given as protobuf messages."""
    out = io.BytesIO()
    frame = Frame(account=AccountData(givenName="Ada"))
    with write_stream(out, BackupInfo.FromString(HEADER)) as writer:
        writer.write(frame)
    assert out.getvalue() == stream_of([HEADER, frame.SerializeToString()])


def test_the_plain_forms_are_what_they_are_said_to_be() -> None:
    """Stream, lines and array are written byte for byte as expected, the array with one record a line."""
    for write, expected in (
        (write_stream, stream_of(small_sample())),
        (write_lines, lines_of(small_sample())),
        (write_array, b"[\n" + array_of(small_sample())[1:-1] + b"\n]\n"),
    ):
        out = io.BytesIO()
        with write(out, small_sample()[0], unchecked=True) as writer:
            for frame in small_sample()[1:]:
                writer.write(frame)
        assert out.getvalue() == expected


@pytest.mark.parametrize("form", FILES)
def test_a_header_alone_is_a_backup(form: str, tmp_path: Path) -> None:
    """A backup without frames is written and read back in every format."""
    with FILES[form](tmp_path / "x", HEADER):
        pass
    assert all_of(tmp_path / "x") == (HEADER,)


@pytest.mark.parametrize("form", FILES)
def test_an_ordering_rule_stops_the_writer_and_leaves_nothing(form: str, tmp_path: Path) -> None:
    """A frame out of order stops the writer, and an existing file at the target is kept."""
    target = tmp_path / "x"
    target.write_bytes(b"precious")
    with pytest.raises(OrderBroken) as caught, FILES[form](target, HEADER, replace=True) as writer:
        writer.write(Frame(account=AccountData()))
        writer.write(Frame(recipient=Recipient(id=0)))
    assert (caught.value.rule, caught.value.frame) == ("recipient.id.zero", 2)
    assert target.read_bytes() == b"precious"
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_a_block_is_checked_frame_by_frame(tmp_path: Path) -> None:
    """The frames of a block are checked for their order unless the writer is unchecked."""
    records = (HEADER, b"\x12\x00")
    with pytest.raises(OrderBroken), write_stream(tmp_path / "x", HEADER) as writer:
        writer.write_block(next(blocks_of(records)))
    with write_stream(tmp_path / "x", HEADER, unchecked=True) as writer:
        writer.write_block(next(blocks_of(records)))
    assert all_of(tmp_path / "x") == records


def test_a_refused_frame_can_be_left_out(tmp_path: Path) -> None:
    """After a refused frame the writer goes on, and nothing of that frame is in the file."""
    with write_stream(tmp_path / "x", HEADER) as writer:
        writer.write(b"\x0a\x00")
        with pytest.raises(OrderBroken):
            writer.write(b"\x0a\x00")
        writer.write(b"\x12\x02\x08\x01")
    assert all_of(tmp_path / "x") == (HEADER, b"\x0a\x00", b"\x12\x02\x08\x01")


def test_damage_is_reproduced_only_unchecked(tmp_path: Path) -> None:
    """A malformed frame is refused by a checked writer and by JSON, but not by an unchecked stream."""
    with pytest.raises(DamagedRecord), write_stream(tmp_path / "x", HEADER) as writer:
        writer.write(b"\x0a\x05a")
    with write_stream(tmp_path / "x", HEADER, unchecked=True) as writer:
        writer.write(b"\x0a\x05a")
    assert all_of(tmp_path / "x") == (HEADER, b"\x0a\x05a")
    for write in (write_lines, write_array):
        with pytest.raises(DamagedRecord), write(tmp_path / "y", HEADER, unchecked=True) as writer:
            writer.write(b"\x0a\x05a")
        block = next(blocks_of((HEADER, b"\x0a\x00", b"\x0a\x05a")))
        with (
            pytest.raises(backup.DamagedBackup, match=r"\(frame 2, byte \d+\)"),
            write(tmp_path / "y", HEADER, unchecked=True) as writer,
        ):
            writer.write_block(block)
    assert not (tmp_path / "y").exists()


def joined() -> Frame:
    """Return an update of a contact who joined Signal, whose enum value has a name in each spelling."""
    frame = Frame()
    frame.chatItem.updateMessage.simpleUpdate.type = SimpleChatUpdate.JOINED_SERVICE
    return frame


def test_json_may_be_spelled_as_signal_does() -> None:
    """JSON is written in the selected spelling of names, and both are read."""
    frame = joined().SerializeToString()
    spellings: dict[Names, bytes] = {"spec": b"JOINED_SERVICE", "signal": b"JOINED_SIGNAL"}
    for names, word in spellings.items():
        for write in (write_lines, write_array):
            out = io.BytesIO()
            with write(out, HEADER, names=names, unchecked=True) as writer:
                writer.write(frame)
            assert word in out.getvalue()
            with backup.open(io.BytesIO(out.getvalue())) as source:
                assert [frame_read.raw for frame_read in source] == [frame]


def test_a_container_is_padded_and_never_the_same_twice(tmp_path: Path) -> None:
    """Two containers of the same content have the same padded size and different bytes."""
    for name in ("a", "b"):
        with write_container(tmp_path / name, HEADER, KEYS):
            pass
    assert (tmp_path / "a").stat().st_size == (tmp_path / "b").stat().st_size == 592
    assert (tmp_path / "a").read_bytes() != (tmp_path / "b").read_bytes()


def test_a_container_needs_whole_keys(tmp_path: Path) -> None:
    """Incomplete keys are an error before a file is created."""
    with pytest.raises(KeyIncomplete, match="the account id"), write_container(tmp_path / "x", HEADER, LOCAL_KEYS):
        pass
    assert not list(tmp_path.iterdir())


def test_a_snapshot_appears_whole_and_opens_with_the_recovery_key(tmp_path: Path) -> None:
    """A snapshot is renamed when it is complete, to the time of the backup, and has all its files."""
    header, *frames = sample()
    names = ["ab" * 32]
    with write_snapshot(tmp_path, header, KEYS, names) as writer:
        (part,) = tmp_path.iterdir()
        assert part.name.endswith("-tmp")
        for frame in frames:
            writer.write(frame)
        names.append("cd" * 32)
    (snapshot,) = tmp_path.iterdir()
    made_ms = BackupInfo.FromString(header).backupTimeMs
    assert snapshot.name == f"signal-backup-{backup.info(tmp_path, LOCAL_KEYS).header.made_at:%Y-%m-%d-%H-%M-%S}"
    assert made_ms > 0
    assert sorted(path.name for path in snapshot.iterdir()) == ["files", "main", "metadata"]
    assert list(SnapshotFolder(snapshot, tmp_path).manifest()) == ["ab" * 32, "cd" * 32]
    assert stat.S_IMODE(snapshot.stat().st_mode) == 0o700
    with backup.open(tmp_path, LOCAL_KEYS) as source:
        assert (source.header, *(frame.raw for frame in source)) == sample()


def test_a_snapshot_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """A failed snapshot leaves no folder behind."""
    with pytest.raises(OrderBroken), write_snapshot(tmp_path, HEADER, KEYS, []) as writer:
        writer.write(b"\x12\x02\x08\x01")
    assert list(tmp_path.iterdir()) == []


def test_a_snapshot_is_never_written_over(tmp_path: Path) -> None:
    """A second snapshot of the same second is refused, and the first is kept."""
    with write_snapshot(tmp_path, HEADER, KEYS, []):
        pass
    before = (next(tmp_path.iterdir()) / "main").read_bytes()
    with pytest.raises(UnwritableBackup, match="exists already"), write_snapshot(tmp_path, HEADER, KEYS, []):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["signal-backup-2023-11-14-22-13-20"]
    assert (next(tmp_path.iterdir()) / "main").read_bytes() == before


def test_what_an_earlier_crash_left_is_no_obstacle(tmp_path: Path) -> None:
    """An unfinished snapshot of an earlier run is replaced."""
    part = tmp_path / "signal-backup-2023-11-14-22-13-20-tmp"
    part.mkdir()
    (part / "main").write_bytes(b"half")
    with write_snapshot(tmp_path, HEADER, KEYS, []):
        pass
    assert all_of(tmp_path) == (HEADER,)


def test_a_snapshot_needs_the_account_id(tmp_path: Path) -> None:
    """Without the account id no snapshot is written, since its metadata needs the backup id."""
    with (
        pytest.raises(KeyIncomplete, match="give the account id"),
        write_snapshot(tmp_path, HEADER, LOCAL_KEYS, []),
    ):
        pass
    with (
        pytest.raises(KeyIncomplete, match="give the recovery key and the account id"),
        write_snapshot(tmp_path, HEADER, backup.KeyMaterial(aci=KEYS.aci), []),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_time_beyond_the_calendar_names_a_snapshot_all_the_same(tmp_path: Path) -> None:
    """A snapshot with an impossible time is named after 1970."""
    header = BackupInfo(version=1, backupTimeMs=(1 << 64) - 1)
    with write_snapshot(tmp_path, header, KEYS, []):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["signal-backup-1970-01-01-00-00-00"]


@pytest.mark.parametrize("form", FILES)
def test_a_place_that_cannot_be_written_is_said(form: str, tmp_path: Path) -> None:
    """A missing parent folder and a file in place of a folder are errors."""
    (tmp_path / "file").touch()
    for target in (tmp_path / "none" / "x", tmp_path / "file" / "x"):
        with pytest.raises(UnwritableBackup, match="cannot be written"), FILES[form](target, HEADER):
            pass
    with (
        pytest.raises(UnwritableBackup, match="cannot be written"),
        write_snapshot(tmp_path / "file" / "x", HEADER, KEYS, []),
    ):
        pass


def test_lengths_are_varints() -> None:
    """The length of a long frame is a varint of two bytes."""
    out = io.BytesIO()
    with write_stream(out, HEADER, unchecked=True) as writer:
        writer.write(b"\x4a" + record(bytes(300)))
    assert out.getvalue().endswith(b"\xaf\x02\x4a\xac\x02" + bytes(300))
