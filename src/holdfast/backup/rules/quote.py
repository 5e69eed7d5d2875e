"""Quotes (`Quote`)."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import known, of_kind, refers
from holdfast.backup.rules.repairs import MOVE_UP, clear, discard, put
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

AUTHORS: Final = kinds.CONTACTS_WITH_ACI_OR_NUMBER | kinds.one_of(kinds.SELF, kinds.RELEASE_NOTES)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "quote.author.known",
        "The author of the quoted message has not appeared.",
        "Write the author before the message.",
        "spec 1 rule 2, contract 5.9",
        Breach.REFERENCE,
        refers("Quote.authorId"),
        repairs=(MOVE_UP, discard("The quote is left out.", up="quote")),
    ),
    rule(
        "quote.author.kind",
        "The author of the quoted message is nobody who can have written it.",
        "Name who wrote it.",
        "contract 5.9",
        Breach.REFERENCE,
        of_kind(AUTHORS, "Quote.authorId"),
        repairs=(discard("The quote is left out.", up="quote"),),
    ),
    rule(
        "quote.type.known",
        "The type of the quote is not known.",
        "Write that it is a normal one.",
        "spec 2, contract 5.9",
        Breach.DEFAULTED,
        known("Quote.type"),
        importer="An importer takes it for a normal quote.",
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
