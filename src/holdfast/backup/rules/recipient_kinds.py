"""The kinds of recipients, as numbers and as bit sets.

The kind of a contact includes which identifiers it has, because some messages and updates are only possible with
certain identifiers.
"""

from typing import Final

__all__ = [
    "ACI",
    "ANYBODY",
    "CALL_LINK",
    "CONTACT",
    "CONTACTS",
    "CONTACTS_ON_THE_SERVICE",
    "CONTACTS_WITH_ACI",
    "CONTACTS_WITH_ACI_OR_NUMBER",
    "DISTRIBUTION_LIST",
    "E164",
    "GROUP",
    "NO_KIND",
    "PNI",
    "RELEASE_NOTES",
    "SELF",
    "one_of",
]

# Unknown kind. It was reported where it was defined, so that references to it are not checked.
NO_KIND: Final = 0
SELF: Final = 1
RELEASE_NOTES: Final = 2
GROUP: Final = 3
DISTRIBUTION_LIST: Final = 4
CALL_LINK: Final = 5
# The kind of a contact is this plus the bits of its identifiers.
CONTACT: Final = 8
ACI: Final = 4
E164: Final = 2
PNI: Final = 1


def one_of(*kinds: int) -> int:
    """Return the bit set of these kinds."""
    return sum(1 << kind for kind in {NO_KIND, *kinds})


CONTACTS: Final = one_of(*range(CONTACT + 1, CONTACT + 8))
CONTACTS_WITH_ACI: Final = one_of(*(kind for kind in range(CONTACT, CONTACT + 8) if kind & ACI))
CONTACTS_WITH_ACI_OR_NUMBER: Final = one_of(*(kind for kind in range(CONTACT, CONTACT + 8) if kind & (ACI | E164)))
CONTACTS_ON_THE_SERVICE: Final = one_of(*(kind for kind in range(CONTACT, CONTACT + 8) if kind & (ACI | PNI)))
ANYBODY: Final = (1 << 16) - 1
