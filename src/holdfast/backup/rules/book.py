"""All rules there are, by their ids and by the numbers the core knows them by."""

from typing import Final

from holdfast.backup.rules import account, bodies, chats, containers, items, media, recipients, stream, updates
from holdfast.backup.rules.rule import Profile, Rule, Severity
from holdfast.backup.wire.checks import Plan
from holdfast.backup.wire.layout import MOST_RULES
from holdfast.backup.wire.numbers import name_of_rule, number_of_rule

__all__ = ["FAMILIES", "PLAN", "RULES", "graves", "rule_named", "rule_numbered"]

# The modules of rules, in the order in which their records stand in a backup.
FAMILIES: Final = {
    "containers": containers.RULES,
    "stream": stream.RULES,
    "account": account.RULES,
    "recipients": recipients.RULES,
    "chats": chats.RULES,
    "items": items.RULES,
    "bodies": bodies.RULES,
    "updates": updates.RULES,
    "media": media.RULES,
}
RULES: Final[tuple[Rule, ...]] = tuple(rule for family in FAMILIES.values() for rule in family)
BY_ID: Final[dict[str, Rule]] = {rule.id: rule for rule in RULES}
PLAN: Final = Plan((number_of_rule(rule.id), check) for rule in RULES for check in rule.checks)


def rule_named(name: str) -> Rule:
    """Return a rule by its id."""
    return BY_ID[name]


def rule_numbered(number: int) -> Rule:
    """Return a rule by the number the core knows it by."""
    return BY_ID[name_of_rule(number)]


def graves(profile: Profile) -> bytes:
    """Mark the rules that are errors under a profile, by number."""
    marks = bytearray(MOST_RULES)
    for rule in RULES:
        marks[number_of_rule(rule.id)] = rule.severity(profile) is Severity.ERROR
    return bytes(marks)
