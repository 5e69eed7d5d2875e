"""What makes a backup valid: one module per record family, and what holds a backup to them.

containers, stream, account, recipients, chats, items, bodies, updates, media    the rules
book        all of them, by id
rule        what a rule is
repairs     which rule is mended how
unruled     the fields no rule looks at, and why
finding     what a validation yields
ledger      what must be true of a backup as a whole
reading     makes findings of what the core writes down
validator   the way through all of it
files       the attachments beside a backup
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
