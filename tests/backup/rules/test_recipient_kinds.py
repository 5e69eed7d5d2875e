"""The sets of recipient kinds that rules refer to."""

from holdfast.backup.rules.recipient_kinds import (
    ACI,
    CONTACT,
    CONTACTS,
    CONTACTS_WITH_ACI,
    E164,
    GROUP,
    NO_KIND,
    PNI,
    SELF,
    one_of,
)


def test_a_set_has_a_bit_for_each_kind() -> None:
    """A set of kinds has a bit for each kind, and always the bit of unknown recipients."""
    assert one_of() == 1 << NO_KIND
    assert one_of(SELF, GROUP) == 1 << NO_KIND | 1 << SELF | 1 << GROUP
    assert one_of(SELF, SELF) == one_of(SELF)


def test_contacts_are_told_by_what_they_have() -> None:
    """A contact has at least one of ACI, PNI and E.164; one without any is not in the set of contacts."""
    with_aci = (ACI, ACI | E164, ACI | PNI, ACI | E164 | PNI)
    assert one_of(*(CONTACT + kind for kind in with_aci)) == CONTACTS_WITH_ACI
    assert CONTACTS & 1 << CONTACT == 0
    assert one_of(*(CONTACT + kind for kind in range(1, 8))) == CONTACTS
