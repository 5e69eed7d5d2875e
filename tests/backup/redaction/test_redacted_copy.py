"""A copy has every record, size and fault of the original, and none of its content."""

import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup import Redaction, redact
from holdfast.backup.errors import DamagedBackup, UnwritableBackup, WrongKey
from holdfast.backup.rules import validate
from holdfast.backup.schema import BackupInfo
from holdfast.backup.schema import Frame as FrameMessage
from holdfast.backup.wire import faults
from holdfast.backup.wire.varint import varint_at
from holdfast.backup.wire.walk import walk_record
from holdfast_demo.sample import sample_records
from tests.backup.container.vectors import SET_A
from tests.backup.redaction.survivors import survivors
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import INVALID_CASES
from tests.backup.streams import KEYS, MODERN_KEYS, file_forms, folder_of, record, sample, small_sample, stream_of
from tests.backup.wire.encoding import delimited, group, number
from tests.backup.wire.mutations import mutate
from tests.backup.wire.random_frames import random_frame, random_header
from tests.examples import examples

HEADER = BackupInfo(version=1, backupTimeMs=5, mediaRootBackupKey=bytes(range(32))).SerializeToString()


def redact_stream(stream: bytes, seed: int | None = 1) -> tuple[bytes, Redaction]:
    """Redact a stream."""
    out = io.BytesIO()
    result = redact(io.BytesIO(stream), out, seed=seed)
    return out.getvalue(), result


def records_of(stream: bytes) -> list[bytes]:
    """Split a stream into its records."""
    with backup.open(io.BytesIO(stream)) as source:
        return [source.header, *(frame.raw for frame in source)]


def same_shape(before: bytes, after: bytes) -> bool:
    """Return whether two frames have the same length and structure; the offset of a fault may differ."""
    old, new = walk_record(before), walk_record(after)
    if old.fault:
        return (len(before), old.fault) == (len(after), new.fault)
    return (len(before), old) == (len(after), new)


@pytest.mark.parametrize("edition", ["spec", "current"])
def test_nothing_of_a_sample_survives_but_its_shape(edition: str) -> None:
    """A sample with every kind of record keeps its lengths and structure, and no text or bytes."""
    original = list(sample_records(300, 3, edition="spec" if edition == "spec" else "current"))
    stream = stream_of(original)
    copied, result = redact_stream(stream)
    assert result == Redaction(len(original) - 1, 0, "")
    assert len(copied) == len(stream)
    copies = records_of(copied)
    assert all(map(same_shape, original[1:], copies[1:]))
    assert survivors(original, copies) == []


@settings(max_examples=examples(60))
@given(seed=st.integers(0, 1 << 32))
def test_nothing_of_random_frames_survives_but_their_shape(seed: int) -> None:
    """Frames with odd encodings, unknown fields or faults keep their shape, but no content."""
    rng = random.Random(seed)
    frames = [random_frame(rng) for _ in range(6)]
    frames += [mutate(rng, raw) for raw in frames]
    # Also at the beginning, since a length and random bytes can look like the start of JSON.
    known = BackupInfo(version=1, backupTimeMs=5).SerializeToString()
    original = [known + random_header(rng) + known, *frames]
    out = io.BytesIO()
    # Opened before, no length is doubted, although there is nothing but damage.
    with backup.open(io.BytesIO(stream_of(original))) as source:
        result = redact(source, out, seed=seed)
    copies = records_of(out.getvalue())
    assert [len(raw) for raw in copies] == [len(raw) for raw in original]
    assert all(map(same_shape, frames, copies[1:]))
    assert result.damaged == sum(walk_record(raw).fault != 0 for raw in frames)
    readable = [index for index, raw in enumerate(original) if index == 0 or walk_record(raw).fault == 0]
    # Each half by itself: the bytes of an id may come to stand as a list of numbers in its mutated copy, and stay.
    for part in ([at for at in readable if at <= 6], [0, *(at for at in readable if at > 6)]):
        assert survivors([original[at] for at in part], [copies[at] for at in part]) == []


def findings_of(stream: bytes) -> list[tuple[object, ...]]:
    """List the findings of a stream with their positions."""
    findings = validate(io.BytesIO(stream), threads=1)
    return [(each.rule.id, each.severity, each.frame, each.offset, each.path, each.detail) for each in findings]


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 1 << 32))
def test_the_findings_stay(seed: int) -> None:
    """A changed sample and its copy break the same rules at the same positions."""
    rng = random.Random(seed)
    records = list(sample())
    for _ in range(12):
        offset = rng.randrange(1, len(records))
        match rng.randrange(4):
            case 0:
                records[offset] = mutate(rng, rng.choice(sample()[1:]))
            case 1:
                records.insert(offset, records[rng.randrange(1, len(records))])
            case 2:
                records.pop(offset)
            case 3:
                records[offset] = random_frame(rng)
    stream = stream_of(records)
    assert findings_of(stream) == findings_of(redact_stream(stream, seed)[0])


@pytest.mark.parametrize("name", sorted(INVALID_CASES))
def test_a_broken_rule_stays_broken(name: str) -> None:
    """For each rule, a backup that breaks it and its copy have the same findings."""
    example = ExampleBackup()
    INVALID_CASES[name](example)
    stream = stream_of(example.records())
    assert findings_of(stream) == findings_of(redact_stream(stream)[0])


def test_the_structure_stays() -> None:
    """Every number that is an id, a time, a size or a choice is the same, and text has the same length."""
    for before, after in zip(sample()[1:], records_of(redact_stream(stream_of(sample()))[0])[1:], strict=True):
        old, new = FrameMessage.FromString(before), FrameMessage.FromString(after)
        assert shape_of(str(old.WhichOneof("item")), before) == shape_of(str(new.WhichOneof("item")), after)


def shape_of(kind: str, raw: bytes) -> object:
    """Return the parts of a record that a redaction must not change."""
    message = FrameMessage.FromString(raw)
    item = message.chatItem
    return (
        kind,
        message.recipient.id,
        *(message.chat.id, message.chat.recipientId, message.chat.muteUntilMs, message.chat.pinnedOrder),
        *(item.chatId, item.authorId, item.dateSent, item.WhichOneof("item"), item.outgoing, item.incoming),
        *(item.standardMessage.text.body.count("\ufffc"), len(item.standardMessage.text.body.encode("utf-16"))),
        [(span.start, span.length, span.style) for span in item.standardMessage.text.bodyRanges],
        [(entry.authorId, entry.sentTimestamp, entry.sortOrder) for entry in item.standardMessage.reactions],
        [entry.pointer.locatorInfo.size for entry in item.standardMessage.attachments],
    )


def test_people_are_the_same_people_wherever_they_are_named() -> None:
    """A person has the same new id as a contact, as a member of a group and in a mention."""
    old = [FrameMessage.FromString(raw) for raw in sample()[1:]]
    new = [FrameMessage.FromString(raw) for raw in records_of(redact_stream(stream_of(sample()))[0])[1:]]

    def ids(frames: list[FrameMessage]) -> list[bytes]:
        acis = [frame.recipient.contact.aci for frame in frames]
        acis += [b"".join(member.userId for member in frame.recipient.group.snapshot.members) for frame in frames]
        return acis + [
            span.mentionAci for frame in frames for span in frame.chatItem.standardMessage.text.bodyRanges
        ]

    def ranks(values: list[bytes]) -> list[int]:
        return [values.index(value) for value in values]

    assert ranks(ids(old)) == ranks(ids(new))
    contacts = {frame.recipient.contact.aci for frame in new if frame.recipient.contact.aci}
    members = {member.userId for frame in new for member in frame.recipient.group.snapshot.members}
    assert contacts & members


def test_a_seed_makes_the_same_copy_again_and_none_makes_another() -> None:
    """The same seed gives the same copy, and without a seed each copy is different."""
    stream = stream_of(small_sample())
    assert redact_stream(stream, 7) == redact_stream(stream, 7)
    copies = {redact_stream(stream, seed)[0] for seed in (7, 8, None, None)}
    assert len(copies) == 4


def test_what_is_written_does_not_depend_on_what_stood_there() -> None:
    """Two backups of the same shape have the same copy, so the seed does not help to guess content."""

    def stream(name: str, telephone: int, aci: bytes) -> bytes:
        frame = FrameMessage()
        frame.recipient.contact.MergeFrom(
            type(frame.recipient.contact)(aci=aci, e164=telephone, profileGivenName=name, username=f"{name}.42")
        )
        return stream_of([HEADER, frame.SerializeToString()])

    first = redact_stream(stream("Alice", 15551234567, b"\x11" * 6 + b"\x41\x11\x81" + b"\x11" * 7))
    other = redact_stream(stream("Bobby", 18887654321, b"\x22" * 6 + b"\x42\x22\x82" + b"\x22" * 7))
    assert first == other


@pytest.mark.parametrize("form", ["stream", "gzip", "legacy container", "lines", "zip", "array"])
def test_any_form_is_taken_and_a_plain_stream_is_written(form: str, tmp_path: Path) -> None:
    """The copy of a backup in any format is the same plain stream, which needs no key."""
    source = tmp_path / "source"
    source.write_bytes(dict(file_forms(small_sample()))[form])
    target = tmp_path / "copy"
    redact(source, str(target), KEYS, seed=1)
    assert target.read_bytes() == redact_stream(stream_of(small_sample()))[0]


def test_a_folder_and_a_modern_container_are_taken(tmp_path: Path) -> None:
    """A folder and a modern container have the same copy as the plain stream."""
    expected = redact_stream(stream_of(small_sample()))[0]
    out = io.BytesIO()
    redact(folder_of(small_sample(), tmp_path), out, KEYS, seed=1)
    assert out.getvalue() == expected
    out = io.BytesIO()
    redact(io.BytesIO(dict(file_forms(small_sample()))["modern container"]), out, MODERN_KEYS, seed=1)
    assert out.getvalue() == expected


def test_what_is_unknown_is_emptied_and_stays_where_it_is() -> None:
    """Unknown fields at any depth, groups included, are overwritten with zeros in place."""
    secret = b"nobody must read this"
    inner = delimited(4, b"Jo") + delimited(15, secret) + number(99, 123456789)
    frame = delimited(1, inner) + group(90, delimited(3, secret) + number(1, 300)) + number(4, 5)
    copied, _done = redact_stream(stream_of([HEADER, frame]))
    copy = records_of(copied)[1]
    assert secret not in copied
    assert same_shape(frame, copy)
    assert delimited(15, bytes(len(secret))) in copy
    assert copy.endswith(group(90, delimited(3, bytes(len(secret))) + number(1, 128)) + number(4, 0))


def test_a_damaged_frame_becomes_one_that_is_damaged_in_the_same_way() -> None:
    """The copy of a damaged frame has the same fault and length, and the frames around it are copied."""
    text = b"this text is not \xff UTF-8"
    damaged = delimited(1, delimited(4, text))
    valid = small_sample()[1]
    copied, result = redact_stream(stream_of([HEADER, valid, damaged, valid]))
    copies = records_of(copied)
    assert result == Redaction(3, 1, "")
    assert walk_record(copies[2]).fault == faults.BAD_TEXT
    assert len(copies[2]) == len(damaged)
    assert same_shape(valid, copies[1])
    assert same_shape(valid, copies[3])
    assert b"this text" not in copied


@pytest.mark.parametrize(
    "tail", [b"\x50" + b"secret" * 3, b"\x80", b"\xff" * 10 + b"secret", b"\xff" * 4 + b"\x7f"]
)
def test_a_stream_that_breaks_off_breaks_off_at_the_same_place(tail: bytes) -> None:
    """Original and copy raise the same error and have the same findings."""
    stream = stream_of(small_sample()) + tail
    copied, result = redact_stream(stream)
    messages = []
    for data in (stream, copied):
        with backup.open(io.BytesIO(data)) as source, pytest.raises(DamagedBackup) as caught:
            list(source)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert (result.problem, result.gaps, len(copied)) == ("", 1, len(stream))
    assert findings_of(copied) == findings_of(stream)
    assert b"secret" not in copied
    with backup.open(io.BytesIO(stream)) as source:
        out = io.BytesIO()
        assert redact(source, out).problem == messages[0]
    assert b"secret" not in out.getvalue()


def test_the_backup_itself_is_never_written_over(tmp_path: Path) -> None:
    """A target that is a symlink to the backup is refused, and the backup stays unchanged."""
    source = tmp_path / "only-one.binproto"
    source.write_bytes(stream_of(small_sample()))
    (tmp_path / "link").symlink_to(source)
    with pytest.raises(UnwritableBackup, match="is the backup itself"):
        redact(source, tmp_path / "link")
    assert source.read_bytes() == stream_of(small_sample())


def test_nothing_is_left_when_it_cannot_be_read(tmp_path: Path) -> None:
    """A wrong key is an error, and no file is left."""
    source = tmp_path / "source"
    source.write_bytes(dict(file_forms(small_sample()))["legacy container"])
    with pytest.raises(WrongKey):
        redact(source, tmp_path / "copy", f"recovery-key = {SET_A.pool}\naccount-id = {SET_A.aci}")
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_an_empty_backup_has_an_empty_copy() -> None:
    """The copy of a backup without frames is a header with the same times and another media key."""
    copied, result = redact_stream(record(HEADER))
    assert result == Redaction(0, 0, "")
    (header,) = records_of(copied)
    parsed = BackupInfo.FromString(header)
    assert (parsed.version, parsed.backupTimeMs, len(parsed.mediaRootBackupKey)) == (1, 5, 32)
    assert parsed.mediaRootBackupKey != bytes(range(32))


@settings(max_examples=examples(40))
@given(seed=st.integers(0, 1 << 32))
def test_places_that_cannot_be_read_stay_where_they_are(seed: int) -> None:
    """After random changes of bytes, original and copy have the same unreadable bytes, and the same findings.

    A damaged record directly before a gap may become a part of it: its length counts only if a record follows.
    """
    original = with_changed_bytes(seed)
    copied, result = redact_stream(original, seed)
    before, after = findings_of(original), findings_of(copied)
    assert result.gaps == count_of("stream.whole", after)
    if count_of("frame.readable", after) == count_of("frame.readable", before):
        assert after == before
    else:
        assert unreadable_bytes(copied) == unreadable_bytes(original)
        assert with_readable_records(after) == with_readable_records(before)


def with_changed_bytes(seed: int) -> bytes:
    """Return the sample with random changes of bytes after its header."""
    rng = random.Random(seed)
    data = bytearray(stream_of(sample()))
    for _ in range(rng.choice((1, 2, 4))):
        offset = rng.randrange(len(record(sample()[0])), len(data))
        data[offset : offset + rng.randrange(30)] = rng.randbytes(rng.randrange(30))
    return bytes(data)


def count_of(rule: str, findings: list[tuple[object, ...]]) -> int:
    """Return how many findings are of a rule."""
    return sum(row[0] == rule for row in findings)


def unreadable_bytes(stream: bytes) -> list[tuple[int, int]]:
    """Return the beginnings and ends of gaps and damaged records; adjacent ones are one."""
    ranges: list[tuple[int, int]] = []
    for rule, _severity, _frame, offset, _path, detail in findings_of(stream):
        assert isinstance(offset, int), rule
        if rule == "stream.whole":
            end = offset + int(str(detail).partition(" ")[0].replace(",", ""))
        elif rule == "frame.readable":
            size, body = varint_at(stream, offset)
            end = body + size
        else:
            continue
        start = ranges.pop()[0] if ranges and ranges[-1][1] == offset else offset
        ranges.append((start, end))
    return ranges


def with_readable_records(findings: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return the findings in readable records, without the numbers of the frames."""
    return [
        (rule, severity, *rest)
        for rule, severity, _frame, *rest in findings
        if rule not in {"stream.whole", "frame.readable"}
    ]


def test_a_damaged_record_before_a_gap_becomes_a_part_of_it() -> None:
    """The bytes of a gap look like no record, which a damaged record needs behind it."""
    original = with_changed_bytes(27)
    copied, _result = redact_stream(original, 27)
    before, after = findings_of(original), findings_of(copied)
    assert count_of("stream.whole", after) == count_of("stream.whole", before)
    assert count_of("frame.readable", after) == count_of("frame.readable", before) - 1
    assert unreadable_bytes(copied) == unreadable_bytes(original)
