"""A backup is validated whole or frame by frame, by one thread or several, and the findings are the same."""

import gzip
import io
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.rules import (
    Edition,
    Finding,
    Profile,
    Severity,
    ValidationRun,
    Validator,
    validate,
    validator,
)
from holdfast.backup.rules.validator import HeldFindings, start_validation
from holdfast.backup.wire.varint import encode_varint
from holdfast_demo.sample import sample_records
from tests.backup.rules import fault_injection
from tests.backup.rules.example_backup import ExampleBackup, findings, valid_backup
from tests.backup.rules.fault_injection import inject
from tests.backup.rules.invalid_cases import INVALID_CASES, OPTIONS, clear, combine, put
from tests.backup.streams import KEYS, array_of, container_of, lines_of, sample, stream_of
from tests.backup.wire.mutations import mutate
from tests.examples import examples


def rows(reported: list[Finding]) -> list[tuple[str, str, int | None, int | None, str, str]]:
    """Return findings as rows that can be compared."""
    return [(f.rule.id, f.severity, f.frame, f.offset, f.path, f.detail) for f in reported]


def validate_stream(data: bytes, **options: object) -> list[Finding]:
    """Validate a stream at once."""
    return list(validate(io.BytesIO(data), **options))  # type: ignore[arg-type]  # the names are right


@pytest.mark.parametrize("edition", ["spec", "current"])
def test_a_made_up_history_is_valid(edition: Literal["spec", "current"]) -> None:
    """A generated history has no findings, and the validator recognises the edition it was made for."""
    records = list(sample_records(400, 3, edition=edition))
    with backup.open(io.BytesIO(stream_of(records))) as source:
        validation = ValidationRun(source)
        assert list(validation) == []
    assert validation.valid
    assert (validation.edition, validation.frames) == (Edition(edition), len(records) - 1)


def test_ten_faults_are_ten_findings() -> None:
    """Ten faults are found once each, in the order of the file."""
    example = ExampleBackup()
    names = [
        *("account.profile-key.length", "contact.nickname.empty", "group.member.role"),
        *("chat.expiration-timer.version", "sticker-pack.key.length", "notification-profile.day.unique"),
        *("reaction.emoji", "quote.type.known", "contact-card.value.empty", "individual-call.type.known"),
    ]
    for name in names:
        INVALID_CASES[name](example)
    all_findings = findings(example.records())
    assert sorted(finding.rule.id for finding in all_findings) == sorted(names)
    frames = [finding.frame or 0 for finding in all_findings]
    assert frames == sorted(frames)
    assert rows(validate_stream(stream_of(example.records()))) == rows(all_findings)


@pytest.mark.parametrize("edition", ["spec", "current"])
@settings(max_examples=examples(10))
@given(seed=st.integers(0, 1 << 32))
def test_ten_faults_planted_anywhere_are_all_found(seed: int, edition: Literal["spec", "current"]) -> None:
    """Ten faults in ten frames of a generated history give the findings that each gives alone."""
    rng = random.Random(seed)
    records = list(sample_records(60, 1 + seed % 5, edition=edition))
    injected = inject(rng, records, 10, edition=edition)
    assert len(injected) == 10
    for fault in injected:
        records[fault.frame] = fault.raw
    found_faults = validate_stream(stream_of(records), edition=edition)
    assert fault_injection.error_rows(found_faults) == [line for fault in injected for line in fault.errors]
    reported = {(finding.rule.id, finding.frame) for finding in found_faults}
    assert {(fault.rule, fault.frame) for fault in injected} <= reported


@pytest.mark.parametrize(
    "options", [{}, {"edition": "spec"}, {"purpose": "takeout"}, {"profile": "import"}], ids=str
)
def test_every_rule_is_found_among_nine_others(options: dict[str, str]) -> None:
    """Any ten broken rules that are independent give the findings that each gives alone."""
    alone = {
        name: break_rule(name, options)
        for name in INVALID_CASES
        if OPTIONS.get(name, options) == options or not OPTIONS.get(name)
    }
    alone = {name: each for name, each in alone.items() if any(rule == name for rule, _frame, _path in each.found)}
    # Without a user everything about the user is something else, and thousands of findings are no one fault.
    for name in ("self.present", "frame.crowded"):
        del alone[name]
    waiting = set(alone)
    rng = random.Random(1)
    while waiting:
        group: list[str] = []
        for name in [*rng.sample(sorted(waiting), len(waiting)), *rng.sample(sorted(alone), len(alone))]:
            if len(group) < 10 and not any(alone[name].marks & alone[other].marks for other in group):
                group.append(name)
        assert len(group) == 10
        example = valid_backup(options)
        for name in group:
            INVALID_CASES[name](example)
        expected = Counter(line for name in group for line in alone[name].found)
        assert Counter(findings_by_frame(example, options)) == expected
        waiting -= set(group)


class SingleFault(NamedTuple):
    """The findings that one broken rule causes, and the names of frames and the ids related to it."""

    found: list[tuple[str, str, str]]
    marks: set[object]


def findings_by_frame(example: ExampleBackup, options: dict[str, str]) -> list[tuple[str, str, str]]:
    """List findings by the name of their frame, since frames may be added or removed before it."""
    names = ["header", *example.frames, "damaged"]
    return [
        (finding.rule.id, "whole" if finding.frame is None else names[finding.frame], finding.path)
        for finding in findings(example.records(), **options)
    ]


def break_rule(name: str, options: dict[str, str]) -> SingleFault:
    """Break one rule, and return its findings with the frames and ids that it changes, adds or reports."""
    before, example = valid_backup(options), valid_backup(options)
    try:
        INVALID_CASES[name](example)
    except (KeyError, IndexError):
        return SingleFault([], set())
    reported = findings_by_frame(example, options)
    changed = {
        frame
        for frame in {*before.frames, *example.frames}
        if before.frames.get(frame) != example.frames.get(frame)
    }
    added = [example.frames[frame] for frame in changed - set(before.frames)]
    ids = {frame.recipient.id for frame in added if frame.HasField("recipient")}
    ids |= {frame.chat.id for frame in added if frame.HasField("chat")}
    # What is written again breaks all that the first does.
    firsts = {frame.removesuffix(" again") for frame in changed}
    named = {frame for _rule, frame, _path in reported if frame != "whole"}
    return SingleFault(reported, {*changed, *firsts, *ids, *named})


def broken_stream(count: int, seed: int = 5) -> bytes:
    """Write a stream of several blocks with faults all over it."""
    rng = random.Random(seed)
    header, *frames = sample_records(count, 2)
    return stream_of([header, *(mutate(rng, raw) if rng.random() < 0.02 else raw for raw in frames)])


def test_threads_change_nothing() -> None:
    """One, two and four threads give the same findings, also for references to later ids."""
    data = broken_stream(12_000)
    assert len(data) > 1_500_000
    single_threaded = rows(validate_stream(data, threads=1))
    assert len(single_threaded) > 100
    assert rows(validate_stream(data, threads=2)) == single_threaded
    assert rows(validate_stream(data, threads=4)) == single_threaded


def test_frame_by_frame_is_the_same_as_at_once() -> None:
    """The validator for exporters reports the same findings as that for readers."""
    data = broken_stream(300)
    stream = backup.FrameStream(io.BytesIO(data))
    assert rows(findings([stream.header, *(frame.raw for frame in stream)])) == rows(validate_stream(data))


def test_a_reference_holds_from_the_frame_after_it_on() -> None:
    """A message before the frames it refers to is an error."""
    example = ExampleBackup()
    example.frames = {name: example.frames[name] for name in ("account", "me", "hello", *example.frames)}
    rules = {finding.rule.id for finding in findings(example.records())}
    assert {"chat-item.author.known", "chat-item.chat.known", "reaction.author.known"} == rules


@pytest.mark.parametrize(
    ("change", "edition", "rules"),
    [
        (combine(), Edition.SPEC, set()),
        (put("hello.chatItem.pinDetails.pinNeverExpires", True), Edition.CURRENT, {"settings.app-theme.known"}),
        (put("account.account.accountSettings.appTheme", 1), Edition.CURRENT, {"settings.call-data.known"}),
        (put("poll.chatItem.poll.question", "x" * 101), Edition.SPEC, {"poll.question.length"}),
        (
            combine(
                put("poll.chatItem.poll.question", "x" * 101),
                put("account.account.accountSettings.appTheme", 1),
                put("account.account.accountSettings.callsUseLessDataSetting", 1),
            ),
            Edition.CURRENT,
            set(),
        ),
    ],
)
def test_a_backup_is_judged_by_its_own_year(
    change: Callable[[ExampleBackup], None], edition: Edition, rules: set[str]
) -> None:
    """The edition is that of the newest field in the backup, and applies to earlier frames too."""
    example = ExampleBackup()
    example.without_additions()
    clear("account.account.platformASpecificSettings")(example)
    change(example)
    with backup.open(io.BytesIO(stream_of(example.records()))) as source:
        validation = ValidationRun(source)
        ids = {finding.rule.id for finding in validation if finding.rule.id != "pin.expiry.set"}
    assert validation.edition is edition
    assert rules <= ids
    assert bool(rules) == bool(ids)


def test_unknown_things_are_listed_and_never_wrong() -> None:
    """Unknown fields and enum values are notes with their path in every profile, and never errors."""
    example = ExampleBackup()
    put("link.recipient.callLink.restrictions", 99)(example)
    example.frames["hello"].chatItem.standardMessage.text.MergeFromString(b"\xf8\x06\x01")
    for profile in Profile:
        listed = findings(example.records(), profile=profile)
        assert {(f.rule.id, f.severity, f.path, f.detail) for f in listed} >= {
            ("schema.value.unknown", Severity.NOTE, "recipient.callLink.restrictions", "value 99"),
            ("schema.field.unknown", Severity.NOTE, "chatItem.standardMessage.text", "field 111"),
        }
        assert not any(finding.severity is Severity.ERROR for finding in listed)


def test_what_an_importer_tolerates_is_a_note() -> None:
    """What an importer skips or replaces is an error in the strict profile and a note in the import profile."""
    example = ExampleBackup()
    clear("hello.chatItem.standardMessage.text.bodyRanges.0.style")(example)
    clear("sent.chatItem.outgoing.sendStatus.0.pending")(example)
    clear("joined.chatItem.updateMessage.simpleUpdate")(example)
    example.frame("empty")
    assert {finding.severity for finding in findings(example.records())} == {Severity.ERROR}
    assert {finding.severity for finding in findings(example.records(), profile="import")} == {Severity.NOTE}
    clear("hello.chatItem.authorId")(example)
    errors = [f for f in findings(example.records(), profile="import") if f.severity is Severity.ERROR]
    assert {finding.rule.id for finding in errors} == {"chat-item.author.known"}


def test_a_stream_that_is_cut_off_is_judged_up_to_there() -> None:
    """Findings before a cut are kept, and nothing after it is reported as missing."""
    example = ExampleBackup()
    put("ada.recipient.contact.profileKey", b"x")(example)
    data = stream_of(example.records())
    judged_part = validate_stream(data[:-3])
    assert [finding.rule.id for finding in judged_part] == ["contact.profile-key.length", "stream.whole"]
    assert judged_part[-1].frame == len(example.frames)
    last = len(stream_of(example.records()[:-1]))
    assert judged_part[-1].offset == last
    assert judged_part[-1].detail == f"{len(data) - 3 - last:,} bytes skipped at byte {last:,}"
    packed = gzip.compress(stream_of(sample_records(12_000, 1)), 1)
    (damage,) = validate_stream(packed[: len(packed) * 9 // 10])
    assert damage.rule.id == "container.compression"


@pytest.mark.parametrize("threads", [1, 2])
def test_what_follows_a_senseless_length_is_judged(threads: int) -> None:
    """An unreadable gap is one finding, and only findings that it may have caused are marked."""
    example = ExampleBackup()
    put("ben.recipient.contact.profileKey", b"x")(example)
    put("call.chatItem.updateMessage.individualCall.state", 0)(example)
    records = example.records()
    index = example.number("ada")
    before = stream_of(records[:index])
    data = before + b"\xff" * 12 + records[index] + stream_of(records[index + 1 :])
    results = validate_stream(data, threads=threads)
    gap, key, *rest = results
    size = len(records[index]) + 12
    assert (gap.rule.id, gap.frame, gap.offset) == ("stream.whole", index, len(before))
    assert gap.detail == f"{size:,} bytes skipped at byte {len(before):,}"
    assert (key.rule.id, key.frame) == ("contact.profile-key.length", index)
    consequences = {finding.rule.id for finding in rest if finding.consequence}
    assert consequences >= {"chat.recipient.known", "chat-item.author.known"}
    assert {finding.rule.id for finding in results if not finding.consequence} == {
        "stream.whole",
        "contact.profile-key.length",
        "individual-call.state.known",
    }
    frames = [finding.frame for finding in results if finding.frame is not None]
    assert frames == sorted(frames)
    with start_validation(io.BytesIO(data)) as validation:
        assert list(validation) == results
        assert (validation.frames, validation.consequences) == (len(records) - 2, len(results) - 3)


def test_an_account_that_could_not_be_read_is_missing_for_that() -> None:
    """A missing account is reported as a consequence of unreadable bytes, and so is the own recipient."""
    records = ExampleBackup().records()
    results = validate_stream(stream_of(records[:1]) + b"\xff" * 12 + stream_of([b"?" * 300, *records[4:]]))
    missing = {finding.rule.id: finding.consequence for finding in results if finding.frame is None}
    assert missing == {"account.present": True, "self.present": True}


def test_json_lines_are_judged_past_what_cannot_be_read() -> None:
    """An unreadable line is a finding with its number, and later lines are checked; an array ends there."""
    example = ExampleBackup()
    put("voice.chatItem.authorId", 999)(example)
    lines = lines_of(example.records()).splitlines(keepends=True)
    index = example.number("voice")
    lines[index : index + 1] = [b'{"chatItem": {"secret\n', b"\xff\n", lines[index]]
    first, two, author = validate_stream(b"".join(lines))
    assert (first.rule.id, first.frame, first.offset, first.path) == ("stream.whole", index, None, "")
    assert (first.detail, two.detail) == (f"line {index + 1} of the file", f"line {index + 2} of the file")
    assert (author.rule.id, author.frame) == ("chat-item.author.known", index)
    records = array_of(example.records()).splitlines(keepends=True)
    records[index + 1] = b'{"nothing": 1},\n'
    *_rest, last = validate_stream(b"".join(records))
    number = index + 1
    assert (last.rule.id, last.frame, last.detail) == ("stream.whole", number, f"record {number} of the array")


def test_what_is_no_backup_is_refused() -> None:
    """An empty file is an error and not a finding."""
    with pytest.raises(UnreadableBackup):
        validate_stream(b"")


def test_every_form_is_validated() -> None:
    """A container and JSON Lines have the same findings as the stream."""
    example = ExampleBackup()
    put("voice.chatItem.authorId", 999)(example)
    expected = rows(validate_stream(stream_of(example.records())))
    assert rows(list(validate(io.BytesIO(container_of(example.records())), KEYS))) == expected
    assert [row[:3] for row in rows(validate_stream(lines_of(example.records())))] == [row[:3] for row in expected]


def test_many_findings_wait_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """More findings than are held in memory are returned in order once the edition is known."""
    monkeypatch.setattr(validator, "MAX_HELD", 10)
    header, *frames = sample_records(100, 1, edition="spec")
    data = stream_of([header, *frames, *([b"\x22\x00"] * 200)])
    results = validate_stream(data, edition="auto")
    frames_found = [finding.frame for finding in results if finding.rule.id == "chat-item.item.set"]
    assert frames_found == list(range(len(frames) + 1, len(frames) + 201))
    held = HeldFindings()
    assert list(held.drain()) == []


def test_gift_badges_wait_on_disk_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Valid gift badges beyond the limit of held findings give no finding."""
    monkeypatch.setattr(validator, "MAX_HELD", 1)
    example = ExampleBackup()
    example.without_additions()
    badge = example.frames["badge"].SerializeToString()
    assert validate_stream(stream_of([*example.records(), *[badge] * 3]), edition="auto") == []


def test_a_frame_with_a_field_twice_is_judged_as_protobuf_reads_it() -> None:
    """Of a duplicate field the last value is checked, as in protobuf."""
    example = ExampleBackup()
    hello = example.frames["hello"].chatItem.SerializeToString()
    doubled = b"\x10\x63" + hello  # an author nobody knows, and then the right one
    records = [*example.records(), b"\x22" + encode_varint(len(doubled)) + doubled]
    assert findings(records) == []
    after = hello + b"\x10\x63"
    results = findings([*example.records(), b"\x22" + encode_varint(len(after)) + after])
    assert {finding.rule.id for finding in results} == {"chat-item.author.known", "revision.author"}
    two_records = example.frames["voice"].SerializeToString() + example.frames["pack"].SerializeToString()
    results = findings([*example.records(), two_records])
    assert [finding.rule.id for finding in results] == ["sticker-pack.id.unique"]


@settings(max_examples=examples(150))
@given(seed=st.integers(0, 1 << 32))
def test_hostile_frames_are_judged_and_nothing_leaks(seed: int) -> None:
    """A mutated frame causes no exception, and no finding has content of the backup."""
    rng = random.Random(seed)
    example = ExampleBackup()
    example.frames["hello"].chatItem.standardMessage.text.body = "Geheimnis4711"
    example.frames["ada"].recipient.contact.note = "Geheimnis4711"
    example.frames["ada"].recipient.contact.e164 = 4915112345678
    header, *frames = example.records()
    offset = rng.randrange(len(frames))
    frames[offset] = mutate(rng, frames[offset])
    for finding in findings([header, *frames]):
        text = f"{finding} {finding.path} {finding.detail} {finding.problem}"
        assert "Geheimnis" not in text
        assert "4711" not in text
        assert "49151" not in text
        assert "b'" not in text


def test_a_header_that_cannot_be_read_is_a_finding() -> None:
    """An unreadable header is a finding of the validator for exporters."""
    broken = Validator(b"\xff", edition="spec")
    assert broken.finish()[0].rule.id == "frame.readable"


def test_memory_does_not_grow_with_messages() -> None:
    """The table of recipients does not grow with the number of messages."""
    example = ExampleBackup()
    checking = Validator(example.header.SerializeToString())
    for raw in example.records()[1:]:
        checking.check(raw)
    capacity = checking.state.reference_tables().recipients.room()
    message = example.frames["voice"].SerializeToString()
    for _ in range(2000):
        assert checking.check(message) == []
    assert checking.state.reference_tables().recipients.room() == capacity


def test_valid_says_so_only_without_errors(tmp_path: Path) -> None:
    """A warning is counted, and the backup is still valid."""
    example = ExampleBackup()
    clear("hello.chatItem.dateSent")(example)
    path = tmp_path / "a.binproto"
    path.write_bytes(stream_of(example.records()))
    with backup.open(path) as source:
        validation = ValidationRun(source, threads=1)
        list(validation)
    assert validation.valid
    assert validation.counts == {Severity.WARNING: 1}


@pytest.mark.parametrize("many", [1, 15, 16, 17, 1000])
def test_empty_frames_in_a_row_are_skipped_by_an_importer(many: int) -> None:
    """Each empty frame is a note in the import profile, and none is an error."""
    records = sample(60)
    data = stream_of(records[:50]) + bytes(many) + stream_of(records[50:])
    results = list(validate(io.BytesIO(data), profile="import"))
    assert [finding.severity for finding in results if finding.rule.id == "frame.item.set"] == ["note"] * many
    assert not any(finding.severity == "error" for finding in results)
