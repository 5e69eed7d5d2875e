"""Every repair is of a rule that exists, and mends it: broken, planned, repaired, checked, and undone."""

from pathlib import Path

import pytest

from holdfast.backup import Wanted, plan_repair, repair, undo_repair
from holdfast.backup.repairing.log import log_beside
from holdfast.backup.rules import validate
from holdfast.backup.rules.book import RULES, rule_named
from holdfast.backup.rules.container import RULE_OF
from holdfast.backup.rules.repairs import LEFT_OUT, REPAIRS, WRITTEN_ANEW, How, first_repair
from holdfast.backup.rules.rule import Severity
from holdfast.backup.wire import tables
from tests.backup.rules.breakers import BREAKERS, HOW
from tests.backup.rules.world import World
from tests.backup.streams import stream_of

NAMES = {field.name for field in tables.FIELDS.values()}


def errors(path: Path, **how: str) -> list[str]:
    """List the rules that a backup breaks."""
    found = validate(path, threads=1, **how)  # type: ignore[arg-type]  # the names are right
    return [finding.rule.id for finding in found if finding.severity is Severity.ERROR]


def test_every_repair_is_of_a_rule_that_can_be_an_error() -> None:
    """What is only worth a note is left alone."""
    assert set(REPAIRS) <= {rule.id for rule in RULES}
    assert all(rule_named(name).strict is Severity.ERROR for name in REPAIRS)


def test_what_is_wrong_with_the_file_is_mended_by_writing_it() -> None:
    """All that opening can tell of, and what a stream breaks off with; only what is lost has to be asked for."""
    assert {*RULE_OF.values(), "stream.whole"} == WRITTEN_ANEW | LEFT_OUT
    for name in WRITTEN_ANEW:
        assert (first_repair(name, loses=False), first_repair(name, loses=True)) == (How.REWRITE, None)
    for name in LEFT_OUT:
        assert (first_repair(name, loses=False), first_repair(name, loses=True)) == (None, How.DROP_BYTES)
    assert not REPAIRS.keys() & (WRITTEN_ANEW | LEFT_OUT)


def test_repairs_name_fields_of_the_schema() -> None:
    """And say in a sentence what they do."""
    for fixes in REPAIRS.values():
        for fix in fixes:
            named = [
                *fix.values,
                *filter(None, [fix.up]),
                *(part for name in fix.down for part in name.split(".")),
            ]
            assert set(named) <= NAMES
            assert fix.words.endswith(".")
            assert (fix.how is How.PUT) == bool(fix.values)


@pytest.mark.parametrize("name", sorted(REPAIRS))
def test_what_is_broken_is_mended_and_can_be_undone(name: str, tmp_path: Path) -> None:
    """With `drop` every case passes, and without it nothing is lost."""
    how = {"edition": "current", **HOW.get(name, {})}
    world = World()
    if how.get("purpose") == "takeout":
        world.without_secrets()
    BREAKERS[name](world)
    source, target, back = (tmp_path / part for part in ("source", "target", "back"))
    source.write_bytes(stream_of(world.records()))
    assert name in errors(source, **how)
    for drop in (False, True):
        wanted = Wanted(drop=drop, **how)  # type: ignore[arg-type]  # the names are right
        planned = plan_repair(source, wanted=wanted)
        done = repair(source, target, wanted=wanted, replace=True)
        assert done == planned
        assert done.passes == (errors(target, **how) == [])
        assert drop or not any(step.loses for step in done.steps)
        assert undo_repair(target, log_beside(target), back, replace=True) == 0 or done.steps
        assert back.read_bytes() == source.read_bytes()
        if drop or not any(fix.loses for fix in REPAIRS[name]):
            assert any(step.rule == name for step in done.steps)
        assert done.passes or not drop, done.unmended
