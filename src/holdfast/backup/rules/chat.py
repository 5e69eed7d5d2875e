"""Chats (`Chat`)."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import field, of_kind, refers, required
from holdfast.backup.rules.repairs import DROP_RECORD, MOVE_UP, Fix, RepairAction, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "chat.id.zero",
        "The id of a chat is 0.",
        "Number the chats from 1.",
        "contract 5.3",
        Breach.FORMAT,
        required("Chat.id"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat.id.unique",
        "Another chat has the same id.",
        "Give each chat an id of its own.",
        "contract 5.3",
        Breach.FORMAT,
        fields=("Chat.id",),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat.recipient.known",
        "The chat is with a recipient that is not defined earlier.",
        "Write the recipient before the chat.",
        "spec 1 rule 2, contract 5.7",
        Breach.REFERENCE,
        refers("Chat.recipientId"),
        repairs=(MOVE_UP, DROP_RECORD),
    ),
    rule(
        "chat.recipient.kind",
        "There cannot be a chat with a story list or a call link.",
        "Leave the chat out.",
        "contract 5.7",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS | kinds.one_of(kinds.SELF, kinds.GROUP, kinds.RELEASE_NOTES), "Chat.recipientId"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "chat.pinned-order.unique",
        "Another chat is pinned at the same place.",
        "Number pinned chats in the order they are shown.",
        "contract 5.7",
        Breach.CARE,
        fields=("Chat.pinnedOrder",),
        repairs=(Fix(RepairAction.RENUMBER, "The chat is pinned after the others."),),
    ),
    rule(
        "chat.expiration-timer.version",
        "The chat has a timer, but its version is 0.",
        "Write the version, which starts at 1, or leave the timer out.",
        "contract 5.7",
        Breach.CARE,
        fields=("Chat.expirationTimerMs", "Chat.expireTimerVersion"),
        repairs=(put("The timer has the first version.", expireTimerVersion=1),),
    ),
)

if not cython.compiled:
    TIMER = field("Chat.expirationTimerMs")
    TIMER_VERSION_FIELD = field("Chat.expireTimerVersion")
    TIMER_VERSION = number_of_rule("chat.expiration-timer.version")


def check_chat(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that the timer of a chat has a version."""
    if context.has(depth, TIMER) and not context.holds(depth, TIMER_VERSION_FIELD):
        context.report_field(TIMER_VERSION, depth, TIMER)


if not cython.compiled:
    CHECKS = {
        "Chat": check_chat,
    }
