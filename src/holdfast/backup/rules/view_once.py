"""View-once messages (`ViewOnceMessage`)."""

from typing import Final

from holdfast.backup.rules.repairs import discard
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "view-once.takeout",
        "Media that may be viewed once are part of an export for people.",
        "Leave the attachment out.",
        "contract 7.2",
        Breach.CARE,
        fields=("ChatItem.viewOnceMessage", "ViewOnceMessage.attachment"),
        repairs=(discard("What may be viewed once is left out.", "attachment"),),
    ),
)
