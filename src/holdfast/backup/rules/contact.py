"""Contacts (`Contact`)."""

from typing import Final

import cython

from holdfast.backup.rules.checks import (
    UUID_SIZE,
    field,
    length,
    nonzero,
    one_of_fields,
    prefixed,
    username,
)
from holdfast.backup.rules.repairs import DROP_RECORD, EMPTY, clear, discard, put
from holdfast.backup.rules.rule import CURRENT, Breach, Rule, rule
from holdfast.backup.rules.rule_context import RuleContext
from holdfast.backup.rules.rule_numbers import number_of_rule

__all__ = ["FEWEST_DIGITS", "LONGEST_NICKNAME", "RULES"]

# The longest nickname of a username in bytes, and the fewest digits after its dot.
LONGEST_NICKNAME: Final = 48
FEWEST_DIGITS: Final = 2
# The type of an identity key, which is its first byte, and its size with that byte.
IDENTITY_KEY_TYPE: Final = 5
IDENTITY_KEY_SIZE: Final = 33

RULES: Final[tuple[Rule, ...]] = (
    rule(
        "contact.aci.length",
        "The account id does not have 16 bytes.",
        "Write the 16 bytes of the UUID.",
        "spec 2, spec 8, contract 5.6",
        Breach.FORMAT,
        length(UUID_SIZE, "Contact.aci"),
        repairs=(discard("The id, which cannot be one, is left out."),),
    ),
    rule(
        "contact.pni.length",
        "The phone number id does not have 16 bytes.",
        "Write the 16 bytes of the UUID, without a byte before them.",
        "spec 2, spec 8, contract 5.6",
        Breach.FORMAT,
        length(UUID_SIZE, "Contact.pni"),
        repairs=(discard("The id, which cannot be one, is left out."),),
    ),
    rule(
        "contact.identifier",
        "The contact has neither an account id nor a phone number.",
        "Write one of the two, or leave the contact out.",
        "contract 5.6",
        Breach.CARE,
        fields=("Contact.aci", "Contact.pni", "Contact.e164"),
        importer="An importer cannot tell who it is.",
        repairs=(DROP_RECORD,),
    ),
    rule(
        "contact.e164.zero",
        "The phone number is 0.",
        "Leave it out where it is unknown.",
        "contract 5.6",
        Breach.CARE,
        nonzero("Contact.e164"),
        repairs=(clear("The number 0 is left out."),),
    ),
    rule(
        "contact.username.form",
        "The username is not a nickname, a dot and two digits or more.",
        "Write the name as the server gave it, or leave it out.",
        "contract 5.6",
        Breach.CARE,
        username("Contact.username", longest=LONGEST_NICKNAME, digits=FEWEST_DIGITS),
        repairs=(discard("The username, which cannot be one, is left out."),),
    ),
    rule(
        "contact.profile-key.length",
        "The profile key does not have 32 bytes.",
        "Write all of it, or leave it out.",
        "contract 5.6",
        Breach.FORMAT,
        length(32, "Contact.profileKey"),
        repairs=(discard("The key, which opens nothing, is left out."),),
    ),
    rule(
        "contact.registration.set",
        "The contact does not say whether it is registered.",
        "Write that it is.",
        "spec 2, contract 5.6",
        Breach.DEFAULTED,
        one_of_fields("Contact.registration"),
        importer="An importer treats it as registered.",
        repairs=(put("The contact is registered.", registered=EMPTY),),
    ),
    rule(
        "contact.blocked-at.blocked",
        "There is a date of blocking, but the contact is not blocked.",
        "Leave the date out.",
        "contract 5.6",
        Breach.CARE,
        fields=("Contact.blockedAtTimestamp", "Contact.blocked"),
        editions=CURRENT,
        repairs=(clear("The date of blocking somebody who is not blocked is left out."),),
    ),
    rule(
        "contact.identity-key.form",
        "The identity key is not a public key with a 5 before it.",
        "Write all 33 bytes, or leave it out.",
        "contract 5.6",
        Breach.FORMAT,
        prefixed("Contact.identityKey", first=IDENTITY_KEY_TYPE, size=IDENTITY_KEY_SIZE),
        repairs=(discard("The key, which cannot be one, is left out."),),
    ),
    rule(
        "contact.identity-state.key",
        "The contact was verified, but has no identity key.",
        "Write the key that was verified, or the default state.",
        "contract 5.6",
        Breach.CARE,
        fields=("Contact.identityState", "Contact.identityKey"),
        repairs=(clear("Whether a key was verified that is not there is left out."),),
    ),
    rule(
        "contact.nickname.empty",
        "The nickname has neither of its parts.",
        "Leave the nickname out.",
        "spec 2, contract 5.6",
        Breach.CARE,
        fields=("Contact.Name.given", "Contact.Name.family"),
        importer="An importer treats it as no nickname.",
        repairs=(clear("The empty nickname is left out."),),
    ),
)

if not cython.compiled:
    ACI = field("Contact.aci")
    PNI = field("Contact.pni")
    E164 = field("Contact.e164")
    BLOCKED = field("Contact.blocked")
    BLOCKED_AT = field("Contact.blockedAtTimestamp")
    IDENTITY_KEY = field("Contact.identityKey")
    IDENTITY_STATE = field("Contact.identityState")
    GIVEN = field("Contact.Name.given")
    FAMILY = field("Contact.Name.family")
    IDENTIFIER = number_of_rule("contact.identifier")
    BLOCKED_AT_BLOCKED = number_of_rule("contact.blocked-at.blocked")
    IDENTITY_STATE_KEY = number_of_rule("contact.identity-state.key")
    NICKNAME_EMPTY = number_of_rule("contact.nickname.empty")


def check_contact(context: RuleContext, depth: cython.int) -> cython.void:
    """Check the identifiers, the blocked state and the identity key of a contact."""
    if not (context.has(depth, ACI) or context.has(depth, PNI) or context.has(depth, E164)):
        context.report_field(IDENTIFIER, depth, 0)
    if context.holds(depth, BLOCKED_AT) and not context.holds(depth, BLOCKED):
        context.report_field(BLOCKED_AT_BLOCKED, depth, BLOCKED_AT)
    if context.holds(depth, IDENTITY_STATE) and not context.has(depth, IDENTITY_KEY):
        context.report_field(IDENTITY_STATE_KEY, depth, IDENTITY_STATE)


def check_nickname(context: RuleContext, depth: cython.int) -> cython.void:
    """Check that a nickname has a given name or a family name."""
    if not (context.holds(depth, GIVEN) or context.holds(depth, FAMILY)):
        context.report_field(NICKNAME_EMPTY, depth, 0)


if not cython.compiled:
    CHECKS = {
        "Contact": check_contact,
        "Contact.Name": check_nickname,
    }
