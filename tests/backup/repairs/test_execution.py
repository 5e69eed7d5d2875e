"""A repaired backup differs from the original only in what was repaired, and undo restores it byte for byte."""

import os
import random
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup import RepairOptions, plan_repair, repair, undo_repair
from holdfast.backup.conversion import OutputFormat
from holdfast.backup.errors import (
    BackupError,
    DamagedBackup,
    LogRefused,
    UnreadableBackup,
    UnwritableBackup,
    WrongKey,
)
from holdfast.backup.repairs.log import default_log_path, read_log
from holdfast.backup.rules import validate
from holdfast.backup.rules.rule import Severity
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire.varint import encode_varint
from tests.backup.rules.example_backup import ExampleBackup, broken_backup
from tests.backup.streams import (
    KEYS,
    MODERN_KEYS,
    container_of,
    folder_of,
    lines_of,
    record,
    sample,
    small_sample,
    stream_of,
)
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frame
from tests.examples import examples

SEALED = container_of(sample(100))


def frames_of(path: Path) -> list[bytes]:
    """Read all frames."""
    with backup.open(path, KEYS) as source:
        return [frame.raw for frame in source]


@settings(max_examples=examples(25))
@given(seed=st.integers(0, 1 << 32), drop=st.booleans())
def test_random_damage_is_mended_as_far_as_it_can_be_and_undone(seed: int, drop: bool) -> None:  # noqa: FBT001  # a parameter of the test
    """Frames that the log does not list are kept byte for byte, and undoing restores the original."""
    rng = random.Random(seed)
    records = list(sample(40))
    for _ in range(rng.choice((1, 3, 8))):
        offset = rng.randrange(1, len(records))
        match rng.randrange(4):
            case 0 | 1:
                records[offset] = mutate(rng, rng.choice(sample(40)[1:]))
            case 2:
                records.insert(offset, records[rng.randrange(1, len(records))])
            case 3:
                records[offset] = random_frame(rng)
    stream = stream_of(records)
    if drop and rng.random() < 0.3:
        stream += b"\x7f" + rng.randbytes(5)
    with TemporaryDirectory() as folder:
        source, target, back = (Path(folder) / name for name in ("source", "target", "back"))
        source.write_bytes(stream)
        options = RepairOptions(drop=drop)
        if "stream.whole" in {finding.rule for finding in plan_repair(source, options=options).remaining_errors}:
            # Where odd records follow each other, it cannot be told where one ends.
            with pytest.raises(DamagedBackup, match="--drop drops the unreadable bytes"):
                repair(source, target, options=options)
            assert not drop
            assert not target.exists()
            return
        result = repair(source, target, options=options)
        log = read_log(default_log_path(target))
        changed = {change.frame for change in log.changes}
        if log.lost:
            # Frames behind what could not be read have other numbers.
            removed = {change.record() for change in log.changes}
            unread = b"".join(gap.content() for gap in log.lost)
            remaining = set(frames_of(target))
            assert all(raw in remaining or record(raw) in removed or record(raw) in unread for raw in records[1:])
        else:
            left = iter(frames_of(target))
            assert all(raw in left for number, raw in enumerate(records[1:], 1) if number not in changed)
        assert drop or not any(step.loses for step in result.steps)
        errors = [
            finding
            for finding in validate(target, edition=result.edition, threads=1)
            if finding.severity is Severity.ERROR
        ]
        assert result.passes == (errors == [])
        undo_repair(target, default_log_path(target), back)
        assert back.read_bytes() == stream


def test_nothing_is_written_by_a_plan(tmp_path: Path) -> None:
    """A plan lists the steps and the remaining errors of a repair, and writes no file."""
    source = tmp_path / "source"
    source.write_bytes(stream_of(broken_backup()))
    planned = plan_repair(source)
    assert [step.rule for step in planned.steps] == ["contact.registration.set", "chat-folder.all.muted"]
    assert [problem.rule for problem in planned.remaining_errors] == ["reaction.author.known"]
    assert not planned.passes
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
    assert repair(source, tmp_path / "target") == planned


def test_the_log_is_beside_the_backup_or_where_it_is_wanted(tmp_path: Path) -> None:
    """The change log has mode 0600, and the option `log` sets its path."""
    source = tmp_path / "source"
    source.write_bytes(stream_of(broken_backup()))
    repair(source, tmp_path / "target")
    assert stat.S_IMODE((tmp_path / "target.changes.json").stat().st_mode) == 0o600
    repair(source, tmp_path / "other", log=tmp_path / "log")
    assert read_log(tmp_path / "log") == read_log(tmp_path / "target.changes.json")
    assert not (tmp_path / "other.changes.json").exists()


def test_encrypted_backups_and_folders_are_repaired_in_their_form(tmp_path: Path) -> None:
    """The repaired backup has the requested format, and undoing restores the frames of the original."""
    records = broken_backup()
    (tmp_path / "sealed").write_bytes(container_of(records))
    for source in (tmp_path / "sealed", folder_of(records, tmp_path)):
        target, back = tmp_path / f"{source.name}.fixed", tmp_path / f"{source.name}.back"
        options = RepairOptions(drop=True)
        result = repair(source, target, KEYS, options=options, to=OutputFormat.CONTAINER, keys=KEYS)
        assert result.passes
        undo_repair(target, default_log_path(target), back, KEYS, to=OutputFormat.CONTAINER, keys=KEYS)
        assert frames_of(back) == records[1:]
        undo_repair(target, default_log_path(target), tmp_path / "plain", KEYS, replace=True)
        assert (tmp_path / "plain").read_bytes() == stream_of(broken_backup())


def test_a_pipe_can_be_repaired(tmp_path: Path) -> None:
    """A backup from a pipe is repaired although it has to be read more than once."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as sink:
        sink.write(stream_of(broken_backup()))
    with os.fdopen(reader, "rb") as source:
        assert repair(source, tmp_path / "target", options=RepairOptions(drop=True)).passes


def test_a_stream_that_breaks_off_is_cut_where_it_was_whole(tmp_path: Path) -> None:
    """Only with `drop` is the truncated end of a stream left out; undoing the repair restores it."""
    source, target, back = (tmp_path / name for name in ("source", "target", "back"))
    source.write_bytes(stream_of(ExampleBackup().records()) + b"\x7fabc")
    assert [problem.rule for problem in plan_repair(source).remaining_errors] == ["stream.whole"]
    with pytest.raises(DamagedBackup, match="--drop drops the unreadable bytes"):
        repair(source, target)
    assert not target.exists()
    assert repair(source, target, options=RepairOptions(drop=True)).passes
    assert target.read_bytes() == stream_of(ExampleBackup().records())
    assert undo_repair(target, default_log_path(target), back) == 1
    assert back.read_bytes() == source.read_bytes()


def test_a_stream_is_read_past_what_cannot_be_read(tmp_path: Path) -> None:
    """Only with `drop` are unreadable bytes left out; the plan lists them and undoing restores them."""
    source, target, back = (tmp_path / name for name in ("source", "target", "back"))
    records = ExampleBackup().records()
    before, after = stream_of(records[:-2]), stream_of(records[-2:])
    source.write_bytes(before + b"\xff" * 12 + after + b"\x80\x80")
    assert [
        (problem.rule, problem.frame, problem.needs_drop) for problem in plan_repair(source).remaining_errors
    ] == [
        ("stream.whole", len(records) - 2, True),
        ("stream.whole", len(records), True),
    ]
    with pytest.raises(DamagedBackup, match="--drop drops the unreadable bytes"):
        repair(source, target)
    result = repair(source, target, options=RepairOptions(drop=True))
    assert result == plan_repair(source, options=RepairOptions(drop=True))
    assert [(step.frame, step.words) for step in result.steps] == [
        (len(records) - 2, drop_description(len(before), 12)),
        (len(records), drop_description(len(before + after) + 12, 2)),
    ]
    assert target.read_bytes() == before + after
    assert undo_repair(target, default_log_path(target), back) == 2
    assert back.read_bytes() == source.read_bytes()


def drop_description(offset: int, size: int) -> str:
    """Return the description of dropped bytes."""
    last = offset + size - 1
    return f"The bytes from {offset:,} to {last:,}, in which no record can be read, are left out."


def test_a_backup_that_was_opened_before_cannot_be_read_past_damage(tmp_path: Path) -> None:
    """An open backup with bytes to skip is refused, but one with a truncated end is repaired."""
    source = tmp_path / "source"
    source.write_bytes(stream_of(ExampleBackup().records()) + b"\xff" * 12)
    with backup.open(source) as opened, pytest.raises(DamagedBackup, match="pass the file itself with --drop"):
        repair(opened, tmp_path / "target", options=RepairOptions(drop=True))
    source.write_bytes(stream_of(ExampleBackup().records()) + b"\x7fabc")
    with backup.open(source) as opened:
        assert repair(opened, tmp_path / "target", options=RepairOptions(drop=True)).passes


@settings(max_examples=examples(25))
@given(seed=st.integers(0, 1 << 32))
def test_whatever_happens_to_a_stream_it_is_mended_and_undone(seed: int) -> None:
    """With `drop` a randomly changed stream becomes readable, and undoing restores its bytes."""
    rng = random.Random(seed)
    data = bytearray(stream_of(ExampleBackup().records()))
    first = len(encode_varint(len(ExampleBackup().records()[0]))) + len(ExampleBackup().records()[0])
    for _ in range(2):
        offset = rng.randrange(first, len(data))
        data[offset : offset + rng.randrange(3)] = rng.randbytes(rng.randrange(12))
    with TemporaryDirectory() as folder:
        source, target, back = (Path(folder, name) for name in ("source", "target", "back"))
        source.write_bytes(data)
        repair(source, target, options=RepairOptions(drop=True))
        assert "stream.whole" not in {finding.rule.id for finding in validate(target)}
        undo_repair(target, default_log_path(target), back)
        assert back.read_bytes() == data


def flip_byte(data: bytes, offset: int) -> bytes:
    """Change one byte."""
    return data[:offset] + bytes([data[offset] ^ 0x40]) + data[offset:][1:]


@pytest.mark.parametrize("modern", [False, True])
def test_a_container_with_a_wrong_mac_is_sealed_anew(tmp_path: Path, *, modern: bool) -> None:
    """A container with a wrong MAC is written again, and undoing restores the original file."""
    source, target, back = (tmp_path / name for name in ("source", "target", "back"))
    data = container_of(broken_backup(), modern=modern)
    source.write_bytes(flip_byte(data, len(data) - 1))
    planned = plan_repair(source, MODERN_KEYS, options=RepairOptions(drop=True))
    assert planned.steps[0].rule == "container.mac"
    assert planned.passes
    result = repair(source, target, MODERN_KEYS, options=RepairOptions(drop=True), to=None, keys=MODERN_KEYS)
    assert result == replace(planned, kept=str(tmp_path / "target.original"))
    assert [f for f in validate(target, MODERN_KEYS) if f.severity is Severity.ERROR] == []
    assert target.read_bytes().startswith(b"SBACKUP\x01") == modern
    assert stat.S_IMODE((tmp_path / "target.original").stat().st_mode) == 0o600
    assert (
        undo_repair(target, default_log_path(target), back, MODERN_KEYS)
        == len(read_log(default_log_path(target)).changes) + 1
    )
    assert back.read_bytes() == source.read_bytes()


def test_what_follows_damaged_compression_is_only_left_out_when_asked_to(tmp_path: Path) -> None:
    """Only with `drop` are the frames after damaged compression left out; the plan says how many are kept."""
    source, target, back = (tmp_path / name for name in ("source", "target", "back"))
    source.write_bytes(container_of(sample(300))[:9000])
    (step,) = plan_repair(source, KEYS).steps
    (left,) = plan_repair(source, KEYS).remaining_errors
    assert (step.rule, left.rule, left.needs_drop) == ("container.length", "container.compression", True)
    with pytest.raises(DamagedBackup, match="--drop drops everything after this"):
        repair(source, target, KEYS, to=None, keys=KEYS)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]
    result = repair(source, target, KEYS, options=RepairOptions(drop=True), to=None, keys=KEYS)
    assert result.passes
    remaining = frames_of(target)
    assert remaining == list(sample(300)[1 : len(remaining) + 1])
    assert f"{len(remaining)} frames before it are kept" in result.steps[-1].words
    assert undo_repair(target, default_log_path(target), back, KEYS) == 2
    assert back.read_bytes() == source.read_bytes()


def test_a_container_of_which_nothing_is_left_is_refused(tmp_path: Path) -> None:
    """The error gives the reason; a wrong key and a file of another format have errors of their own."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(flip_byte(container_of(small_sample()), 40))
    with pytest.raises(DamagedBackup, match=r"compressed data .* nothing of it can be read"):
        repair(source, target, KEYS)
    source.write_bytes(flip_byte(container_of(small_sample()), 1))
    with pytest.raises(WrongKey):
        repair(source, target, KEYS)
    source.write_bytes(b"%PDF-1.4" + bytes(range(201)))
    with pytest.raises(UnreadableBackup, match="not a chat backup"):
        repair(source, target, KEYS)
    assert not target.exists()


def test_a_folder_is_repaired_without_what_it_lacks(tmp_path: Path) -> None:
    """With the account id, a folder with damaged metadata and a wrong MAC is repaired."""
    snapshot = folder_of(broken_backup(), tmp_path)
    (snapshot / "metadata").write_bytes(b"damaged")
    main = flip_byte((snapshot / "main").read_bytes(), (snapshot / "main").stat().st_size - 1)
    (snapshot / "main").write_bytes(main)
    target, back = tmp_path / "fixed.encrypted", tmp_path / "back"
    result = repair(snapshot, target, KEYS, options=RepairOptions(drop=True), to=None, keys=KEYS)
    assert {step.rule for step in result.steps} >= {"folder.metadata.readable", "container.mac"}
    assert result.passes
    undo_repair(target, default_log_path(target), back, KEYS)
    assert back.read_bytes() == main


def test_lines_that_are_no_records_are_left_out_and_put_back(tmp_path: Path) -> None:
    """Only with `drop` are invalid lines left out; undoing restores the original file byte for byte."""
    source, target, back = (tmp_path / name for name in ("source.jsonl", "target.jsonl", "back.jsonl"))
    lines = lines_of(ExampleBackup().records()).splitlines(keepends=True)
    lines[30:30] = [b"secret\n", b"\xff\n"]
    source.write_bytes(b"".join(lines))
    with pytest.raises(DamagedBackup, match=r"--drop drops the unreadable bytes.*line 31"):
        repair(source, target, to=None)
    result = repair(source, target, options=RepairOptions(drop=True), to=None)
    assert [(step.rule, step.frame, step.words.partition(",")[0]) for step in result.steps] == [
        ("stream.whole", 30, "Line 31 of the file"),
        ("stream.whole", 30, "Line 32 of the file"),
    ]
    assert result.passes
    assert frames_of(target) == ExampleBackup().records()[1:]
    undo_repair(target, default_log_path(target), back)
    assert back.read_bytes() == source.read_bytes()


@settings(max_examples=examples(15))
@given(seed=st.integers(0, 1 << 32))
def test_whatever_happens_to_a_container_it_is_mended_and_undone(seed: int) -> None:
    """A damaged container is repaired and the repair undone; if nothing of it can be read, no file is written."""
    rng = random.Random(seed)
    data = bytearray(SEALED)
    for _ in range(rng.choice((1, 2))):
        offset = rng.randrange(len(data))
        data[offset : offset + rng.choice((0, 1, 16, 40))] = rng.randbytes(rng.choice((0, 1, 16)))
    if rng.random() < 0.3:
        del data[rng.randrange(len(data)) :]
    with TemporaryDirectory() as folder:
        source, target, back = (Path(folder, name) for name in ("source", "target", "back"))
        source.write_bytes(data)
        try:
            result = repair(source, target, KEYS, options=RepairOptions(drop=True), to=None, keys=KEYS)
        except BackupError:
            assert [path.name for path in Path(folder).iterdir()] == ["source"]
            return
        findings = validate(target, KEYS, edition=result.edition)
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        assert result.passes == (errors == [])
        undo_repair(target, default_log_path(target), back, KEYS)
        assert result.kept is None or back.read_bytes() == data


def test_neither_the_backup_nor_anything_half_done_is_left_behind(tmp_path: Path) -> None:
    """A target that cannot be written leaves no log, and the original is never the target."""
    source = tmp_path / "source"
    source.write_bytes(stream_of(broken_backup()))
    with pytest.raises(UnwritableBackup, match="is the backup itself"):
        repair(source, source)
    with pytest.raises(UnwritableBackup, match="is the backup itself"):
        repair(source, tmp_path / "target", log=source)
    with pytest.raises(UnwritableBackup, match="both the backup and its change log"):
        repair(source, tmp_path / "target", log=tmp_path / "target")
    (tmp_path / "folder").mkdir()
    with pytest.raises(UnwritableBackup):
        repair(source, tmp_path / "folder")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "source"]
    assert source.read_bytes() == stream_of(broken_backup())


def test_what_was_changed_since_cannot_be_undone(tmp_path: Path) -> None:
    """A repaired backup that was changed afterwards cannot be undone."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(stream_of(broken_backup()))
    repair(source, target)
    target.write_bytes(target.read_bytes() + record(small_sample()[1]))
    with pytest.raises(LogRefused, match="changed since"):
        undo_repair(target, default_log_path(target), tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_the_edition_stays_what_it_was(tmp_path: Path) -> None:
    """The edition of the original is kept even if the record that showed it is left out."""
    example = ExampleBackup()
    example.without_additions()
    example.frame("pinned again").CopyFrom(ExampleBackup().frames["pinned"])
    example.frames["pinned again"].chatItem.authorId = 99
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(stream_of(example.records()))
    result = repair(source, target, options=RepairOptions(drop=True))
    assert (result.edition, read_log(default_log_path(target)).edition) == ("current", "current")
    assert {step.rule for step in result.steps} >= {"chat-item.author.known", "settings.app-theme.known"}


def spoil_color(frames: list[Frame], change: Callable[[backup_pb2.ChatStyle.CustomChatColor], object]) -> None:
    """Add an unused chat color, and apply a change to it."""
    account = next(frame.account for frame in frames if frame.WhichOneof("item") == "account")
    color = account.accountSettings.customChatColors.add(id=777, solid=0xFF112233)
    change(color)


def spoil_list(frames: list[Frame], change: Callable[[backup_pb2.Recipient], object]) -> None:
    """Add a copy of a story list, and apply a change to it."""
    index, first = next(
        (index, frame)
        for index, frame in enumerate(frames)
        if frame.recipient.WhichOneof("destination") == "distributionList"
    )
    second = Frame.FromString(first.SerializeToString())
    second.recipient.id = 99_999
    change(second.recipient)
    frames.insert(index + 1, second)


SPOILT: dict[str, Callable[[list[Frame]], None]] = {
    "custom-color.opaque": lambda frames: spoil_color(frames, lambda one: setattr(one, "solid", 0x112233)),
    "custom-color.set": lambda frames: spoil_color(frames, lambda one: one.ClearField("solid")),
    "custom-color.id.zero": lambda frames: spoil_color(frames, lambda one: setattr(one, "id", 0)),
    "gradient.stops": lambda frames: spoil_color(frames, lambda one: one.gradient.colors.append(0xFF000000)),
    "recipient.list.unique": lambda frames: spoil_list(frames, lambda _one: None),
    "distribution-list.id.length": lambda frames: spoil_list(
        frames, lambda one: setattr(one.distributionList, "distributionId", bytes(15))
    ),
}


@pytest.mark.parametrize("rule", SPOILT)
def test_what_is_invalid_and_unused_is_left_out_when_asked(rule: str, tmp_path: Path) -> None:
    """With `drop` an invalid record or entry that nothing refers to is removed, and the rest is kept."""
    frames = [Frame.FromString(raw) for raw in sample(60)[1:]]
    SPOILT[rule](frames)
    source, target = tmp_path / "spoilt.binproto", tmp_path / "mended.binproto"
    source.write_bytes(stream_of([sample(60)[0], *(frame.SerializeToString() for frame in frames)]))
    assert rule in {finding.rule.id for finding in validate(source)}
    assert [problem.needs_drop for problem in plan_repair(source).remaining_errors] == [True]
    repair(source, target, options=RepairOptions(drop=True))
    assert [finding for finding in validate(target) if finding.severity == "error"] == []
    with backup.open(target) as reader:
        assert tuple(frame.raw for frame in reader) == sample(60)[1:]


def test_a_colour_that_chats_have_takes_its_name_with_it(tmp_path: Path) -> None:
    """After invalid chat colours are dropped, no chat refers to one, and the backup has no errors."""
    frames = [Frame.FromString(raw) for raw in sample(60)[1:]]
    account = next(frame.account for frame in frames if frame.WhichOneof("item") == "account")
    assert any(frame.chat.style.HasField("customColorId") for frame in frames)
    for color in account.accountSettings.customChatColors:
        color.solid = 0x112233
    source, target = tmp_path / "spoilt.binproto", tmp_path / "mended.binproto"
    source.write_bytes(stream_of([sample(60)[0], *(frame.SerializeToString() for frame in frames)]))
    repair(source, target, options=RepairOptions(drop=True))
    assert [finding for finding in validate(target) if finding.severity == "error"] == []
    left = [Frame.FromString(raw) for raw in frames_of(target)]
    assert len(left) == len(frames)
    assert not any(frame.chat.style.HasField("customColorId") for frame in left)
