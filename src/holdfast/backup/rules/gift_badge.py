"""Gift badges (`GiftBadge`)."""

from typing import Final

from holdfast.backup.rules.receipts import is_receipt
from holdfast.backup.rules.repairs import discard
from holdfast.backup.rules.rule import Breach, Limit, Rule, rule

__all__ = ["RULES"]

# The core reports every receipt: one that can be a receipt measures 1, any other 0.
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
