"""Quotes (`Quote`)."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import MESSAGE_BY_NAME, field, known, of_kind, refers
from holdfast.backup.rules.repairs import MOVE_UP, clear, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule
from holdfast.backup.rules.text import BODY_LIMIT, EXCERPT_LIMIT
from holdfast.backup.schema import backup_pb2

if not cython.compiled:
    from holdfast.backup.rules.notes import NOTE_BODY

__all__ = ["RULES"]

AUTHORS: Final = kinds.CONTACTS_WITH_ACI_OR_NUMBER | kinds.one_of(kinds.SELF, kinds.RELEASE_NOTES)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "quote.author.known",
        "The author of the quoted message is not defined earlier.",
        "Write the author before the message.",
        "spec 1 rule 2, contract 5.9",
        Breach.REFERENCE,
        refers("Quote.authorId"),
        repairs=(MOVE_UP, discard("The quote is left out.", up="quote")),
    ),
    rule(
        "quote.author.kind",
        "The author of the quoted message cannot have written it.",
        "Name who wrote it.",
        "contract 5.9",
        Breach.REFERENCE,
        of_kind(AUTHORS, "Quote.authorId"),
        repairs=(discard("The quote is left out.", up="quote"),),
    ),
    rule(
        "quote.type.known",
        "The type of the quote is unknown.",
        "Write that it is a normal one.",
        "spec 2, contract 5.9",
        Breach.DEFAULTED,
        known("Quote.type"),
        importer="An importer treats it as a normal quote.",
        repairs=(put("The quote is a normal one.", type=1),),
    ),
    rule(
        "quote.content",
        "The quote has neither text nor attachment.",
        "Write what was quoted, or leave the quote out.",
        "contract 5.9",
        Breach.CARE,
        fields=("Quote.type", "Quote.text", "Quote.attachments"),
        repairs=(discard("The quote is left out.", up="quote"),),
    ),
    rule(
        "quote.text.length",
        "The quoted text is longer than 2048 bytes.",
        "Cut it to its first 2048 bytes.",
        "contract 5.9",
        Breach.FORMAT,
        fields=("Quote.text", "Text.body"),
        limit=EXCERPT_LIMIT,
    ),
    rule(
        "quote.thumbnail.voice",
        "The thumbnail of a quote is flagged as a voice message.",
        "Leave the flag out.",
        "contract 5.9",
        Breach.CARE,
        fields=("Quote.QuotedAttachment.thumbnail", "MessageAttachment.flag"),
        repairs=(clear("The flag, which a picture cannot have, is left out."),),
    ),
)

if not cython.compiled:
    TEXT = field("Quote.text")
    ATTACHMENTS = field("Quote.attachments")
    TYPE = field("Quote.type")
    NORMAL = backup_pb2.Quote.Type.NORMAL
    LONGEST_EXCERPT = EXCERPT_LIMIT.strictest
    LONGEST_BODY = BODY_LIMIT.strictest
    CONTENT = number_of_rule("quote.content")
    TEXT_LENGTH = number_of_rule("quote.text.length")
    QUOTED_ATTACHMENT = MESSAGE_BY_NAME["Quote.QuotedAttachment"]
    FLAG = field("MessageAttachment.flag")
    VOICE = backup_pb2.MessageAttachment.Flag.VOICE_MESSAGE
    THUMBNAIL_VOICE = number_of_rule("quote.thumbnail.voice")


def check_quote(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a quote has content, and its length; a text too long for any message is reported elsewhere."""
    size: cython.ulonglong = context.note(depth, NOTE_BODY)
    if (
        context.value(depth, TYPE) == NORMAL
        and not context.has(depth, TEXT)
        and context.value(depth, ATTACHMENTS) == 0
    ):
        context.report_field(CONTENT, depth, 0)
    if LONGEST_EXCERPT + 1 < size <= LONGEST_BODY + 1:
        context.report(TEXT_LENGTH, depth, TEXT, -1, size, 0, 0)


def check_thumbnail(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that the thumbnail of a quote is not flagged as a voice message."""
    if context.messages[depth - 1] == QUOTED_ATTACHMENT and context.value(depth, FLAG) == VOICE:
        context.report_field(THUMBNAIL_VOICE, depth, FLAG)


if not cython.compiled:
    CHECKS = {
        "Quote": check_quote,
        "MessageAttachment": check_thumbnail,
    }
