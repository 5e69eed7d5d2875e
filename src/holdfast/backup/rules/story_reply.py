"""Replies to stories (`DirectStoryReplyMessage`)."""

from typing import Final

from holdfast.backup.rules.checks import filled, one_of_fields, required
from holdfast.backup.rules.repairs import DROP_RECORD
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "story-reply.reply.set",
        "The reply to a story is empty.",
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
