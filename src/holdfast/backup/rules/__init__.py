"""Validation of a backup: the rules, one module per record family, and the validator that applies them.

account, chat, contact, group, message, poll, ...    a record family each: limits, rules, repairs
book        all rules, by id and by number
rule        what a rule is
repairs     what a repair can be
unruled     the fields no rule looks at, and why
finding     what a validation yields
ledger      what must be true of a backup as a whole
reading     turns the findings of the compiled core into `Finding` objects
validator   validates a whole backup, or frame by frame as it is written
files       the attachment files beside a backup
"""

from holdfast.backup.rules.book import RULES
from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.rule import Edition, Profile, Purpose, Rule, Severity
from holdfast.backup.rules.validator import Validation, Validator, validate, validating

__all__ = [
    "RULES",
    "Edition",
    "Finding",
    "Profile",
    "Purpose",
    "Rule",
    "Severity",
    "Validation",
    "Validator",
    "validate",
    "validating",
]
