"""Validation of a backup: the rules, one module per record family, and the validator that applies them.

account, chat, contact, group, message, poll, ...    a record family each: limits, rules, repairs, checks
checks      the checks a single field can have
check_tables, dispatch    all of them as flat arrays, and the checks of each message
checker     checks the frames of a buffer; compiled, as is what it calls
rule_context    what the checks of a frame share: values, reference tables, findings
record_checks, value_checks, value_forms    read the fields of a record, and check single values
rule_numbers    the numbers by which the core knows rules
pxd_generator   generates what the compiler must be told of all this, when the package is built
id_table    the ids of a backup, and what each stands for
registry    all rules, by id and by number
rule        what a rule is
repairs     what a repair can be
finding     what a validation yields
backup_state    the ids of a backup, and what may exist only once
raw_findings    turns what the compiled core reports into `Finding` objects
validator   validates a whole backup, or frame by frame as it is written
validation  the public interface: findings with a verdict
files       the attachment files beside a backup
unchecked_fields    the fields no rule looks at, and why
"""

from holdfast.backup.rules.finding import Finding
from holdfast.backup.rules.registry import RULES
from holdfast.backup.rules.rule import Edition, Profile, Purpose, Rule, Severity
from holdfast.backup.rules.validation import Validation, validate
from holdfast.backup.rules.validator import ValidationRun, Validator, start_validation

__all__ = [
    "RULES",
    "Edition",
    "Finding",
    "Profile",
    "Purpose",
    "Rule",
    "Severity",
    "Validation",
    "ValidationRun",
    "Validator",
    "start_validation",
    "validate",
]
