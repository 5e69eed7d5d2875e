"""Call links (`CallLink`)."""

from typing import Final

from holdfast.backup.rules.checks import filled, known, length
from holdfast.backup.rules.repairs import DROP_RECORD, clear
from holdfast.backup.rules.rule import SPEC, Breach, Limit, Rule, rule

__all__ = ["RULES"]

# Exactly 16 bytes in the specification, today 16 or more.
ROOT_KEY: Final = Limit(range(16, 17), range(16, 1 << 31))

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "call-link.root-key.length",
        "The root key of the call link does not have 16 bytes, or today fewer.",
        "Write all of it.",
        "contract 5.6",
        Breach.FORMAT,
        length(ROOT_KEY.strictest, "CallLink.rootKey"),
        limit=ROOT_KEY,
        repairs=(DROP_RECORD,),
    ),
    rule(
        "call-link.epoch.length",
        "The epoch of the call link does not have 4 bytes.",
        "Write all of it, or leave it out.",
        "spec 2",
        Breach.FORMAT,
        fields=("CallLink.epoch",),
        editions=SPEC,
    ),
    rule(
        "call-link.admin-key.empty",
        "The admin key of the call link is there and empty.",
        "Leave it out where the user is no admin.",
        "contract 5.6",
        Breach.CARE,
        filled("CallLink.adminKey"),
        repairs=(clear("The empty key is left out."),),
    ),
    rule(
        "call-link.restrictions.known",
        "It is not known who may join the call.",
        "Write none, or that an admin approves.",
        "spec 2",
        Breach.DEFAULTED,
        known("CallLink.restrictions"),
        importer="An importer takes it that an admin approves.",
        only_import=True,
    ),
)
