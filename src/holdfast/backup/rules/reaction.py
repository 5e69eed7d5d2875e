"""Reactions (`Reaction`)."""

from typing import Final

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import of_kind, refers, required
from holdfast.backup.rules.repairs import DROP_ELEMENT, MOVE_UP
from holdfast.backup.rules.rule import Breach, Rule, rule

__all__ = ["RULES"]

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "reaction.emoji",
        "The reaction has no emoji.",
        "Write the emoji, or leave the reaction out.",
        "contract 5.9",
        Breach.CARE,
        required("Reaction.emoji"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "reaction.author.known",
        "The author of the reaction has not appeared.",
        "Write the author before the message.",
        "spec 1 rule 2, contract 5.9",
        Breach.REFERENCE,
        refers("Reaction.authorId"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "reaction.author.kind",
        "The author of the reaction is nobody who can react.",
        "Name the user, or a contact with an account id or a phone number.",
        "contract 5.9",
        Breach.REFERENCE,
        of_kind(kinds.CONTACTS_WITH_ACI_OR_NUMBER | kinds.one_of(kinds.SELF), "Reaction.authorId"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "reaction.author.unique",
        "Somebody reacted twice to one message.",
        "Keep the newest reaction of each.",
        "contract 5.9",
        Breach.CARE,
        fields=("Reaction.authorId",),
        importer="An importer keeps one of them.",
        repairs=(DROP_ELEMENT,),
    ),
)
