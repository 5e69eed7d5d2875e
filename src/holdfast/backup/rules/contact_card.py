"""Contact cards (`ContactMessage`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import field, known, required
from holdfast.backup.rules.repairs import DROP_ELEMENT, DROP_RECORD, clear, put
from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["RULES"]

NAME: Final = tuple(
    f"ContactAttachment.Name.{part}"
    for part in ("givenName", "familyName", "prefix", "suffix", "middleName", "nickname")
)
ADDRESS: Final = tuple(
    f"ContactAttachment.PostalAddress.{part}"
    for part in ("street", "pobox", "neighborhood", "city", "region", "postcode", "country")
)

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "contact-card.present",
        "The message is a contact card without a card.",
        "Write the card, or leave the message out.",
        "contract 5.9",
        Breach.CARE,
        required("ContactMessage.contact"),
        repairs=(DROP_RECORD,),
    ),
    rule(
        "contact-card.name.empty",
        "The name on the card has no part.",
        "Leave the name out.",
        "contract 5.9",
        Breach.CARE,
        fields=NAME,
        repairs=(clear("The empty name is left out."),),
    ),
    rule(
        "contact-card.value.empty",
        "A phone number or address on the card is empty.",
        "Leave it out.",
        "contract 5.9",
        Breach.CARE,
        required("ContactAttachment.Phone.value", "ContactAttachment.Email.value"),
        repairs=(DROP_ELEMENT,),
    ),
    rule(
        "contact-card.type.known",
        "The type of a phone number or address is unknown.",
        "Write home, work or another known type.",
        "spec 2, contract 5.9",
        Breach.DEFAULTED,
        known(
            "ContactAttachment.Phone.type",
            "ContactAttachment.Email.type",
            "ContactAttachment.PostalAddress.type",
        ),
        importer="An importer treats it as home.",
        repairs=(put("It is the one at home.", type=1),),
    ),
    rule(
        "contact-card.address.empty",
        "A postal address on the card has no part.",
        "Leave it out.",
        "contract 5.9",
        Breach.CARE,
        fields=ADDRESS,
        repairs=(DROP_ELEMENT,),
    ),
)

if not cython.compiled:
    # The fields of an address that are not part of the location.
    LABELS = sum(1 << field(f"ContactAttachment.PostalAddress.{name}") for name in ("type", "label"))
    NAME_EMPTY = number_of_rule("contact-card.name.empty")
    ADDRESS_EMPTY = number_of_rule("contact-card.address.empty")


def check_name(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that the name on a contact card is not empty."""
    if context.filled[depth] == 0:
        context.report_field(NAME_EMPTY, depth, 0)


def check_address(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a postal address has more than a type and a label."""
    if context.filled[depth] | LABELS == LABELS:
        context.report_field(ADDRESS_EMPTY, depth, 0)


if not cython.compiled:
    CHECKS = {
        "ContactAttachment.Name": check_name,
        "ContactAttachment.PostalAddress": check_address,
    }
