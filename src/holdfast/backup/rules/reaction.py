"""Reactions (`Reaction`)."""

from typing import Final

import cython

from holdfast.backup.rules import recipient_kinds as kinds
from holdfast.backup.rules.checks import field, of_kind, refers, required
from holdfast.backup.rules.repairs import DROP_ELEMENT, MOVE_UP
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

if not cython.compiled:
    from holdfast.backup.wire.layout import WIDTH

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
        "The author of the reaction is not defined earlier.",
        "Write the author before the message.",
        "spec 1 rule 2, contract 5.9",
        Breach.REFERENCE,
        refers("Reaction.authorId"),
        repairs=(MOVE_UP, DROP_ELEMENT),
    ),
    rule(
        "reaction.author.kind",
        "The author of the reaction cannot react.",
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

if not cython.compiled:
    AUTHOR = field("Reaction.authorId")
    AUTHOR_UNIQUE = number_of_rule("reaction.author.unique")


def check_reaction(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that nobody reacts twice to a message, by the author's entry in `reacted_in`."""
    at: cython.Py_ssize_t = context.starts[depth * WIDTH + AUTHOR]
    if not (context.filled[depth] >> AUTHOR) & 1 or at < 0:
        return
    if context.reacted_in[at] == context.serials[depth - 1]:
        context.report_field(AUTHOR_UNIQUE, depth, AUTHOR)
    context.reacted_in[at] = context.serials[depth - 1]


if not cython.compiled:
    CHECKS = {
        "Reaction": check_reaction,
    }
