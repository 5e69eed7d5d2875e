"""Contact cards (`ContactMessage`)."""

from typing import Final

from holdfast.backup.rules.rule import Breach, Rule, rule
from holdfast.backup.wire.checks import known, required

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
    ),
    rule(
        "contact-card.name.empty",
        "The name on the card has no part.",
        "Leave the name out.",
        "contract 5.9",
        Breach.CARE,
        fields=NAME,
    ),
    rule(
        "contact-card.value.empty",
        "A phone number or address on the card is empty.",
        "Leave it out.",
        "contract 5.9",
        Breach.CARE,
        required("ContactAttachment.Phone.value", "ContactAttachment.Email.value"),
    ),
    rule(
        "contact-card.type.known",
        "It is not known what kind of number or address it is.",
        "Write home, work or another that has a name.",
        "spec 2, contract 5.9",
        Breach.DEFAULTED,
        known(
            "ContactAttachment.Phone.type",
            "ContactAttachment.Email.type",
            "ContactAttachment.PostalAddress.type",
        ),
        importer="An importer takes it for home.",
    ),
    rule(
        "contact-card.address.empty",
        "A postal address on the card has no part.",
        "Leave it out.",
        "contract 5.9",
        Breach.CARE,
        fields=ADDRESS,
    ),
)
