"""Gift badges (`GiftBadge`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import field
from holdfast.backup.rules.receipts import is_receipt
from holdfast.backup.rules.repairs import discard
from holdfast.backup.rules.rule import Breach, Limit, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.schema import backup_pb2

__all__ = ["RULES"]

# The compiled check reports every receipt; the measure of a valid one is 1, of any other 0.
RECEIPT: Final = Limit(range(1, 2), range(1, 2), measure=is_receipt)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "gift-badge.presentation",
        "The receipt of the badge is not one.",
        "Write the receipt as it was made, or that it failed and no receipt.",
        "contract 5.9",
        Breach.CARE,
        fields=("GiftBadge.receiptCredentialPresentation", "GiftBadge.state"),
        importer="An importer cannot redeem the badge.",
        limit=RECEIPT,
    ),
    rule(
        "gift-badge.failed.empty",
        "The badge failed, but still has a receipt.",
        "Leave the receipt out.",
        "contract 5.9",
        Breach.CARE,
        fields=("GiftBadge.receiptCredentialPresentation", "GiftBadge.state"),
        repairs=(discard("The receipt of the badge that failed is left out."),),
    ),
)

if not cython.compiled:
    PRESENTATION_FIELD = field("GiftBadge.receiptCredentialPresentation")
    STATE = field("GiftBadge.state")
    FAILED = backup_pb2.GiftBadge.State.FAILED
    PRESENTATION = number_of_rule("gift-badge.presentation")
    FAILED_EMPTY = number_of_rule("gift-badge.failed.empty")


def check_badge(context: RuleContext, depth: cython.int) -> cython.void:
    """Report every receipt, to be measured by `RECEIPT`; a badge in the state "failed" has none."""
    start: cython.Py_ssize_t = context.start(depth, PRESENTATION_FIELD)
    size: cython.Py_ssize_t = context.size(depth, PRESENTATION_FIELD)
    if context.value(depth, STATE) != FAILED:
        context.report(PRESENTATION, depth, PRESENTATION_FIELD, -1, 0, start, start + size)
    elif size:
        context.report_field(FAILED_EMPTY, depth, PRESENTATION_FIELD)


if not cython.compiled:
    CHECKS = {
        "GiftBadge": check_badge,
    }
