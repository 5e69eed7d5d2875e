"""Gift badges (`GiftBadge`)."""

from typing import Final

from holdfast.backup.rules.repairs import discard
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "gift-badge.presentation",
        "The receipt of the badge is not one.",
        "Write the receipt as it was made, or that it failed and no receipt.",
        "contract 5.9",
        Breach.CARE,
        fields=("GiftBadge.receiptCredentialPresentation", "GiftBadge.state"),
        importer="An importer cannot redeem the badge.",
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
