"""What the core writes becomes findings that point at a place and say nothing of what stands there."""

from holdfast.backup.rules import Edition, Profile
from holdfast.backup.rules.checks import SLOT_BY_NAME
from holdfast.backup.rules.raw_findings import Explainer, RawFinding
from holdfast.backup.rules.registry import rule_named
from holdfast.backup.wire import tables
from tests.backup.rules.example_backup import ExampleBackup, findings
from tests.backup.rules.invalid_cases import put


def test_a_path_leads_to_the_field() -> None:
    """With the element of each list on the way."""
    example = ExampleBackup()
    example.frames["hello"].chatItem.standardMessage.attachments.add().pointer.locatorInfo.key = b"key"
    (finding,) = findings(example.records())
    assert finding.path == "chatItem.standardMessage.attachments[1].pointer.locatorInfo"
    assert finding.frame == example.number("hello")
    assert finding.problem == "The file has neither a hash nor a digest."


def test_the_offset_is_that_of_the_record() -> None:
    """Where its length begins in the plain stream."""
    example = ExampleBackup()
    put("voice.chatItem.authorId", 999)(example)
    (finding,) = findings(example.records())
    before = example.records()[: example.number("voice")]
    assert finding.offset == sum(len(raw) + (1 if len(raw) < 128 else 2) for raw in before)


def test_a_length_is_told_but_no_content() -> None:
    """Numbers of the format help; what somebody wrote stays where it is."""
    example = ExampleBackup()
    put("pack.stickerPack.packKey", b"secret")(example)
    (finding,) = findings(example.records())
    assert finding.detail == "6 bytes"


def test_warnings_about_dates_are_not_repeated_for_ever() -> None:
    """Five of each kind for each field."""
    muted = bytearray(tables.SLOTS)
    explainer = Explainer(Profile.STRICT, muted)
    slot = SLOT_BY_NAME["ChatItem.dateSent"]
    raw = RawFinding(1, 0, rule_named("date.zero").number, 0, slot, "chatItem.dateSent")
    assert [explainer.keep(raw) for _ in range(7)] == [True] * 5 + [False] * 2
    assert muted[slot] == 1
    finding = explainer.explain(raw, Edition.SPEC)
    assert finding is not None
    assert finding.severity == "warning"
