"""Opening backups: every format is detected by its content and gives the same records."""

import gzip
import io
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from holdfast import backup
from holdfast.backup import Form, GunzipLimits, KeyMaterial, StreamLimits, archives
from holdfast.backup.container.keys import EntropyPool
from holdfast.backup.conversion import OutputFormat, convert
from holdfast.backup.errors import (
    BackupError,
    DamagedBackup,
    KeyIncomplete,
    OversizedBackup,
    UnreadableBackup,
    WrongKey,
)
from tests.backup.container.vectors import SET_A, SET_B
from tests.backup.streams import (
    HEADER,
    KEY_FILE,
    KEYS,
    LOCAL_KEYS,
    MODERN_KEYS,
    all_of,
    container_of,
    file_forms,
    folder_of,
    lines_of,
    piped,
    record,
    small_sample,
    stream_of,
)

RECORDS = small_sample()
FILES = dict(file_forms(RECORDS))
FORMS = {
    "stream": Form.STREAM,
    "gzip": Form.GZIP,
    "legacy container": Form.CONTAINER,
    "modern container": Form.CONTAINER,
    "lines": Form.LINES,
    "zip": Form.EXPORT,
    "array": Form.ARRAY,
    "json5": Form.ARRAY,
}
STRANGER = KeyMaterial(pool=EntropyPool.parse(SET_A.pool), aci=SET_A.aci, token=MODERN_KEYS.token)


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_known_by_its_content(name: str, tmp_path: Path) -> None:
    """The format is recognised by the content, whatever the name of the file."""
    for misleading in ("backup.binproto", "photo.jpg", "main.jsonl", "x.zip", "noextension"):
        file = tmp_path / misleading
        file.write_bytes(FILES[name])
        with backup.open(file, MODERN_KEYS) as source:
            assert source.form is FORMS[name]
            assert all_of(source) == RECORDS


@pytest.mark.parametrize("name", FILES)
def test_an_open_file_is_read_too(name: str) -> None:
    """A file object is read, and is not closed with the backup."""
    source = io.BytesIO(FILES[name])
    with backup.open(source, MODERN_KEYS) as reader:
        assert all_of(reader) == RECORDS
    assert not source.closed


@pytest.mark.parametrize("step", [1, 7, 1 << 16])
@pytest.mark.parametrize("name", FILES)
def test_a_pipe_gives_the_same(name: str, step: int) -> None:
    """Every format that is a single file is read from a pipe, in pieces of any size."""
    data = FILES[name]
    if step == 1:
        data, rest = data[:200], data[200:]
        with piped_in_two(data, rest) as source, backup.open(source, MODERN_KEYS) as reader:
            assert all_of(reader) == RECORDS
        return
    with piped(data, max(step, len(data) // 2000)) as source, backup.open(source, MODERN_KEYS) as reader:
        assert reader.form is FORMS[name]
        assert all_of(reader) == RECORDS


@contextmanager
def piped_in_two(slowly: bytes, rest: bytes) -> Iterator[BinaryIO]:
    """Write the first bytes into a pipe one by one."""
    reading, writing = os.pipe()

    def feed() -> None:
        with os.fdopen(writing, "wb", buffering=0) as target:
            for byte in slowly:
                target.write(bytes([byte]))
            for start in range(0, len(rest), 1 << 15):
                target.write(rest[start : start + (1 << 15)])

    thread = threading.Thread(target=feed)
    thread.start()
    with os.fdopen(reading, "rb") as source:
        yield source
    thread.join()


@pytest.mark.parametrize("name", FILES)
def test_a_backup_can_be_read_again(name: str, tmp_path: Path) -> None:
    """Each iteration begins at the first frame, and `size` is that of the plain stream."""
    file = tmp_path / "x"
    file.write_bytes(FILES[name])
    with backup.open(file, MODERN_KEYS) as source:
        assert all_of(source) == all_of(source) == RECORDS
        assert source.size == len(FILES["stream"])
        indexes = [frame.index for frame in source]
    assert indexes == list(range(1, len(RECORDS)))


def test_what_comes_through_a_pipe_is_read_once() -> None:
    """A stream from a pipe can be read once, and a container, which is copied to disk, again."""
    with piped(FILES["stream"]) as source, backup.open(source) as reader:
        list(reader)
        with pytest.raises(UnreadableBackup, match="can be read only once"):
            list(reader)
    with piped(FILES["legacy container"]) as source, backup.open(source, KEYS) as reader:
        assert all_of(reader) == all_of(reader)


def test_a_second_reading_ends_the_first(tmp_path: Path) -> None:
    """A second iteration makes the first one raise an error, since both share one file."""
    file = tmp_path / "x"
    file.write_bytes(stream_of([HEADER, *[b"\x22" + record(bytes(1000))] * 3000]))
    with backup.open(file) as source:
        first = source.blocks()
        next(first)
        assert len(list(source)) == 3000
        with pytest.raises(UnreadableBackup, match="is being read again"):
            list(first)


@pytest.fixture
def snapshot(tmp_path: Path) -> Path:
    """Make a phone's folder and return its snapshot."""
    return folder_of(RECORDS, tmp_path / "Download")


@pytest.mark.parametrize("rename", [False, True])
def test_a_phones_folder_opens_from_wherever_one_points_at_it(snapshot: Path, *, rename: bool) -> None:
    """A folder opens by its parent, itself under any name, a snapshot or the main file."""
    folder = snapshot.parent
    if rename:
        folder = folder.rename(folder.with_name("copied from my phone"))
    inner = folder / snapshot.name
    for path in (folder.parent, folder, inner):
        with backup.open(path, LOCAL_KEYS) as source:
            assert source.form is Form.FOLDER
            assert source.media is not None
            assert source.snapshot is not None
            assert source.snapshot.path.name == snapshot.name
            assert all_of(source) == all_of(source) == RECORDS
    with backup.open(inner / "main", LOCAL_KEYS) as source:
        assert source.form is Form.CONTAINER
        assert all_of(source) == RECORDS


def test_the_newest_snapshot_is_taken(snapshot: Path) -> None:
    """The newest finished snapshot of a folder is opened."""
    for name in ("signal-backup-2001-01-01-00-00-00", "signal-backup-2999-01-01-00-00-00-tmp"):
        (snapshot.parent / name).mkdir()
        for file in ("main", "metadata"):
            (snapshot.parent / name / file).write_bytes((snapshot / file).read_bytes())
    with backup.open(snapshot.parent, LOCAL_KEYS) as source:
        assert source.name == str(snapshot)


@pytest.mark.parametrize("damage", ["missing", "damaged"])
def test_a_lost_metadata_file_is_made_up_for_by_the_account_id(snapshot: Path, damage: str) -> None:
    """Without valid metadata the account id is needed too, and all records are read."""
    if damage == "missing":
        (snapshot / "metadata").unlink()
    else:
        (snapshot / "metadata").write_bytes(b"\xff\xff")
    with pytest.raises(BackupError, match=r"metadata.*give the account id beside the recovery key"):
        backup.open(snapshot, LOCAL_KEYS)
    with backup.open(snapshot, KEYS) as source:
        assert all_of(source) == RECORDS


def test_an_export_opens_as_folder_and_from_the_one_around_it(tmp_path: Path) -> None:
    """An export is opened with its media from its folder and from the parent folder."""
    folder = tmp_path / "signal-export-2026-01-31-10-00-00"
    folder.mkdir()
    (folder / "main.jsonl").write_bytes(FILES["lines"])
    for path in (folder, tmp_path):
        with backup.open(path) as source:
            assert source.form is Form.EXPORT
            assert source.media is not None
            assert all_of(source) == all_of(source) == RECORDS
    with backup.open(folder / "main.jsonl") as source:
        assert source.form is Form.LINES


@pytest.mark.parametrize(
    ("name", "form"), [("lines", Form.GZIP_LINES), ("array", Form.GZIP_ARRAY), ("json5", Form.GZIP_ARRAY)]
)
def test_gzipped_json_is_read_as_what_is_in_it(name: str, form: Form) -> None:
    """Compressed JSON is read and has its own format name."""
    with backup.open(io.BytesIO(gzip.compress(FILES[name]))) as source:
        assert source.form is form
        assert form.value.startswith("gzipped JSON")
        assert all_of(source) == all_of(source) == RECORDS


def test_bytes_after_the_compressed_stream_are_not_looked_at() -> None:
    """Bytes after the gzip member are ignored, since containers are padded there."""
    for rest in (bytes(100), b"whatever"):
        with backup.open(io.BytesIO(FILES["gzip"] + rest)) as source:
            assert all_of(source) == RECORDS


@pytest.mark.parametrize(
    ("content", "pattern"),
    [
        (b"", "empty"),
        (
            b"# A text\n\nwith some lines, long enough to hold a record of 35 bytes.\n",
            "not a chat backup.*looked for",
        ),
        (b"Dear diary,\n" + b"0123456789abcdef" * 40 + b"\n   ", "not a chat backup"),
        (b"\x89PNG\r\n\x1a\n" + bytes(41), "not a chat backup"),
        (gzip.compress(b"just some text, nothing else", mtime=0), "not a chat backup"),
        (gzip.compress(b"", mtime=0), "empty"),
        (b'{"name": "x"}', "not a field the format has"),
        (b'{"version": "1"', "not well-formed JSON"),
        (b"[1, 2, 3]", "not a chat backup"),
        (b"[{}, 2]", "not the header"),
        (b"[]", "no record"),
        (b"PK\x03\x04 but no more", "ZIP"),
        (record(b"\x78\x01"), "not a chat backup"),
    ],
)
def test_what_is_no_backup_is_said_not_to_be_one(content: bytes, pattern: str) -> None:
    """A file or pipe that is no backup has an error that says why, without asking for a key."""
    with pytest.raises(BackupError, match=pattern):
        backup.open(io.BytesIO(content))
    with piped(content) as source, pytest.raises(BackupError, match=pattern):
        backup.open(source)


def test_a_missing_file_a_folder_and_a_device_are_told_apart(tmp_path: Path) -> None:
    """A missing file, a folder, a device, a loop of links and an invalid name have errors of their own."""
    circle = tmp_path / "circle"
    circle.symlink_to(circle)
    for path, pattern in {
        tmp_path / "none": "cannot be read: No such file",
        tmp_path / "none" / "below": "cannot be read: No such file",
        tmp_path: "is a folder, but no backup was found in it; looked for",
        Path("/dev/null"): "is empty",
        circle: "cannot be read: Too many levels of symbolic links",
        tmp_path / ("x" * 300): "cannot be read: File name too long",
        Path("a\0b"): "no file can have this name",
    }.items():
        with pytest.raises(UnreadableBackup, match=pattern):
            backup.open(path)


def test_a_link_to_a_backup_is_followed(tmp_path: Path) -> None:
    """A symlink to a backup is opened."""
    (tmp_path / "real").write_bytes(FILES["stream"])
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with backup.open(tmp_path / "link") as source:
        assert all_of(source) == RECORDS


def test_links_that_lead_out_of_a_folder_are_not_followed(tmp_path: Path, snapshot: Path) -> None:
    """Symlinks from inside a backup folder to files outside of it are refused."""
    outside = tmp_path / "outside"
    outside.write_bytes((snapshot / "main").read_bytes())
    (snapshot / "main").unlink()
    (snapshot / "main").symlink_to(outside)
    with pytest.raises(UnreadableBackup, match="leads out of"):
        backup.open(snapshot.parent, LOCAL_KEYS)
    export = tmp_path / "signal-export"
    export.mkdir()
    (export / "main.jsonl").symlink_to(outside)
    with pytest.raises(UnreadableBackup, match="leads out of"):
        backup.open(export)


@pytest.mark.parametrize("modern", [False, True])
def test_no_key_a_wrong_key_and_damage_are_told_apart(*, modern: bool) -> None:
    """A missing key, a wrong key and a damaged file have errors of their own."""
    data = FILES["modern container" if modern else "legacy container"]
    with pytest.raises(KeyIncomplete, match="it needs the recovery key") as caught:
        backup.open(io.BytesIO(data))
    assert "the account id" in caught.value.missing
    assert ("the forward-secrecy token" in caught.value.missing) is modern
    with pytest.raises(WrongKey, match="does not fit"):
        backup.open(io.BytesIO(data), STRANGER)
    damaged = bytearray(data)
    damaged[-100] ^= 1
    with pytest.raises(DamagedBackup, match="the key fits, but the file was changed"):
        backup.open(io.BytesIO(damaged), MODERN_KEYS)
    with pytest.raises(DamagedBackup, match="the key fits, but the file was changed"):
        backup.open(io.BytesIO(data[:-16]), MODERN_KEYS)


def test_a_folder_tells_a_wrong_key_from_damage(snapshot: Path) -> None:
    """A folder distinguishes a missing key, a wrong key and damage with the recovery key alone."""
    with pytest.raises(KeyIncomplete, match="a local backup: it needs the recovery key"):
        backup.open(snapshot)
    with pytest.raises(WrongKey):
        backup.open(snapshot, KeyMaterial(pool=STRANGER.pool))
    main = snapshot / "main"
    main.write_bytes(main.read_bytes()[:-7])
    with pytest.raises(DamagedBackup, match="cut off"):
        backup.open(snapshot, LOCAL_KEYS)


def test_keys_may_be_given_as_text() -> None:
    """Keys are accepted as text in the format of a key file."""
    with backup.open(io.BytesIO(FILES["modern container"]), KEY_FILE) as source:
        assert all_of(source) == RECORDS
    raw = f"hmac-key = {SET_B.legacy[0]}; aes-key = {SET_B.legacy[1]}"
    with backup.open(io.BytesIO(FILES["legacy container"]), raw) as source:
        assert all_of(source) == RECORDS


@pytest.mark.parametrize("name", ["stream", "gzip", "lines", "zip", "array", "json5"])
def test_a_plain_file_needs_no_key_and_does_not_mind_one(name: str) -> None:
    """A plain backup is read without a key, and also with a wrong one."""
    for key in (None, STRANGER):
        with backup.open(io.BytesIO(FILES[name]), key) as source:
            assert all_of(source) == RECORDS


@pytest.mark.parametrize("name", ["stream", "gzip", "legacy container", "lines", "array", "json5"])
def test_the_limit_of_a_frame_is_honoured(name: str) -> None:
    """A frame over the limit is an error in every format, and one below it is read."""
    longest = max(map(len, lines_of(RECORDS).splitlines(keepends=True) if name == "lines" else RECORDS))
    with (
        pytest.raises(DamagedBackup, match="longer than is allowed"),
        backup.open(io.BytesIO(FILES[name]), KEYS, limits=StreamLimits(frame_bytes=longest - 1)) as opened,
    ):
        list(opened)
    with backup.open(io.BytesIO(FILES[name]), KEYS, limits=StreamLimits(frame_bytes=longest)) as opened:
        assert all_of(opened) == RECORDS


BOMBS = {"empty frames": b"\x00", "empty records": b"\x02\x0a\x00"}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_of_tiny_frames_is_refused_by_everybody_who_reads_it(bomb: str, tmp_path: Path) -> None:
    """A small file with millions of frames is refused by every function that reads it."""
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as target:
        target.write(record(HEADER))
        for _ in range(64):
            target.write(BOMBS[bomb] * (1 << 20))

    def take_in() -> None:
        with archives.open(tmp_path / "a.archive", create=True) as source, backup.open(path) as reader:
            source.add(reader)

    def turn() -> None:
        with backup.open(path) as reader:
            convert(reader, tmp_path / "out.binproto", to=OutputFormat.STREAM)

    readers: list[Callable[[], object]] = [
        lambda: backup.info(path),
        lambda: list(backup.validate(path)),
        lambda: list(backup.validate(path, profile="import")),
        lambda: backup.check_completeness(path),
        turn,
        take_in,
    ]
    for read in readers:
        with pytest.raises(OversizedBackup, match="frames of less than 8 bytes"):
            read()


def test_the_number_of_frames_is_limited_and_the_limit_can_be_raised() -> None:
    """The default limit is twenty million frames; a caller can set another."""
    assert StreamLimits().frames == 20_000_000
    StreamLimits().hold(20_000_000, 20_000_000 * 30)
    StreamLimits().hold(100_000, 0)
    with pytest.raises(OversizedBackup, match="more than the 20,000,000 frames"):
        StreamLimits().hold(20_000_001, 20_000_001 * 30)
    with pytest.raises(OversizedBackup, match="less than 8 bytes"):
        StreamLimits().hold(100_001, 8 * 100_001 - 1)
    data = stream_of(RECORDS)
    with pytest.raises(OversizedBackup), backup.open(io.BytesIO(data), limits=StreamLimits(frames=3)) as opened:
        list(opened)
    with (
        pytest.raises(OversizedBackup),
        backup.open(io.BytesIO(FILES["lines"]), limits=StreamLimits(frames=3)) as opened,
    ):
        list(opened)
    with backup.open(io.BytesIO(data), limits=StreamLimits(frames=len(RECORDS) - 1)) as opened:
        assert all_of(opened) == RECORDS


@pytest.mark.parametrize("name", ["gzip", "legacy container", "modern container", "zip"])
def test_the_limit_of_what_is_compressed_is_honoured(name: str) -> None:
    """Compressed data over the limit of its decompressed size is an error in every format."""
    with (
        pytest.raises(OversizedBackup, match="opens to more than"),
        backup.open(io.BytesIO(FILES[name]), MODERN_KEYS, gunzip_limits=GunzipLimits(output=1000)) as opened,
    ):
        list(opened)


@pytest.mark.parametrize("name", ["stream", "gzip", "legacy container"])
def test_progress_is_told(name: str) -> None:
    """Progress counts the bytes of the plain stream, also for a compressed or encrypted file."""
    seen: list[int] = []
    with backup.open(io.BytesIO(FILES[name]), KEYS, progress=seen.append) as source:
        list(source)
    assert seen[-1] == len(FILES["stream"])


def test_an_edited_record_is_told() -> None:
    """`on_edited` gets the line of a record whose fields differ from its `@raw` bytes."""
    split_record = b"\x12\x02\x08\x05\x12\x00"  # a recipient written in two pieces
    header, frame_line = lines_of([HEADER, split_record]).splitlines()
    assert b'"@raw"' in frame_line
    edited: list[int] = []
    for line, expected in ((frame_line, []), (frame_line.replace(b'"5"', b'"6"'), [2])):
        with backup.open(io.BytesIO(header + b"\n" + line), on_edited=edited.append) as source:
            (frame,) = source
        assert edited == expected
        assert (frame.raw == split_record) is (not expected)


class Failing(io.BytesIO):
    """A file that raises an error after a number of reads."""

    def __init__(self, data: bytes, reads: int) -> None:
        super().__init__(data)
        self.reads = reads

    def read(self, size: int | None = -1, /) -> bytes:
        """Read, or fail."""
        self.use()
        return super().read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        """Read a line, or fail."""
        self.use()
        return super().readline(size)

    def use(self) -> None:
        """Count a use, and raise an error after the last allowed one."""
        self.reads -= 1
        if self.reads < 0:
            raise OSError(5, "Input/output error")


@pytest.mark.parametrize("reads", range(4))
@pytest.mark.parametrize("name", FILES)
def test_a_failing_disk_is_said_to_fail(name: str, reads: int) -> None:
    """An I/O error at any read is raised as a backup error."""
    data = FILES[name]
    if name == "stream":
        data += record(b"\x22\x0a" + b"\x08\x01" * 5) * 350_000
    with (
        pytest.raises(BackupError, match=r"cannot be read|cannot be opened|is damaged"),
        backup.open(Failing(data, reads), MODERN_KEYS) as opened,
    ):
        list(opened.blocks())
        list(opened.blocks())
        list(opened.blocks())


def open_files() -> set[str]:
    """List the open files of this process."""
    return {path.name for path in Path("/proc/self/fd").iterdir()}


def fails(work: Callable[[], object]) -> bool:
    """Return whether a call raises a `BackupError`."""
    try:
        work()
    except BackupError:
        return True
    return False


def test_nothing_stays_open_when_opening_fails(tmp_path: Path) -> None:
    """No file stays open after opening a truncated file or using a wrong key."""
    before = open_files()
    for name, data in FILES.items():
        file = tmp_path / name
        file.write_bytes(data[: len(data) // 3])
        fails(lambda file=file: backup.open(file, STRANGER).close())  # type: ignore[misc]  # mypy does not infer a lambda with a default value
    snapshot = folder_of(RECORDS, tmp_path)
    assert fails(lambda: backup.open(snapshot, STRANGER))
    assert open_files() == before


def test_closing_closes_the_file(tmp_path: Path) -> None:
    """The file is closed at the end of the `with` block, also if it was not read to its end."""
    file = tmp_path / "x"
    file.write_bytes(container_of(RECORDS))
    before = open_files()
    with backup.open(file, KEYS) as source:
        next(iter(source))
        assert open_files() != before
    assert open_files() == before
