"""A backup is validated whole or frame by frame, by one thread or several, and the findings are the same."""

import gzip
import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import backup
from holdfast.backup.errors import UnreadableBackup
from holdfast.backup.rules import Edition, Finding, Profile, Severity, Validation, Validator, validate, validator
from holdfast.backup.rules.validator import Held
from holdfast.backup.sample import sample_records
from holdfast.backup.wire.varint import encode_varint
from tests.backup.rules.breakers import BREAKERS, both, drop, put
from tests.backup.rules.world import World, findings
from tests.backup.streams import KEYS, container_of, lines_of, stream_of
from tests.backup.wire.mutations import mutate


def told(found: list[Finding]) -> list[tuple[str, str, int | None, int | None, str, str]]:
    """Write findings down for comparing."""
    return [(f.rule.id, f.severity, f.frame, f.offset, f.path, f.detail) for f in found]


def whole(data: bytes, **how: object) -> list[Finding]:
    """Validate a stream at once."""
    return list(validate(io.BytesIO(data), **how))  # type: ignore[arg-type]


@pytest.mark.parametrize("edition", ["spec", "current"])
def test_a_made_up_history_is_valid(edition: str) -> None:
    """Under every rule, in the edition it was made for, which is told by what it holds."""
    records = list(sample_records(400, 3, edition=edition))  # type: ignore[arg-type]
    with backup.open(io.BytesIO(stream_of(records))) as source:
        validation = Validation(source)
        assert list(validation) == []
    assert validation.valid
    assert (validation.edition, validation.frames) == (Edition(edition), len(records) - 1)


def test_ten_faults_are_ten_findings() -> None:
    """Each is found, none twice, in the order of the file."""
    world = World()
    names = [
        *("account.profile-key.length", "contact.nickname.empty", "group.member.role"),
        *("chat.expiration-timer.version", "sticker-pack.key.length", "notification-profile.day.unique"),
        *("reaction.emoji", "quote.type.known", "contact-card.value.empty", "individual-call.type.known"),
    ]
    for name in names:
        BREAKERS[name](world)
    found = findings(world.records())
    assert sorted(finding.rule.id for finding in found) == sorted(names)
    frames = [finding.frame or 0 for finding in found]
    assert frames == sorted(frames)
    assert told(whole(stream_of(world.records()))) == told(found)


def broken_stream(count: int, seed: int = 5) -> bytes:
    """Write a stream of several blocks with faults all over it."""
    rng = random.Random(seed)
    header, *frames = sample_records(count, 2)
    return stream_of([header, *(mutate(rng, raw) if rng.random() < 0.02 else raw for raw in frames)])


def test_threads_change_nothing() -> None:
    """Ids that come late are unknown to what stands before them, however many blocks are read ahead."""
    data = broken_stream(12_000)
    assert len(data) > 1_500_000
    one = told(whole(data, threads=1))
    assert len(one) > 100
    assert told(whole(data, threads=2)) == one
    assert told(whole(data, threads=4)) == one


def test_frame_by_frame_is_the_same_as_at_once() -> None:
    """An exporter that checks as it writes is told what a reader would be."""
    data = broken_stream(300)
    stream = backup.FrameStream(io.BytesIO(data))
    assert told(findings([stream.header, *(frame.raw for frame in stream)])) == told(whole(data))


def test_a_reference_holds_from_the_frame_after_it_on() -> None:
    """Rule 2 of the specification: what is referred to comes first."""
    world = World()
    world.frames = {name: world.frames[name] for name in ("account", "me", "hello", *world.frames)}
    rules = {finding.rule.id for finding in findings(world.records())}
    assert {"chat-item.author.known", "chat-item.chat.known", "reaction.author.known"} == rules


@pytest.mark.parametrize(
    ("change", "edition", "rules"),
    [
        (both(), Edition.SPEC, set()),
        (put("hello.chatItem.pinDetails.pinNeverExpires", True), Edition.CURRENT, {"settings.app-theme.known"}),
        (put("account.account.accountSettings.appTheme", 1), Edition.CURRENT, {"settings.call-data.known"}),
        (put("poll.chatItem.poll.question", "x" * 101), Edition.SPEC, {"poll.question.length"}),
        (
            both(
                put("poll.chatItem.poll.question", "x" * 101),
                put("account.account.accountSettings.appTheme", 1),
                put("account.account.accountSettings.callsUseLessDataSetting", 1),
            ),
            Edition.CURRENT,
            set(),
        ),
    ],
)
def test_a_backup_is_judged_by_its_own_year(change: object, edition: Edition, rules: set[str]) -> None:
    """What it holds tells the edition, wherever it stands, also for what came before."""
    world = World()
    world.without_news()
    drop("account.account.platformASpecificSettings")(world)
    change(world)  # type: ignore[operator]
    with backup.open(io.BytesIO(stream_of(world.records()))) as source:
        validation = Validation(source)
        found = {finding.rule.id for finding in validation if finding.rule.id != "pin.expiry.set"}
    assert validation.edition is edition
    assert rules <= found
    assert bool(rules) == bool(found)


def test_unknown_things_are_listed_and_never_wrong() -> None:
    """A field and a value that nobody knows, each with its path."""
    world = World()
    put("link.recipient.callLink.restrictions", 99)(world)
    world.frames["hello"].chatItem.standardMessage.text.MergeFromString(b"\xf8\x06\x01")
    for profile in Profile:
        found = findings(world.records(), profile=profile)
        assert {(f.rule.id, f.severity, f.path, f.detail) for f in found} >= {
            ("schema.value.unknown", Severity.NOTE, "recipient.callLink.restrictions", "value 99"),
            ("schema.field.unknown", Severity.NOTE, "chatItem.standardMessage.text", "field 111"),
        }
        assert not any(finding.severity is Severity.ERROR for finding in found)


def test_what_an_importer_tolerates_is_a_note() -> None:
    """Part 7 of the specification: skipped, ignored and defaulted things make no backup invalid."""
    world = World()
    drop("hello.chatItem.standardMessage.text.bodyRanges.0.style")(world)
    drop("sent.chatItem.outgoing.sendStatus.0.pending")(world)
    drop("joined.chatItem.updateMessage.simpleUpdate")(world)
    world.frame("empty")
    assert {finding.severity for finding in findings(world.records())} == {Severity.ERROR}
    assert {finding.severity for finding in findings(world.records(), profile="import")} == {Severity.NOTE}
    drop("hello.chatItem.authorId")(world)
    errors = [f for f in findings(world.records(), profile="import") if f.severity is Severity.ERROR]
    assert {finding.rule.id for finding in errors} == {"chat-item.author.known"}


def test_a_stream_that_is_cut_off_is_judged_up_to_there() -> None:
    """What was found before stands, and nothing is said to be missing that may only be lost."""
    world = World()
    put("ada.recipient.contact.profileKey", b"x")(world)
    data = stream_of(world.records())
    found = whole(data[:-3])
    assert [finding.rule.id for finding in found] == ["contact.profile-key.length", "stream.whole"]
    assert found[-1].frame == len(world.frames)
    packed = gzip.compress(stream_of(sample_records(12_000, 1)), 1)
    (damage,) = whole(packed[: len(packed) * 9 // 10])
    assert damage.rule.id == "container.compression"


def test_what_is_no_backup_is_refused() -> None:
    """An error, not a finding: there is nothing to judge."""
    with pytest.raises(UnreadableBackup):
        whole(b"")


def test_every_form_is_validated() -> None:
    """Encrypted or as JSON, the findings are the same."""
    world = World()
    put("voice.chatItem.authorId", 999)(world)
    expected = told(whole(stream_of(world.records())))
    assert told(list(validate(io.BytesIO(container_of(world.records())), KEYS))) == expected
    assert [row[:3] for row in told(whole(lines_of(world.records())))] == [row[:3] for row in expected]


def test_many_findings_wait_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the edition is not known they are kept, in order, without filling the memory."""
    monkeypatch.setattr(validator, "MOST_HELD", 10)
    header, *frames = sample_records(100, 1, edition="spec")
    data = stream_of([header, *frames, *([b"\x22\x00"] * 200)])
    found = whole(data, edition="auto")
    frames_found = [finding.frame for finding in found if finding.rule.id == "chat-item.item.set"]
    assert frames_found == list(range(len(frames) + 1, len(frames) + 201))
    held = Held()
    assert list(held.drain()) == []


def test_a_frame_with_a_field_twice_is_judged_as_protobuf_reads_it() -> None:
    """The last one counts, in a message as anywhere."""
    world = World()
    hello = world.frames["hello"].chatItem.SerializeToString()
    twice = b"\x10\x63" + hello  # an author nobody knows, and then the right one
    good = [*world.records(), b"\x22" + encode_varint(len(twice)) + twice]
    assert findings(good) == []
    after = hello + b"\x10\x63"
    found = findings([*world.records(), b"\x22" + encode_varint(len(after)) + after])
    assert {finding.rule.id for finding in found} == {"chat-item.author.known", "revision.author"}
    two_records = world.frames["voice"].SerializeToString() + world.frames["pack"].SerializeToString()
    found = findings([*world.records(), two_records])
    assert [finding.rule.id for finding in found] == ["sticker-pack.id.unique"]


@settings(max_examples=150)
@given(seed=st.integers(0, 1 << 32))
def test_hostile_frames_are_judged_and_nothing_leaks(seed: int) -> None:
    """No mutation brings the validator down, and no finding holds a text, a name, a number or a key."""
    rng = random.Random(seed)
    world = World()
    world.frames["hello"].chatItem.standardMessage.text.body = "Geheimnis4711"
    world.frames["ada"].recipient.contact.note = "Geheimnis4711"
    world.frames["ada"].recipient.contact.e164 = 4915112345678
    header, *frames = world.records()
    at = rng.randrange(len(frames))
    frames[at] = mutate(rng, frames[at])
    for finding in findings([header, *frames]):
        text = f"{finding} {finding.path} {finding.detail} {finding.problem}"
        assert "Geheimnis" not in text
        assert "4711" not in text
        assert "49151" not in text
        assert "b'" not in text


def test_a_header_that_cannot_be_read_is_a_finding() -> None:
    """For an exporter; a file with such a header is not opened at all."""
    broken = Validator(b"\xff", edition="spec")
    assert broken.finish()[0].rule.id == "frame.readable"


def test_memory_does_not_grow_with_messages() -> None:
    """A roll of people stays as it is while messages pass."""
    world = World()
    checking = Validator(world.header.SerializeToString())
    for raw in world.records()[1:]:
        checking.check(raw)
    room = checking.ledger.desk().people.room()
    message = world.frames["voice"].SerializeToString()
    for _ in range(2000):
        assert checking.check(message) == []
    assert checking.ledger.desk().people.room() == room


def test_valid_says_so_only_without_errors(tmp_path: Path) -> None:
    """Warnings and notes are counted, and make nothing invalid."""
    world = World()
    drop("hello.chatItem.dateSent")(world)
    path = tmp_path / "a.binproto"
    path.write_bytes(stream_of(world.records()))
    with backup.open(path) as source:
        validation = Validation(source, threads=1)
        list(validation)
    assert validation.valid
    assert validation.counts == {Severity.WARNING: 1}
