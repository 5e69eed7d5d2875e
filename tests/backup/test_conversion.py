"""Conversion between all formats round-trips byte for byte."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import backup
from holdfast.backup import Backup, BackupError, KeyMaterial
from holdfast.backup.container.folder import find_snapshots
from holdfast.backup.container.keys import EntropyPool
from holdfast.backup.conversion import Conversion, OutputFormat, convert, form_of
from holdfast.backup.errors import DamagedBackup, KeyIncomplete, KeyRefused, TargetRefused, UnreadableBackup
from holdfast.backup.schema.backup_pb2 import AdHocCall, Frame
from tests.backup.streams import (
    HEADER,
    KEYS,
    STRONG_KEYS,
    container_of,
    folder_of,
    lines_of,
    record,
    sample,
    small_sample,
    stream_of,
)

# What JSON cannot say: unknown fields at any depth, fields that stand twice or are written longer than needed,
# lists that are not packed, a oneof with two members, and a frame of the future.
UNSPEAKABLE = (
    b"\x4a\x03abc",
    b"\x22\x05\x08\x01\x98\x06\x05",
    b"\x0a\x00\x12\x02\x08\x05",
    b"\x12\x02\x08\x05\x12\x00",
    b"\x12\x03\x08\x85\x00",
    b"\x92\x00\x02\x08\x05",
    b"\xfb\x01\x08\x05\xfc\x01",
    b"\x3a\x06\x38\x01\x38\x02\x38\x03",
    b"\x0a\x05\x4a\x03\x08\xe3\x00",
)
FUTURE = Frame(adHocCall=AdHocCall(callId=1, state=99)).SerializeToString()  # type: ignore[arg-type]  # a state that the schema does not have
# What it can: an empty frame, fields out of order, an unknown value of an enum.
ODD = (*UNSPEAKABLE, b"", b"\x22\x04\x10\x01\x08\x01", FUTURE)


def converted(source: Backup, to: OutputFormat, target: Path, keys: KeyMaterial = STRONG_KEYS) -> Backup:
    """Convert and open the result."""
    convert(source, target, to=to, keys=keys)
    return backup.open(target, STRONG_KEYS)


def all_of(opened: Backup) -> tuple[bytes, ...]:
    """Read every record, the header first."""
    return (opened.header, *(frame.raw for frame in opened))


@pytest.mark.parametrize("second", OutputFormat)
@pytest.mark.parametrize("first", OutputFormat)
def test_every_pair_of_forms_gives_back_the_same_bytes(
    first: OutputFormat, second: OutputFormat, tmp_path: Path
) -> None:
    """Converting through any two formats keeps every byte, also of frames that no encoder would write."""
    for number, records in enumerate((sample(120), (HEADER, *ODD))):
        plain = stream_of(records)
        folder = tmp_path / str(number)
        folder.mkdir()
        with (
            backup.open(io.BytesIO(plain)) as source,
            converted(source, first, folder / "first") as first_copy,
            converted(first_copy, second, folder / "second") as two,
        ):
            assert all_of(first_copy) == all_of(two) == records
            out = io.BytesIO()
            result = convert(two, out, to=OutputFormat.STREAM)
        assert out.getvalue() == plain
        assert result == Conversion(len(records) - 1, 0, ())


def test_what_json_cannot_say_is_kept_beside_it(tmp_path: Path) -> None:
    """`@raw` is written only for frames that JSON cannot represent."""
    for raw in ODD:
        Frame.FromString(raw)
        line = lines_of([HEADER, raw]).splitlines()[1]
        assert (b'"@raw"' in line) is (raw in UNSPEAKABLE), raw
        assert all_of(backup.open(io.BytesIO(lines_of([HEADER, raw])))) == (HEADER, raw)
    assert b"@raw" not in lines_of(sample(450))


@pytest.mark.parametrize("to", [OutputFormat.JSONL, OutputFormat.JSON])
def test_either_spelling_of_names_is_read_back(to: OutputFormat) -> None:
    """JSON in Signal's spelling of names and in that of the specification is read back."""
    texts = {}
    for names in ("spec", "signal"):
        out = io.BytesIO()
        with backup.open(io.BytesIO(stream_of(sample(450)))) as source:
            convert(source, out, to=to, names=names)
        texts[names] = out.getvalue()
        with backup.open(io.BytesIO(out.getvalue())) as reader:
            assert all_of(reader) == sample(450)
    assert texts["spec"] != texts["signal"]
    assert b"androidSpecificSettings" in texts["signal"]
    assert b"androidSpecificSettings" not in texts["spec"]


def test_an_array_is_an_array_to_any_parser(tmp_path: Path) -> None:
    """The array is valid JSON with one record a line."""
    with backup.open(io.BytesIO(stream_of(sample()))) as source:
        convert(source, tmp_path / "x.json", to=OutputFormat.JSON)
    text = (tmp_path / "x.json").read_text()
    assert len(json.loads(text)) == len(sample())
    assert len(text.splitlines()) == len(sample()) + 2


def test_a_folder_takes_its_media_along(tmp_path: Path) -> None:
    """Converting to a folder copies each attachment once, and all of them are whole."""
    snapshot = folder_of(sample(300), tmp_path / "old")
    names = set(find_snapshots(snapshot)[0].manifest())
    assert len(names) > 20
    with backup.open(snapshot, KEYS) as source:
        result = convert(source, tmp_path / "new", to=OutputFormat.FOLDER, keys=KEYS)
    assert (result.attachments, result.problems) == (len(names), ())
    copied = {path.name for path in (tmp_path / "new" / "files").glob("*/*")}
    assert copied == names == set(find_snapshots(tmp_path / "new")[0].manifest())
    summary = backup.info(tmp_path / "new", KEYS, verify_media=True)
    assert summary.media is not None
    assert (summary.media.present, summary.media.missing, summary.media.damaged) == (len(names), 0, 0)


def test_a_missing_or_damaged_attachment_does_not_stop_the_others(tmp_path: Path) -> None:
    """A missing and a damaged attachment are reported, and all others are copied."""
    snapshot = folder_of(sample(300), tmp_path / "old")
    files = sorted((tmp_path / "old" / "SignalBackups" / "files").glob("*/*"))
    files[0].unlink()
    data = files[1].read_bytes()
    files[1].write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with backup.open(snapshot, KEYS) as source:
        result = convert(source, tmp_path / "new", to=OutputFormat.FOLDER, keys=KEYS)
    assert result.attachments == len(files) - 2
    assert len(result.problems) == 2
    assert {files[0].name, files[1].name} == set(map(named, result.problems))
    assert list((tmp_path / "new" / "files").rglob("*.part")) == []


def named(problem: str) -> str:
    """Find the name of an attachment in a report."""
    return next(word for word in problem.split() if len(word) == 64)


def test_frames_are_not_judged(tmp_path: Path) -> None:
    """Frames that break the rules of order are converted unchanged."""
    records = (HEADER, b"\x12\x00", b"\x12\x00")
    for to in OutputFormat:
        with (
            backup.open(io.BytesIO(stream_of(records))) as source,
            converted(source, to, tmp_path / to) as copy,
        ):
            assert all_of(copy) == records


def test_damage_is_located_and_leaves_nothing(tmp_path: Path) -> None:
    """A truncated stream is an error with its frame, and no target is left in any format."""
    data = stream_of(sample())[:-1]
    for to in OutputFormat:
        with (
            backup.open(io.BytesIO(data)) as source,
            pytest.raises(DamagedBackup, match=rf"\(frame {len(sample()) - 1}, byte \d+\)"),
        ):
            convert(source, tmp_path / "x", to=to, keys=replace(STRONG_KEYS, token=None))
        assert not (tmp_path / "x").exists() or not list((tmp_path / "x").iterdir())


def test_encrypting_needs_keys_and_a_folder_needs_a_place(tmp_path: Path) -> None:
    """The error names the missing keys, and a folder cannot be written to standard output."""
    with backup.open(io.BytesIO(stream_of(small_sample()))) as source:
        for to in (OutputFormat.CONTAINER, OutputFormat.FOLDER):
            with pytest.raises(KeyIncomplete, match="the recovery key and the account id"):
                convert(source, tmp_path / "x", to=to)
        with pytest.raises(UnreadableBackup, match="standard output"):
            convert(source, io.BytesIO(), to=OutputFormat.FOLDER, keys=STRONG_KEYS)
    assert list(tmp_path.iterdir()) == []


def test_nothing_new_is_encrypted_with_a_weak_key(tmp_path: Path) -> None:
    """Every writing function refuses a weak key, unless the source is encrypted with the same key."""
    plain, sealed = tmp_path / "plain.binproto", tmp_path / "sealed.encrypted"
    plain.write_bytes(stream_of(sample()))
    sealed.write_bytes(container_of(sample()))
    target = tmp_path / "out.encrypted"
    refused = pytest.raises(KeyRefused, match="weak")
    for to in (OutputFormat.CONTAINER, OutputFormat.FOLDER):
        with refused:
            convert(plain, target, to=to, keys=KEYS)
        with refused:
            backup.crop(plain, target, to=to, keys=KEYS)
        with refused:
            backup.merge([plain, plain], target, to=to, keys=KEYS)
        with refused:
            backup.repair(plain, target, to=to, keys=KEYS)
    with refused, backup.write(target, HEADER, keys=KEYS):
        pass
    other = replace(KEYS, pool=EntropyPool.parse("wxyz" * 16))
    with refused:
        convert(sealed, target, KEYS, keys=other)
    assert {path.name for path in tmp_path.iterdir()} == {plain.name, sealed.name}
    outputs = [tmp_path / f"{number}.encrypted" for number in range(4)]
    convert(sealed, outputs[0], KEYS, keys=KEYS)
    backup.crop(sealed, outputs[1], KEYS, keys=KEYS)
    backup.merge([sealed, plain], outputs[2], KEYS, keys=KEYS)
    backup.repair(sealed, outputs[3], KEYS, to=OutputFormat.CONTAINER, keys=KEYS)
    for path in outputs:
        with backup.open(path, KEYS) as source:
            assert source.form is backup.Form.CONTAINER


def test_a_file_is_not_converted_onto_itself(tmp_path: Path) -> None:
    """The source is refused as target, and another existing file is replaced only with `replace`."""
    file, other = tmp_path / "x", tmp_path / "y"
    file.write_bytes(stream_of(small_sample()))
    other.write_bytes(b"precious")
    with backup.open(file) as source:
        with pytest.raises(TargetRefused, match="is the backup itself"):
            convert(source, file, to=OutputFormat.JSONL, replace=True)
        with pytest.raises(TargetRefused, match="exists already"):
            convert(source, other, to=OutputFormat.JSONL)
        assert (file.read_bytes(), other.read_bytes()) == (stream_of(small_sample()), b"precious")
        convert(source, other, to=OutputFormat.JSONL, replace=True)
    assert other.read_bytes() == lines_of(small_sample())


def test_a_backup_is_converted_in_flat_memory(tmp_path: Path) -> None:
    """Blocks stay small while frames larger than a block are converted."""
    records = (HEADER, *[b"\x4a" + record(b"x" * 3_000_000)] * 3)
    with backup.open(io.BytesIO(stream_of(records))) as source:
        sizes = [len(block.data) for block in source.blocks()]
        assert max(sizes) < 7_000_000
        with converted(source, OutputFormat.JSONL, tmp_path / "x") as copy:
            assert all_of(copy) == records


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("a.binproto", OutputFormat.STREAM),
        ("a.jsonl", OutputFormat.JSONL),
        ("a.JSON", OutputFormat.JSON),
        ("a.binproto.encrypted", OutputFormat.CONTAINER),
        ("a", None),
        ("a.txt", None),
        ("-", None),
    ],
)
def test_the_form_is_told_by_the_extension(name: str, form: OutputFormat | None) -> None:
    """A known file extension selects the format, and any other selects none."""
    assert form_of(Path(name)) is form


def test_an_error_is_an_error_of_ours() -> None:
    """DamagedBackup is a BackupError, so callers can catch one class."""
    assert issubclass(DamagedBackup, BackupError)
