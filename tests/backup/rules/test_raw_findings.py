"""Raw findings of the core become findings with a location and without content."""

from array import array

import pytest

from holdfast.backup.rules import Edition, Profile
from holdfast.backup.rules.checks import SLOT_BY_NAME
from holdfast.backup.rules.raw_findings import (
    CROWDED,
    LENGTHS,
    LIMITS,
    MEASURES,
    READABLE,
    UNKNOWN_FIELD,
    UNKNOWN_VALUE,
    WHOLE,
    Explainer,
    RawFinding,
    detail,
    is_allowed,
    read_findings,
)
from holdfast.backup.rules.registry import rule_named, rule_numbered
from holdfast.backup.rules.rule import Breach
from holdfast.backup.wire import tables
from tests.backup.rules.example_backup import ExampleBackup, findings
from tests.backup.rules.invalid_cases import put


def test_a_path_leads_to_the_field() -> None:
    """The path of a finding has the index of the element in each list."""
    example = ExampleBackup()
    example.frames["hello"].chatItem.standardMessage.attachments.add().pointer.locatorInfo.key = b"key"
    (finding,) = findings(example.records())
    assert finding.path == "chatItem.standardMessage.attachments[1].pointer.locatorInfo"
    assert finding.frame == example.number("hello")
    assert finding.problem == "The file has neither a hash nor a digest."


def test_the_offset_is_that_of_the_record() -> None:
    """The offset of a finding is that of the length prefix of its record in the plain stream."""
    example = ExampleBackup()
    put("voice.chatItem.authorId", 999)(example)
    (finding,) = findings(example.records())
    before = example.records()[: example.number("voice")]
    assert finding.offset == sum(len(raw) + (1 if len(raw) < 128 else 2) for raw in before)


def test_a_length_is_told_but_no_content() -> None:
    """The detail of a finding has the length of a value and not its content."""
    example = ExampleBackup()
    put("pack.stickerPack.packKey", b"secret")(example)
    (finding,) = findings(example.records())
    assert finding.detail == "6 bytes"


def test_warnings_about_dates_are_not_repeated_for_ever() -> None:
    """A warning about a date is repeated five times at most for each field."""
    muted = bytearray(tables.SLOTS)
    explainer = Explainer(Profile.STRICT, muted)
    slot = SLOT_BY_NAME["ChatItem.dateSent"]
    raw = RawFinding(1, 0, rule_named("date.zero").number, 0, slot, "chatItem.dateSent")
    assert [explainer.keep(raw) for _ in range(4)] == [True] * 4
    assert muted[slot] == 0
    assert [explainer.keep(raw) for _ in range(3)] == [True, False, False]
    assert muted[slot] == 1
    assert explainer.keep(raw._replace(slot=SLOT_BY_NAME["ChatItem.expireStartDate"]))
    assert explainer.keep(raw._replace(rule=READABLE))
    finding = explainer.explain(raw, Edition.SPEC)
    assert finding is not None
    assert finding.severity == "warning"


def raw_of(rule: int, extra: int = 0, path: str = "") -> RawFinding:
    """Make a raw finding in the third frame, at byte 1,200."""
    return RawFinding(3, 1200, rule, extra, 0, path)


@pytest.mark.parametrize(
    ("rule", "extra", "text"),
    [
        (CROWDED, 2468, "1,234 more"),
        (CROWDED, 7, "3 more"),
        (WHOLE, 0, ""),
        (WHOLE, 1, "1 byte skipped at byte 1,200"),
        (WHOLE, 4096, "4,096 bytes skipped at byte 1,200"),
        (UNKNOWN_FIELD, 12, "field 12"),
        (UNKNOWN_VALUE, 5, "value 5"),
        (UNKNOWN_VALUE, 2**31 - 1, "value 2147483647"),
        (UNKNOWN_VALUE, 2**31, "value -2147483648"),
        (UNKNOWN_VALUE, 2**32 - 1, "value -1"),
        (READABLE, 9, ""),
    ],
)
def test_a_number_that_helps_is_told(rule: int, extra: int, text: str) -> None:
    """The detail has the count, length or value that the rule is about."""
    assert detail(raw_of(rule, extra), rule_numbered(rule).breach) == text


def test_a_measured_size_has_its_unit() -> None:
    """The detail of a measured size has its unit, and is empty for a rule without a unit."""
    for number in MEASURES:
        unit = LIMITS[number].unit
        assert detail(raw_of(number, 7), Breach.FORMAT) == (f"7 {unit}" if unit else "")
    assert {bool(LIMITS[number].unit) for number in MEASURES} >= {True}


def test_a_length_is_told_only_where_one_is_wrong() -> None:
    """A length is in the detail only for a wrong length; the core adds one, so 0 means no value."""
    number = min(LENGTHS - LIMITS.keys())
    assert detail(raw_of(number, 17), Breach.FORMAT) == "16 bytes"
    assert detail(raw_of(number, 0), Breach.FORMAT) == ""
    assert detail(raw_of(number, 17), Breach.REFERENCE) == ""
    assert detail(raw_of(READABLE, 17), Breach.FORMAT) == ""


def test_an_edition_allows_what_another_refuses() -> None:
    """An edition allows what is within its limit, and a rule without a limit is never allowed to be broken."""
    assert is_allowed(raw_of(READABLE), Edition.SPEC) is False
    for number, limit in LIMITS.items():
        for edition in Edition:
            size = 3
            extra = size if limit.measure else size + 1
            assert is_allowed(raw_of(number, extra), edition) == limit.allows(size, edition)


def test_what_breaks_after_a_record_was_lost_may_come_of_that() -> None:
    """A finding is marked as a consequence if its rule needs another record and one was unreadable."""
    explainer = Explainer(Profile.STRICT, bytearray(tables.SLOTS))
    missing = raw_of(rule_named("account.first").number)

    def consequence(raw: RawFinding) -> bool:
        finding = explainer.explain(raw, Edition.SPEC)
        assert finding is not None
        assert (finding.frame, finding.offset) == (3, 1200)
        return finding.consequence

    assert (consequence(missing), explainer.lost) == (False, False)
    assert (consequence(raw_of(READABLE)), explainer.lost) == (False, True)
    assert consequence(missing)
    assert not consequence(raw_of(UNKNOWN_FIELD))
    assert explainer.lost


def test_the_end_of_a_stream_says_why_it_cannot_be_read() -> None:
    """A finding about the end of a stream has the reason as its detail, and one about a gap its offset."""
    explainer = Explainer(Profile.STRICT, bytearray(tables.SLOTS))
    reason = explainer.explain(raw_of(WHOLE, path="the file ends inside a frame"), Edition.SPEC)
    assert reason is not None
    assert (reason.offset, reason.path, reason.detail) == (None, "", "the file ends inside a frame")
    gap = explainer.explain(raw_of(WHOLE, 2), Edition.SPEC)
    assert gap is not None
    assert (gap.offset, gap.path, gap.detail) == (1200, "", "2 bytes skipped at byte 1,200")
    assert explainer.lost


def test_a_crowded_frame_is_as_bad_as_what_it_hides() -> None:
    """A crowded frame is an error if its lowest bit says that an error was not listed."""
    explainer = Explainer(Profile.STRICT, bytearray(tables.SLOTS))
    explained = [explainer.explain(raw_of(CROWDED, extra), Edition.SPEC) for extra in (7, 6)]
    assert [finding and finding.severity for finding in explained] == ["error", "note"]


def test_a_page_of_the_core_is_read_to_its_end() -> None:
    """All findings of a page are read, each with its path and the field at its end."""
    sent, text = SLOT_BY_NAME["ChatItem.dateSent"], SLOT_BY_NAME["Text.body"]
    rule = rule_named("date.zero").number
    page = array("Q", [7, rule, 1, 20, 0, 0, 0])
    page.extend([9, rule, 2, 30, 5, 0, 0, sent << 32, text << 32 | 3])
    assert list(read_findings(page.tobytes(), b"")) == [
        RawFinding(1, 20, rule, 0, 0, ""),
        RawFinding(2, 30, rule, 5, text, "dateSent.body[2]"),
    ]
