"""Every rule has a valid and an invalid case, and a readable description."""

import re

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from holdfast.backup.rules import RULES, Finding, Profile, Severity
from holdfast.backup.rules import rule_numbers as numbers
from holdfast.backup.rules.backup_state import BackupState
from holdfast.backup.rules.check_tables import CheckTables
from holdfast.backup.rules.checker import Checker
from holdfast.backup.rules.checks import ADDITIONS, SLOT_BY_NAME, CheckRole, required
from holdfast.backup.rules.registry import FAMILIES, error_mask, rule_named, rule_numbered
from holdfast.backup.rules.rule import Purpose
from holdfast.backup.schema import BackupInfo, Frame, backup_pb2
from holdfast.backup.wire import tables
from holdfast.backup.wire.collect import name_of
from tests.backup.rules.example_backup import ExampleBackup, findings, valid_backup
from tests.backup.rules.invalid_cases import ALSO, INVALID_CASES, OPTIONS

# Rules that a stream of frames cannot break, and where they are tested.
ELSEWHERE = {
    "stream.whole": "test_validator.py",
    **{rule.id: "test_files.py" for rule in FAMILIES["media"]},
    **{rule.id: "test_container.py" for rule in FAMILIES["container"]},
}
SENTENCE = re.compile(r"[A-Z].*[^.]\.")


def points_at_its_fields(finding: Finding) -> bool:
    """Return whether the path of a finding is a field of its rule, or a message that contains one."""
    if not finding.path or not finding.rule.fields:
        return True
    message: Descriptor | None = Frame.DESCRIPTOR if finding.frame else BackupInfo.DESCRIPTOR
    names: set[str] = set()
    for step in finding.path.split("."):
        assert message is not None
        field = message.fields_by_name[step.partition("[")[0]]
        names = {name_of(field)}
        if field.containing_oneof is not None:
            names.add(f"{name_of(field).rpartition('.')[0]}.{field.containing_oneof.name}")
        message = field.message_type
    if message is not None:
        names |= {name_of(field) for inner in tables.reach(message) for field in inner.fields}
        names |= {
            f"{name_of(inner.fields[0]).rpartition('.')[0]}.{oneof}"
            for inner in tables.reach(message)
            for oneof in inner.oneofs_by_name
        }
    return bool(names & set(finding.rule.fields))


def test_every_rule_has_a_test_that_breaks_it() -> None:
    """Every rule has a case that breaks it."""
    assert {rule.id for rule in RULES} == set(INVALID_CASES) | set(ELSEWHERE)


@pytest.mark.parametrize("name", INVALID_CASES)
def test_a_rule_is_kept_and_broken(name: str) -> None:
    """The valid example has no findings, and one change breaks this rule and no other."""
    options = OPTIONS.get(name, {})
    example = valid_backup(options)
    assert findings(example.records(), **options) == []
    INVALID_CASES[name](example)
    found_rules = findings(example.records(), **options)
    assert {finding.rule.id for finding in found_rules} == {name} | ALSO.get(name, set())
    assert all(points_at_its_fields(finding) for finding in found_rules)
    profile = Profile(options.get("profile", "strict"))
    assert {finding.severity for finding in found_rules if finding.rule.id == name} == {
        rule_named(name).severity(profile)
    }


@pytest.mark.parametrize("name", [rule.id for rule in RULES if rule.strict and rule.id in INVALID_CASES])
def test_an_importer_is_told_of_it_too(name: str) -> None:
    """A broken rule is reported in the import profile with its lenient severity."""
    options = {**OPTIONS.get(name, {}), "profile": "import"}
    example = valid_backup(options)
    INVALID_CASES[name](example)
    lenient = rule_named(name).lenient
    assert lenient in {
        finding.severity for finding in findings(example.records(), **options) if finding.rule.id == name
    }


def test_the_kept_backup_has_something_for_every_field_that_is_checked() -> None:
    """The valid example has a value in nearly every field that a rule checks."""
    present: set[str] = set()

    def look(message: Message) -> None:
        for field, value in message.ListFields():
            present.add(name_of(field))
            if field.message_type is not None:
                for inner in value if field.is_repeated else [value]:
                    look(inner)

    example = ExampleBackup()
    look(example.header)
    for frame in example.frames.values():
        look(frame)
    checked = {check.field for rule in RULES for check in rule.checks if check.role is not CheckRole.ONEOF}
    # Of fields that differ in nothing but their message, one stands for all.
    alike = {name for name in checked if name.startswith(("Group", "SelfInvited", "AccountData.AutoDownload"))}
    assert checked - present - alike <= {
        "ChatItem.IncomingMessageDetails.dateServerSent",
        "DistributionListItem.deletionTimestamp",
        "FilePointer.LocatorInfo.encryptedDigest",
        "ChatStyle.bubbleColorPreset",
    }


def test_every_number_of_the_core_is_a_rule() -> None:
    """The numbers of the core are those of the rules, and each rule has an id and a number of its own."""
    assert {rule.id: rule.number for rule in RULES} == numbers.NUMBERS
    assert len(set(numbers.NUMBERS.values())) == len(RULES)
    assert all(rule_numbered(rule.number) is rule for rule in RULES)


def test_rules_are_written_for_people() -> None:
    """Each rule has a plain id, texts that are sentences, and a reference to its source."""
    for rule in RULES:
        assert re.fullmatch(r"[a-z0-9-]+(\.[a-z0-9-]+)+", rule.id), rule.id
        assert re.fullmatch(
            r"(spec|contract) [\d.]+( rule \d)?(, (spec|contract) [\d.]+( rule \d)?)*", rule.source
        )
        for text in (rule.wrong, rule.advice, rule.importer):
            assert SENTENCE.fullmatch(text), (rule.id, text)
        assert rule.lenient is not None


def test_errors_are_marked_for_the_core() -> None:
    """The mask of a profile marks the numbers of the rules that are errors in it."""
    strict, lenient = error_mask(Profile.STRICT), error_mask(Profile.IMPORT)
    number = rule_named("settings.app-theme.known").number
    assert (strict[number], lenient[number]) == (1, 0)
    assert sum(lenient) < sum(strict) == sum(rule.strict is Severity.ERROR for rule in RULES)


def test_a_field_is_checked_once_in_a_role() -> None:
    """Two rules for one field in the same role are an error, since the core checks only one."""
    checks = [(1, check) for check in required("Chat.id")]
    with pytest.raises(ValueError, match=r"Chat\.id is checked twice"):
        CheckTables([*checks, *checks])


def test_what_is_newer_is_what_the_schema_says() -> None:
    """Each added field is a field of the schema, and none is listed twice."""
    assert all(name in SLOT_BY_NAME for name in ADDITIONS)
    assert len({tables.FIELDS[SLOT_BY_NAME[name]] for name in ADDITIONS}) == len(ADDITIONS)


def add(state: BackupState, frame: Frame, index: int) -> None:
    """Check a frame, and add it to the state."""
    checker = Checker()
    raw = frame.SerializeToString()
    checker.record(raw, tables.FRAME, 0, index)
    state.add(checker.context, raw, 0, index)


def test_tables_shared_with_threads_do_not_change() -> None:
    """Recipients, chats and colours that are added later do not appear in tables shared with threads."""
    state = BackupState(Purpose.REMOTE, b"", spec_only=False)
    add(state, Frame(recipient=backup_pb2.Recipient(id=1, self=backup_pb2.Self())), 2)
    shared = state.reference_tables(shared=True)
    add(state, Frame(recipient=backup_pb2.Recipient(id=2, releaseNotes=backup_pb2.ReleaseNotes())), 3)
    add(state, Frame(chat=backup_pb2.Chat(id=7, recipientId=1)), 4)
    account = Frame()
    account.account.accountSettings.customChatColors.add(id=9, solid=0xFF000000)
    add(state, account, 5)
    assert shared.recipients.knows(1)
    assert not shared.recipients.knows(2)
    assert not shared.chats.knows(7)
    assert not shared.colors.knows(9)
    now = state.reference_tables()
    assert now.recipients.knows(2)
    assert now.chats.knows(7)
    assert now.colors.knows(9)
    assert state.reference_tables() is now
