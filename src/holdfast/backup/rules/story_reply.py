"""Replies to stories (`DirectStoryReplyMessage`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field, filled, one_of_fields, required
from holdfast.backup.rules.notes import NOTE_BODY
from holdfast.backup.rules.repairs import DROP_RECORD
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.rules.text import EXCERPT_LIMIT

__all__ = ["RULES", "add_checks"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "story-reply.reply.set",
        "The reply to a story says nothing.",
        "Write the text or the emoji, or leave the message out.",
        "spec 2, spec 7, contract 5.9",
        Breach.SKIPPED,
        one_of_fields("DirectStoryReplyMessage.reply"),
        importer="An importer ignores the message.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "story-reply.text.present",
        "The reply to a story is a text without a text.",
        "Write the text, or leave the message out.",
        "contract 5.9",
        Breach.CARE,
        required("DirectStoryReplyMessage.TextReply.text"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "story-reply.emoji.empty",
        "The reply to a story is an emoji without an emoji.",
        "Write the emoji, or leave the message out.",
        "contract 5.9",
        Breach.CARE,
        filled("DirectStoryReplyMessage.emoji"),
        repairs=(DROP_RECORD,),
    ),
)

LONG_TEXT = cython.declare(cython.uint, field("DirectStoryReplyMessage.TextReply.longText"))
LONGEST_EXCERPT = cython.declare(cython.ulonglong, EXCERPT_LIMIT.strictest)
LONG_TEXT_BODY = cython.declare(cython.uint, number_of_rule("text.long.body"))
_NOTE_BODY = cython.declare(cython.int, NOTE_BODY)


def check_text_reply(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the length of a text whose whole is in a file."""
    if context.has(depth, LONG_TEXT) and context.note(depth, _NOTE_BODY) > LONGEST_EXCERPT + 1:
        context.report(LONG_TEXT_BODY, depth, 0, -1, context.note(depth, _NOTE_BODY), 0, 0)


def add_checks(context: RuleContext) -> None:
    """Have the messages of this family checked."""
    context.add_check(MESSAGE_BY_NAME["DirectStoryReplyMessage.TextReply"], check_text_reply)
