"""Every repair belongs to a rule and fixes it: broken, planned, repaired, validated, and undone."""

from pathlib import Path

import pytest

from holdfast.backup import RepairOptions, plan_repair, repair, undo_repair
from holdfast.backup.repairs.log import default_log_path
from holdfast.backup.rules import validate
from holdfast.backup.rules.container import RULE_OF
from holdfast.backup.rules.registry import RULES
from holdfast.backup.rules.repairs import EMPTY, ON, Fix, RepairAction, clear, discard, put
from holdfast.backup.rules.rule import Severity
from holdfast.backup.wire import tables
from tests.backup.rules.example_backup import ExampleBackup
from tests.backup.rules.invalid_cases import INVALID_CASES, OPTIONS
from tests.backup.streams import stream_of

REPAIRS = {rule.id: rule.repairs for rule in RULES if rule.repairs}
NAMES = {field.name for field in tables.FIELDS.values()}


def errors(path: Path, **options: str) -> list[str]:
    """List the rules that a backup breaks."""
    findings = validate(path, threads=1, **options)  # type: ignore[arg-type]  # the names are right
    return [finding.rule.id for finding in findings if finding.severity is Severity.ERROR]


def test_only_rules_that_can_be_an_error_have_repairs() -> None:
    """Only rules that are errors in the strict profile have repairs."""
    assert all(rule.strict is Severity.ERROR for rule in RULES if rule.repairs or rule.file_repair)


def test_a_damaged_file_is_repaired_by_writing_it_again() -> None:
    """Every rule about the file is repaired by rewriting it, or by dropping bytes where data is lost."""
    actions = {rule.id: rule.file_repair for rule in RULES if rule.file_repair}
    assert set(actions) == {*RULE_OF.values(), "stream.whole"}
    assert {name for name, action in actions.items() if action is RepairAction.DROP_BYTES} == {
        "stream.whole",
        "container.compression",
    }
    for rule in RULES:
        tried = (rule.first_repair(loses=False), rule.first_repair(loses=True))
        if rule.file_repair is RepairAction.REWRITE:
            assert tried == (RepairAction.REWRITE, None)
        elif rule.file_repair is RepairAction.DROP_BYTES:
            assert tried == (None, RepairAction.DROP_BYTES)
        assert not (rule.repairs and rule.file_repair)


def test_repairs_name_fields_of_the_schema() -> None:
    """Repairs name only fields of the schema, and their description ends with a period."""
    for fixes in REPAIRS.values():
        for fix in fixes:
            named = [
                *fix.values,
                *filter(None, [fix.up]),
                *(part for name in fix.down for part in name.split(".")),
            ]
            assert set(named) <= NAMES
            assert fix.words.endswith(".")
            assert (fix.action is RepairAction.PUT) == bool(fix.values)


def test_a_repair_says_what_it_does_and_whether_it_loses_something() -> None:
    """`clear`, `discard` and `put` build a repair with its action, its loss of data and its values."""
    assert clear("Cleared.", "a", "b") == Fix(RepairAction.CLEAR, "Cleared.", down=("a", "b"))
    assert discard("Left out.", "a", up="Message") == Fix(
        RepairAction.CLEAR, "Left out.", loses=True, up="Message", down=("a",)
    )
    written = put("Written.", "a", kind=5, flag=ON, text=EMPTY)
    assert (written.action, written.loses, written.down) == (RepairAction.PUT, False, ("a",))
    assert written.values == {"kind": b"\x05", "flag": b"\x01", "text": b""}


@pytest.mark.parametrize("name", sorted(REPAIRS))
def test_what_is_broken_is_mended_and_can_be_undone(name: str, tmp_path: Path) -> None:
    """With `drop` every case passes, without it no data is lost, and undoing restores the original."""
    settings = {"edition": "current", **OPTIONS.get(name, {})}
    example = ExampleBackup()
    if settings.get("purpose") == "takeout":
        example.without_expiring_messages()
    INVALID_CASES[name](example)
    source, target, back = (tmp_path / part for part in ("source", "target", "back"))
    source.write_bytes(stream_of(example.records()))
    assert name in errors(source, **settings)
    for drop in (False, True):
        options = RepairOptions(drop=drop, **settings)  # type: ignore[arg-type]  # the names are right
        planned = plan_repair(source, options=options)
        result = repair(source, target, options=options, replace=True)
        assert result == planned
        assert result.passes == (errors(target, **settings) == [])
        assert drop or not any(step.loses for step in result.steps)
        assert undo_repair(target, default_log_path(target), back, replace=True) == 0 or result.steps
        assert back.read_bytes() == source.read_bytes()
        if drop or not any(fix.loses for fix in REPAIRS[name]):
            assert any(step.rule == name for step in result.steps)
        assert result.passes or not drop, result.remaining_errors
