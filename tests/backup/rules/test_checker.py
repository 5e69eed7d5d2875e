"""The compiled and the interpreted checker report the same findings for any input."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from holdfast.backup.rules.backup_state import BackupState
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.id_table import IdTable
from holdfast.backup.rules.raw_findings import read_findings
from holdfast.backup.rules.registry import error_mask
from holdfast.backup.rules.rule import Profile, Purpose
from holdfast.backup.schema import Frame, backup_pb2
from holdfast.backup.wire import Block, tables
from holdfast.backup.wire.faults import CUT
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import INVALID_CASES
from tests.backup.streams import sample, stream_of
from tests.backup.wire.core import Core, installed, interpreted
from tests.backup.wire.encoding import delimited, nested_items, number, tag, varint
from tests.backup.wire.mutations import mutate
from tests.backup.wire.whole_streams import damage_stream, validate_with

CAP = 1 << 28


def check_pages(core: Core, frames: list[bytes]) -> list[tuple[bytes, int]]:
    """Check frames one by one with a table of nine known recipients."""
    references = BackupState(Purpose.REMOTE, error_mask(Profile.STRICT), spec_only=False).reference_tables()
    recipients = recipient_table(core)
    checker = core.new_checker()
    checker.bind(replace(references, recipients=recipients, chats=recipients, colors=recipients))
    results = []
    for raw in frames:
        fault, _at = checker.record(raw, tables.FRAME, 0, 1000)
        results.append((checker.take_findings(), fault))
    return results


def recipient_table(core: Core) -> IdTable:
    """Return an id table of the given core with nine recipients."""
    table: IdTable = core.id_table.IdTable()
    for key in range(1, 10):
        table.add(key, 15, 1, key)
    return table


def damaged_frames() -> Iterator[bytes]:
    """Yield frames as they are, broken, and mutated."""
    rng = random.Random(7)
    originals = ExampleBackup().records()[1:]
    for apply in INVALID_CASES.values():
        example = ExampleBackup()
        apply(example)
        yield from (raw for raw in example.records()[1:] if raw not in originals and len(raw) < 10_000)
    for _ in range(3000):
        yield mutate(rng, rng.choice(originals))


def test_compiled_and_interpreted_find_the_same() -> None:
    """Both cores write the same pages for valid, broken and mutated frames."""
    frames = list(damaged_frames())
    assert check_pages(installed(), frames) == check_pages(interpreted(), frames)


@pytest.mark.parametrize("profile", ["strict", "import"])
@pytest.mark.parametrize("edition", ["spec", "current", "auto"])
def test_compiled_and_interpreted_judge_whole_streams_alike(edition: str, profile: str) -> None:
    """Both cores give the same findings in the same order for valid and damaged streams."""
    rng = random.Random(11)
    histories = (
        ExampleBackup().records(),
        sample(80),
        [mutate(rng, raw) if rng.random() < 0.1 else raw for raw in sample(80)],
    )
    streams = [stream_of(records) for records in histories]
    streams += [damage_stream(streams[number % 2], number, 1 + number % 4) for number in range(6)]
    compiled, plain = installed(), interpreted()
    total = 0
    for data in streams:
        rows = validate_with(compiled, data, edition=edition, profile=profile)
        assert rows == validate_with(plain, data, edition=edition, profile=profile)
        total += len(rows) - 1
    assert total > 20


def test_a_fault_leaves_no_findings(core: Core) -> None:
    """A frame that cannot be parsed to its end has a fault and no findings."""
    for raw in (b"\x22\x01", nested_items(101), delimited(4, delimited(11, delimited(2, delimited(1, b"\xff"))))):
        ((page, fault),) = check_pages(core, [raw])
        assert page == b""
        assert fault


@pytest.mark.parametrize(
    "raw",
    [
        delimited(4, number(1, 5) + number(1, 6)),
        delimited(4, delimited(8, b"") + delimited(9, b"")),
        delimited(4, b"") + delimited(2, b""),
    ],
)
def test_what_stands_twice_is_given_back(core: Core, raw: bytes) -> None:
    """A frame with a field written twice is returned as TANGLED, since only protobuf can merge it."""
    assert check_pages(core, [raw]) == [(b"", core.checker.TANGLED)]


def check_other_frames(checker: Checker, data: bytes) -> list[tuple[int, int, int, int, int]]:
    """Check the frames of a buffer that are not plain messages."""
    checker.reset(data, 0, 1)
    frames = []
    while (other := checker.next_other(CAP)) is not None:
        frames.append(other)
    return frames


def test_only_plain_messages_are_left_to_threads(core: Core) -> None:
    """All frames but chat items are returned with index and position."""
    records = sample()
    data = stream_of(records[1:])
    frames = check_other_frames(core.new_checker(), data)
    expected = [
        index for index, raw in enumerate(records[1:], 1) if Frame.FromString(raw).WhichOneof("item") != "chatItem"
    ]
    assert [index for index, *_span in frames] == expected
    assert [data[start:end] for _index, _begin, start, end, _fault in frames] == [
        records[index] for index in expected
    ]
    assert not any(fault for *_span, fault in frames)
    assert Block(1, 0, data).count == len(records) - 1


def test_another_frame_is_checked_where_it_stands(core: Core) -> None:
    """Findings of frames that are not messages have index and offset, and a fault does not stop the check."""
    message, chat, cut = delimited(4, b""), delimited(3, number(1, 5)), b"\x1a\x05"
    data = stream_of([message, chat, cut, chat])
    checker = core.new_checker()
    frames = [(index, data[start:end]) for index, _begin, start, end, _fault in check_other_frames(checker, data)]
    assert frames == [(2, chat), (3, cut), (4, chat)]
    findings = list(read_findings(checker.take_findings(), data))
    assert {raw.frame for raw in findings} == {2, 4}
    assert {data[raw.offset : raw.offset + 1 + len(chat)] for raw in findings} == {stream_of([chat])}
    assert [fault for *_span, fault in check_other_frames(checker, data)] == [0, CUT, 0]


def test_a_fault_hides_what_was_added_to_the_format(core: Core) -> None:
    """Fields of a frame with a fault do not decide the edition, and fields of earlier frames do."""
    frame = Frame()
    frame.recipient.contact.blockedAtTimestamp = 1
    added = frame.SerializeToString()
    tangled = added + delimited(3, b"")
    checker = core.new_checker()
    assert [fault for *_span, fault in check_other_frames(checker, stream_of([tangled]))] == [core.checker.TANGLED]
    assert not checker.met_additions()
    check_other_frames(checker, stream_of([added, tangled]))
    assert checker.met_additions()


@pytest.mark.parametrize("padding", range(10))
@pytest.mark.parametrize("missing", range(1, 6))
def test_a_date_never_reaches_beyond_the_end_of_its_message(core: Core, missing: int, padding: int) -> None:
    """A truncated date is a fault although the bytes after its message would complete it."""
    date = tag(3, 0) + varint(1_700_000_000_000)
    complete = delimited(4, date) + delimited(9999, b"x" * padding)
    cut = delimited(4, date[:-missing]) + delimited(9999, varint(1_700_000_000_000) + b"x" * padding)
    assert [fault for _page, fault in check_pages(core, [complete, cut])] == [0, CUT]


def test_a_page_that_is_full_is_taken_and_checking_goes_on(core: Core) -> None:
    """No finding is lost if the findings fill several pages."""
    invalid = delimited(4, b"")
    data = stream_of([invalid] * 5000)
    checker = core.new_checker()
    checker.reset(data, 0, 1)
    other_frames: list[tuple[int, int, int, int, int]] = []
    pages_taken = []
    going = True
    while going:
        going = checker.run(CAP, other_frames)
        pages_taken.append(checker.take_findings())
    assert len(pages_taken) > 1
    ((page, _fault),) = check_pages(core, [invalid])
    assert sum(map(len, pages_taken)) == 5000 * len(page)
    assert other_frames == []


def found_at(core: Core, records: list[bytes]) -> set[tuple[object, object, object]]:
    """Return rule, frame and path of the findings of a backup for an importer."""
    rows = validate_with(core, stream_of(records), profile="import", edition="current")
    return {(rule, frame, path) for rule, _severity, frame, _offset, path, _detail in rows[:-1]}


def test_a_group_is_not_judged_by_the_access_levels_of_another(core: Core) -> None:
    """A group without a snapshot, or without access levels, has no findings about them after a group with some."""
    example = ExampleBackup()
    access = example.frames["club"].recipient.group.snapshot.accessControl
    access.ClearField("attributes")
    access.ClearField("memberLabel")
    other = Frame(recipient=backup_pb2.Recipient(id=99))
    other.recipient.group.masterKey = b"o" * 32
    third = Frame()
    third.CopyFrom(example.frames["club"])
    third.recipient.id = 98
    third.recipient.group.masterKey = b"t" * 32
    third.recipient.group.snapshot.ClearField("accessControl")
    records = example.records()
    club = example.number("club")
    records[club + 1 : club + 1] = [other.SerializeToString(), third.SerializeToString()]
    access_rules = {row[:2] for row in found_at(core, records) if str(row[0]).startswith("group.access")}
    assert access_rules == {("group.access.known", club), ("group.access.label-known", club)}


def test_identifiers_are_read_from_the_last_of_two_records(core: Core) -> None:
    """In a frame with two recipients, the identifiers of the second are compared with those of other contacts."""
    example = ExampleBackup()
    ada = example.frames["ada"].recipient.contact
    first = Frame(recipient=backup_pb2.Recipient(id=98, contact=backup_pb2.Contact(aci=ada.aci)))
    second = Frame(
        recipient=backup_pb2.Recipient(id=99, contact=backup_pb2.Contact(username=ada.username.upper()))
    )
    tangled = first.SerializeToString() + second.SerializeToString()
    records = example.records()
    place = example.number("ada") + 1
    records.insert(place, tangled)
    unique = {row for row in found_at(core, records) if str(row[0]).endswith(".unique")}
    assert unique == {("recipient.username.unique", place, "recipient.contact.username")}
