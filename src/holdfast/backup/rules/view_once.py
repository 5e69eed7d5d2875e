"""View-once messages (`ViewOnceMessage`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import field
from holdfast.backup.rules.notes import FIRST_CONTENT_NOTE
from holdfast.backup.rules.repairs import discard
from holdfast.backup.rules.rule import PURPOSE_NUMBERS, Breach, Purpose, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "view-once.takeout",
        "View-once media are in a plaintext export.",
        "Leave the attachment out.",
        "contract 7.2",
        Breach.CARE,
        fields=("ChatItem.viewOnceMessage", "ViewOnceMessage.attachment"),
        repairs=(discard("What may be viewed once is left out.", "attachment"),),
    ),
)

if not cython.compiled:
    VIEW_ONCE = field("ChatItem.viewOnceMessage")
    ATTACHMENT = field("ViewOnceMessage.attachment")
    VIEW_ONCE_TAKEOUT = number_of_rule("view-once.takeout")
    TAKEOUT = PURPOSE_NUMBERS[Purpose.TAKEOUT]
    # A note of a chat item: whether the view-once attachment is still there.
    NOTE_ATTACHED = FIRST_CONTENT_NOTE


def check_view_once(context: RuleContext, depth: cython.int) -> cython.void:
    """Store in a note of the chat item whether the view-once attachment is still there."""
    if context.has(depth, ATTACHMENT):
        context.set_note(depth - 1, NOTE_ATTACHED, 1)


def check_view_once_takeout(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a takeout export has no view-once attachment."""
    if not (context.seen[depth] >> VIEW_ONCE) & 1:
        return
    if context.purpose == TAKEOUT and context.note(depth, NOTE_ATTACHED):
        context.report_field(VIEW_ONCE_TAKEOUT, depth, VIEW_ONCE)


if not cython.compiled:
    CHECKS = {
        "ViewOnceMessage": check_view_once,
        "ChatItem": check_view_once_takeout,
    }
