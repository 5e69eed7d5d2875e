"""Hostile input is read or rejected with a typed error: no crash, no hang, no unbounded memory."""

import gzip
import hashlib
import io
import json
import os
import random
import resource
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import BackupError, GunzipLimits, StreamLimits
from holdfast.backup.container.cipher import encrypt
from holdfast.backup.conversion import OutputFormat, convert
from holdfast.backup.errors import DamagedBackup, OversizedBackup
from holdfast.backup.media import attachment_of, extract
from holdfast.backup.schema.backup_pb2 import AccountData, ChatItem, Frame
from holdfast.backup.wire.varint import encode_varint
from tests.backup.streams import (
    HEADER,
    KEYS,
    MODERN_KEYS,
    empty_frame,
    file_forms,
    folder_of,
    lines_of,
    record,
    small_sample,
    stream_of,
)

FORMS = dict(file_forms(small_sample()))
# JSON5 is read by a slow parser, and is tried less often.
FLIPS = {name: {"json5": 10, "array": 50}.get(name, 300) for name in FORMS}


class Nowhere(io.RawIOBase):
    """A stream that discards everything written to it."""

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: object, /) -> int:
        """Discard the data."""
        return len(data)  # type: ignore[arg-type]  # any buffer has a length


def read_everything(source: Path | bytes, limits: StreamLimits | None = None) -> int:
    """Read, summarize and convert a backup, and count its frames."""
    opened = source if isinstance(source, Path) else io.BytesIO(source)
    with backup.open(opened, MODERN_KEYS, limits=limits, gunzip_limits=GunzipLimits(output=64 << 20)) as reader:
        count = sum(block.count for block in reader.blocks())
        for frame in reader:
            _ = frame.kind
        summary = backup.info(reader)
        assert summary.frames == count
        assert summary.empty_frames >= 0
        result = convert(reader, Nowhere(), to=OutputFormat.JSONL)  # type: ignore[arg-type]  # it is only written to
        assert result.frames == count
        return count


def refused(source: Path | bytes, limits: StreamLimits | None = None) -> BackupError | None:
    """Read everything; return the refusal, if it is one. Any other exception is a failure of the test."""
    try:
        read_everything(source, limits)
    except BackupError as error:
        message = str(error)
        assert message.isprintable()
        assert len(message) < 500
        return error
    return None


def flips(data: bytes, count: int) -> Iterator[bytes]:
    """Flip a few random bits."""
    rng = random.Random(7)
    for _ in range(count):
        broken = bytearray(data)
        broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        yield bytes(broken)


@pytest.mark.parametrize("name", FORMS)
def test_a_file_may_be_cut_anywhere(name: str) -> None:
    """A truncated file is an error, unless a stream or lines are cut between two records."""
    data = FORMS[name]
    expected = read_everything(data)
    step = {"json5": 611, "zip": 3, "array": 611, "lines": 7}.get(name, 1)
    ends = set(range(0, len(data), step))
    if name == "lines":
        # Between two lines, and just beside, everything is tried.
        ends |= {
            near
            for end, byte in enumerate(data)
            if byte == ord("\n")
            for near in range(end - 2, min(end + 3, len(data)))
        }
    for end in sorted(ends):
        error = refused(data[:end])
        if name in {"legacy container", "modern container", "zip", "gzip"}:
            assert error is not None, end
        if error is None:
            assert name in {"stream", "lines"} or read_everything(data[:end]) == expected, end
        elif isinstance(error, DamagedBackup) and name == "stream":
            assert error.frame is not None
            assert error.offset <= end


@pytest.mark.parametrize("name", FORMS)
def test_any_bit_may_be_flipped(name: str) -> None:
    """No flipped bit causes an unexpected exception, and in the ciphertext it is always an error."""
    for broken in flips(FORMS[name], FLIPS[name]):
        error = refused(broken)
        if name == "legacy container":
            assert error is not None
        if name == "modern container" and error is None:
            # What precedes the ciphertext is not authenticated, and holds what only a server could use.
            assert read_everything(broken) == len(small_sample()) - 1


def test_a_folder_may_be_damaged_anywhere(tmp_path: Path) -> None:
    """Truncated, changed and missing files of a folder cause no unexpected exception."""
    snapshot = folder_of(small_sample(), tmp_path)
    for name in ("main", "metadata", "files"):
        file = snapshot / name
        data = file.read_bytes()
        for broken in (b"", data[:1], data[:-1], data + b"x", *flips(data, 20)):
            file.write_bytes(broken)
            refused(snapshot)
        file.unlink()
        file.mkdir()
        refused(snapshot)
        file.rmdir()
        refused(snapshot)
        file.write_bytes(data)
    assert refused(snapshot) is None


LENGTHS = [1 << 31, (1 << 31) - 1, 1 << 28, 1 << 32, (1 << 63) - 1, (1 << 64) - 1]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_claimed_length_is_never_allocated(length: int) -> None:
    """A huge length of the header, a frame or a field is an error with its place, and is not allocated."""
    start = record(HEADER) + empty_frame(1)
    inside = b"\x22" + encode_varint(length) + b"abc"
    tracemalloc.start()
    try:
        errors = [refused(start + encode_varint(length) + b"abc"), refused(start + record(inside))]
        assert refused(encode_varint(length) + HEADER) is not None
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    for error in errors:
        assert isinstance(error, DamagedBackup)
        assert error.frame == 2
        assert len(start) <= error.offset <= len(start) + 12
        assert "(frame 2, byte " in str(error)
    assert peak < 8 << 20


@pytest.mark.parametrize("name", ["gzip", "legacy container"])
def test_a_claimed_length_is_not_allocated_in_a_wrapping_either(name: str) -> None:
    """A huge length inside compressed or encrypted data is an error that names the frame."""
    records = b"".join(map(record, small_sample())) + encode_varint(200 << 20)
    data = gzip.compress(records) if name == "gzip" else sealed(gzip.compress(records))
    error = refused(data)
    assert isinstance(error, DamagedBackup)
    assert error.frame == len(small_sample())


def sealed(content: bytes) -> bytes:
    """Encrypt compressed content as it is."""
    out = io.BytesIO()
    with encrypt(out, KEYS.message_keys(modern=False)) as sealer:
        sealer.write(content)
    return out.getvalue()


@pytest.mark.parametrize("endless", [b"\x80" * 11, b"\xff" * 100_000])
def test_a_number_that_never_ends_is_refused(endless: bytes) -> None:
    """A varint over ten bytes is an error as a length, as a tag and as a value."""
    start = record(HEADER) + empty_frame(1)
    for data in (start + endless, start + record(endless), start + record(b"\x22" + record(b"\x08" + endless))):
        error = refused(data)
        assert isinstance(error, DamagedBackup)
        assert error.frame == 2
    assert refused(endless) is not None


def deep_messages(levels: int) -> bytes:
    """Put a message into a message."""
    raw = b""
    for _ in range(levels):
        raw = b"\x32" + record(raw)
    return b"\x22" + record(raw)


@pytest.mark.parametrize(
    "raw",
    [deep_messages(10_000), b"\x53" * 10_000 + b"\x54" * 10_000, b"\x22" + record(b"\x53" * 10_000)],
    ids=["messages", "groups", "groups in a message"],
)
def test_nesting_is_bounded(raw: bytes) -> None:
    """Deeply nested messages are an error with the frame."""
    error = refused(record(HEADER) + empty_frame(1) + record(raw))
    assert isinstance(error, DamagedBackup)
    assert (error.frame, "nested too deep" in str(error)) == (2, True)


@pytest.mark.parametrize("form", ["lines", "array", "json5"])
def test_nesting_of_json_is_bounded(form: str) -> None:
    """Deeply nested JSON is an error and does not exhaust the stack."""
    header, *_ = lines_of(small_sample()).splitlines()
    for deep in (b'{"a":' * 10_000, b"[" * 10_000, b'{"chatItem":' + b'{"revisions":[' * 500 + b"]}" * 500 + b"}"):
        bare = deep.replace(b'"', b"") if form == "json5" else deep
        data = header + b"\n" + bare if form == "lines" else b"[" + header + b",\n" + bare + b"]"
        assert refused(data) is not None


@pytest.mark.parametrize("wrapping", ["gzip", "container", "zip"])
def test_a_bomb_is_stopped_early(wrapping: str) -> None:
    """A small file that opens to a thousand times its size is read no further than the limits say."""
    plain = record(HEADER) + bytes(64 << 20)
    packed = gzip.compress(plain, 9)
    assert len(packed) < 70_000
    data = {"gzip": packed, "container": sealed(packed)}.get(wrapping) or zipped(
        b'{"version":"1","backupTimeMs":"5"}\n' + b" " * (64 << 20)
    )
    tracemalloc.start()
    try:
        for limits in (GunzipLimits(output=4 << 20), GunzipLimits(ratio=100, ratio_after=1 << 20)):
            with (
                pytest.raises(OversizedBackup, match=r"opens to|frames of less than"),
                backup.open(io.BytesIO(data), KEYS, gunzip_limits=limits) as opened,
            ):
                for _block in opened.blocks():
                    pass
        _now, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20


def zipped(lines: bytes, **more: bytes) -> bytes:
    """Make an export in a ZIP."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("main.jsonl", lines)
        for name, content in more.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_paths_in_a_zip_lead_nowhere(tmp_path: Path) -> None:
    """Paths and symlinks in a ZIP are not followed, and nothing is written outside the target.

    The symlink stands for an attachment of a message and leads to a file with the content of that attachment.
    """
    secret = tmp_path / "secret"
    secret.write_bytes(b"secret")
    frame = Frame()
    locator = frame.chatItem.standardMessage.attachments.add().pointer.locatorInfo
    locator.plaintextHash, locator.localKey, locator.size = hashlib.sha256(b"secret").digest(), b"k" * 64, 6
    attachment = attachment_of(locator)
    assert attachment is not None
    link = zipfile.ZipInfo(f"files/{attachment.name[:2]}/{attachment.name}")
    link.external_attr = 0o120777 << 16
    records = [*small_sample(), frame.SerializeToString()]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("../../outside/main.jsonl", lines_of(records))
        archive.writestr("/etc/main.jsonl.bak", b"x")
        archive.writestr(link, str(secret))
    (tmp_path / "x.zip").write_bytes(out.getvalue())
    with backup.open(tmp_path / "x.zip") as source:
        assert [frame.raw for frame in source] == records[1:]
        results = {item.media_name: item.problem for item in extract(source, tmp_path / "out")}
    assert "is not the content" in results[attachment.name]
    assert all(results.values())
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == [secret, tmp_path / "x.zip"]


def test_links_in_a_folder_are_not_followed_out_of_it(tmp_path: Path) -> None:
    """Symlinks to a file, a folder, a device, themselves or nowhere are refused or skipped."""
    snapshot = folder_of(small_sample(), tmp_path)
    for name in ("main", "metadata"):
        moved = (snapshot / name).rename(tmp_path / "kept")
        for target in (moved, Path("/dev/zero"), snapshot / name, tmp_path, Path("/nowhere")):
            (snapshot / name).symlink_to(target)
            assert refused(snapshot.parent) is not None or name == "metadata"
            (snapshot / name).unlink()
        moved.rename(snapshot / name)
    assert refused(snapshot) is None


def test_a_pipe_in_a_folder_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe in place of a file of a folder does not block reading."""
    snapshot = folder_of(small_sample(), tmp_path)
    for name in ("main", "metadata", "files"):
        moved = (snapshot / name).rename(tmp_path / "kept")
        os.mkfifo(snapshot / name)
        refused(snapshot)
        (snapshot / name).unlink()
        moved.rename(snapshot / name)


def test_text_that_is_not_utf8_is_located() -> None:
    """Invalid UTF-8 has an error with frame and byte, or with the line in JSON."""
    raw = Frame(account=AccountData(givenName="Anna")).SerializeToString().replace(b"Anna", b"An\xffa")
    error = refused(record(HEADER) + record(raw))
    assert isinstance(error, DamagedBackup)
    assert error.frame == 1
    assert "not UTF-8 (frame 1, byte " in str(error)
    lines = lines_of([HEADER, Frame(account=AccountData(givenName="Anna")).SerializeToString()])
    error = refused(lines.replace(b"Anna", b"An\xffa"))
    assert isinstance(error, DamagedBackup)
    assert str(error) == "the line is not UTF-8 (line 2 of the file)"


def test_numbers_packed_or_not_are_read_alike() -> None:
    """Packed and unpacked lists are read, and converted to JSON and back without change."""
    packed, unpacked = b"\x3a\x05\x3a\x03\x01\x02\x03", b"\x3a\x06\x38\x01\x38\x02\x38\x03"
    assert Frame.FromString(packed) == Frame.FromString(unpacked)
    for raw in (packed, unpacked):
        data = stream_of([HEADER, raw])
        assert read_everything(data) == 1
        with backup.open(io.BytesIO(lines_of([HEADER, raw]))) as source:
            assert [frame.raw for frame in source] == [raw]


def test_a_record_of_no_length_is_an_empty_frame() -> None:
    """A record of length 0 is an empty frame and does not end the stream."""
    data = record(HEADER) + b"\x00" + empty_frame(1) + b"\x00\x00"
    assert read_everything(data) == 4
    assert backup.info(io.BytesIO(data)).empty_frames == 3


@pytest.mark.parametrize("rest", [b"x", bytes(1000), b"\x1f\x8b\x08", gzip.compress(b"more", mtime=0)])
def test_bytes_after_the_gzip_member_are_ignored(rest: bytes) -> None:
    """Bytes after the gzip member are ignored, since containers are padded there."""
    assert read_everything(gzip.compress(stream_of(small_sample())) + rest) == len(small_sample()) - 1
    assert read_everything(sealed(gzip.compress(stream_of(small_sample())) + rest)) == len(small_sample()) - 1


def test_caps_are_settings() -> None:
    """With a low limit of the size of a frame, a file that could be read is refused for that reason."""
    for name, data in FORMS.items():
        assert refused(data, StreamLimits()) is None, name
        error = refused(data, StreamLimits(frame_bytes=60))
        assert "longer than is allowed" in str(error), name


def test_a_backup_of_many_small_frames_is_read_in_flat_memory() -> None:
    """Six times as many frames need at most 1.2 times the memory."""
    item = record(Frame(chatItem=ChatItem(chatId=1, dateSent=1_700_000_000_000)).SerializeToString())
    peaks = []
    for count in (400_000, 2_400_000):
        data = record(HEADER) + item * count
        tracemalloc.start()
        try:
            with backup.open(io.BytesIO(data)) as source:
                assert sum(block.count for block in source.blocks()) == count
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


HOSTILE_FILES: dict[str, Callable[[], bytes]] = {
    "length": lambda: record(HEADER) + encode_varint(1 << 31),
    "varint": lambda: record(HEADER) + b"\xff" * 1000,
    "deep": lambda: record(HEADER) + record(deep_messages(10_000)),
    "deep json": lambda: b'{"version":"1"}\n' + b'{"a":' * 100_000,
    "deep json5": lambda: b"[{version:1}," + b"[" * 100_000,
    "zeros": lambda: bytes(1 << 20),
    "noise": lambda: random.Random(1).randbytes(1 << 20),
    "magic": lambda: b"SBACKUP\x01" + b"\xff" * 100,
    "zip": lambda: b"PK\x05\x06" + b"\xff" * 18,
    "empty": lambda: b"",
    "gzip": lambda: b"\x1f\x8b\x08" + b"\xff" * 1000,
}


@pytest.mark.parametrize("command", ["info", "convert"])
def test_the_command_line_survives_all_of_it_within_bounds(command: str, tmp_path: Path) -> None:
    """Each hostile file has one line of error and exit status 2 or 3, within limits of time and memory."""
    for name, make in HOSTILE_FILES.items():
        (tmp_path / f"{name}.x").write_bytes(make())
    script = "\n".join(
        [
            "import sys, json",
            "from holdfast.cli import main",
            "for word in json.loads(sys.argv[1]):",
            f"    print(main(['backup', '{command}', word, *sys.argv[2:]]), flush=True)",
        ]
    )
    arguments = [str(tmp_path / f"{name}.x") for name in HOSTILE_FILES]
    more = [str(tmp_path / "out.jsonl")] if command == "convert" else []
    completed = subprocess.run(
        [sys.executable, "-c", script, json.dumps(arguments), *more],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)),
        stdin=subprocess.DEVNULL,
    )
    assert completed.returncode == 0, completed.stderr
    statuses = dict(zip(HOSTILE_FILES, map(int, completed.stdout.split()), strict=True))
    assert set(statuses.values()) <= {2, 3}, statuses
    assert "Traceback" not in completed.stderr
    assert completed.stderr.count("\n") == len(HOSTILE_FILES)
    assert all(line.startswith("error: ") for line in completed.stderr.splitlines())
