"""What an id can stand for: the kinds of recipients, as numbers and as sets of them.

A contact is told by which of its identifiers it has, because some things can only be said by, or to, somebody who
can be reached in a certain way.
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

# Nobody knows what it is; that was reported where it was found, so everything is allowed of it.
NO_KIND: Final = 0
SELF: Final = 1
RELEASE_NOTES: Final = 2
GROUP: Final = 3
DISTRIBUTION_LIST: Final = 4
CALL_LINK: Final = 5
# A contact is this and the sum of what it has.
CONTACT: Final = 8
ACI: Final = 4
E164: Final = 2
PNI: Final = 1


def one_of(*kinds: int) -> int:
    """Make the set of these kinds."""
    return sum(1 << kind for kind in {NO_KIND, *kinds})


CONTACTS: Final = one_of(*range(CONTACT + 1, CONTACT + 8))
CONTACTS_WITH_ACI: Final = one_of(*(kind for kind in range(CONTACT, CONTACT + 8) if kind & ACI))
CONTACTS_WITH_ACI_OR_NUMBER: Final = one_of(*(kind for kind in range(CONTACT, CONTACT + 8) if kind & (ACI | E164)))
CONTACTS_ON_THE_SERVICE: Final = one_of(*(kind for kind in range(CONTACT, CONTACT + 8) if kind & (ACI | PNI)))
ANYBODY: Final = (1 << 16) - 1
