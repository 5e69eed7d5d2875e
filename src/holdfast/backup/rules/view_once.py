"""View-once messages (`ViewOnceMessage`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field
from holdfast.backup.rules.notes import NOTE_CONTENT
from holdfast.backup.rules.repairs import discard
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext

__all__ = ["RULES", "add_checks"]

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

ATTACHMENT = cython.declare(cython.uint, field("ViewOnceMessage.attachment"))
_NOTE_CONTENT = cython.declare(cython.int, NOTE_CONTENT)


def check_view_once(context: RuleContext, depth: cython.int) -> cython.void:
    """Tell the message whether what may be viewed once is still there."""
    if context.has(depth, ATTACHMENT):
        context.set_note(depth - 1, _NOTE_CONTENT, 1)


def add_checks(context: RuleContext) -> None:
    """Have the messages of this family checked."""
    context.add_check(MESSAGE_BY_NAME["ViewOnceMessage"], check_view_once)
