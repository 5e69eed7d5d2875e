"""Rules: severity by profile and edition, limits, and repairs."""

from dataclasses import replace

from holdfast.backup.rules import Edition, Profile
from holdfast.backup.rules.registry import rule_named
from holdfast.backup.rules.repairs import DROP_DUPLICATE, DROP_RECORD, RepairAction, clear
from holdfast.backup.rules.rule import CURRENT, SPEC, Limit, Severity, max_bytes

RULE = replace(rule_named("account.first"), repairs=(), file_repair=None)


def test_a_rule_is_as_severe_as_the_profile_says() -> None:
    """A rule has the severity of the profile, and none in an edition that does not have the rule."""
    rule = replace(RULE, strict=Severity.ERROR, lenient=Severity.NOTE)
    assert (rule.severity(Profile.STRICT), rule.severity(Profile.IMPORT)) == (Severity.ERROR, Severity.NOTE)
    current = replace(rule, editions=CURRENT, strict_editions=CURRENT)
    assert current.severity(Profile.STRICT, Edition.CURRENT) == Severity.ERROR
    assert current.severity(Profile.STRICT, Edition.SPEC) is None
    assert current.severity(Profile.IMPORT, Edition.SPEC) is None
    held = replace(rule, strict_editions=SPEC)
    assert held.severity(Profile.STRICT, Edition.SPEC) == Severity.ERROR
    assert held.severity(Profile.STRICT, Edition.CURRENT) is None
    assert held.severity(Profile.IMPORT, Edition.CURRENT) == Severity.NOTE


def test_a_limit_is_that_of_the_edition() -> None:
    """A limit applies by edition, and the strictest is the lowest upper bound."""
    limit = max_bytes(spec=10, current=20)
    assert [limit.allows(size, Edition.SPEC) for size in (0, 10, 11)] == [True, True, False]
    assert [limit.allows(size, Edition.CURRENT) for size in (11, 20, 21)] == [True, True, False]
    assert limit.strictest == 10
    assert max_bytes(spec=20, current=10).strictest == 10
    assert Limit(range(2, 5), range(1, 9)).strictest == 4


def test_a_safe_repair_is_tried_before_one_that_loses_data() -> None:
    """`first_repair` returns the first safe repair, or the first that loses data, in the order of the rule."""
    rule = replace(RULE, repairs=(DROP_RECORD, clear("The field is cleared."), DROP_DUPLICATE))
    assert rule.first_repair(loses=False) == RepairAction.CLEAR
    assert rule.first_repair(loses=True) == RepairAction.DROP_RECORD
    assert RULE.first_repair(loses=False) is None
    assert RULE.first_repair(loses=True) is None


def test_a_file_is_written_again_or_loses_bytes() -> None:
    """A rewrite of the file loses no data, and only dropping bytes does."""
    rewritten = replace(RULE, file_repair=RepairAction.REWRITE)
    assert [rewritten.first_repair(loses=loses) for loses in (False, True)] == [RepairAction.REWRITE, None]
    shortened = replace(RULE, file_repair=RepairAction.DROP_BYTES)
    assert [shortened.first_repair(loses=loses) for loses in (False, True)] == [None, RepairAction.DROP_BYTES]
