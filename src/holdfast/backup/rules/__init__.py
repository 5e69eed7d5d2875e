"""Validation of a backup: the rules, one module per record family, and the validator that applies them.

account, chat, contact, group, message, poll, ...    a record family each: limits, rules, repairs, checks
checks      the checks a single field can have
check_tables, dispatch    all of them as flat arrays, and the checks of each message
checker     checks the frames of a buffer; compiled, as are the modules it calls
rule_context    the state that the checks of a frame share: values, reference tables, findings
record_checks, value_checks, value_forms    read the fields of a record, and check single values
rule_numbers    the numbers of rules in the compiled modules
pxd_generator   generates the `.pxd` files from the rules, when the package is built
id_table    a hash table of the ids of a backup
registry    all rules, by id and by number
rule        the class `Rule`
repairs     the repairs that a rule can declare
finding     the class `Finding`
backup_state    the ids that have been read, and the records that may occur only once
raw_findings    converts the findings of the compiled modules to `Finding` objects
validator   validates a whole backup, or frame by frame while it is written
validation  the public interface: findings with a verdict
files       checks the attachment files of a backup
unchecked_fields    the fields that no rule checks, with reasons
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
