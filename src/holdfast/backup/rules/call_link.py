"""Call links (`CallLink`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import field, filled, known, length
from holdfast.backup.rules.repairs import DROP_RECORD, clear
from holdfast.backup.rules.rule import SPEC, Breach, Limit, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

# Exactly 16 bytes in the specification, today 16 or more.
ROOT_KEY: Final = Limit(range(16, 17), range(16, 1 << 31))
# The number of bytes of an epoch.
EPOCH_SIZE: Final = 4

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "call-link.root-key.length",
        "The root key of the call link does not have 16 bytes, or in the current edition fewer.",
        "Write all of it.",
        "contract 5.6",
        Breach.FORMAT,
        length(ROOT_KEY.strictest, "CallLink.rootKey"),
        limit=ROOT_KEY,
        repairs=(DROP_RECORD,),
    ),
    rule(
        "call-link.epoch.length",
        "The epoch of the call link does not have 4 bytes.",
        "Write all of it, or leave it out.",
        "spec 2",
        Breach.FORMAT,
        fields=("CallLink.epoch",),
        editions=SPEC,
    ),
    rule(
        "call-link.admin-key.empty",
        "The admin key of the call link is present but empty.",
        "Leave it out where the user is no admin.",
        "contract 5.6",
        Breach.CARE,
        filled("CallLink.adminKey"),
        repairs=(clear("The empty key is left out."),),
    ),
    rule(
        "call-link.restrictions.known",
        "The restriction of the call link is unknown.",
        "Write none, or that an admin approves.",
        "spec 2",
        Breach.DEFAULTED,
        known("CallLink.restrictions"),
        importer="An importer assumes that an admin approves.",
        only_import=True,
    ),
)

if not cython.compiled:
    EPOCH = field("CallLink.epoch")
    _EPOCH_SIZE = EPOCH_SIZE
    EPOCH_LENGTH = number_of_rule("call-link.epoch.length")


def check_call_link(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the epoch of a call link; old call links have none."""
    if context.size(depth, EPOCH) not in (0, _EPOCH_SIZE):
        context.report_field(EPOCH_LENGTH, depth, EPOCH)


if not cython.compiled:
    CHECKS = {
        "CallLink": check_call_link,
    }
