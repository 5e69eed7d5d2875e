"""Records are compared field by field, and shown without secrets."""

from holdfast.backup.compare.field_changes import HIDDEN, FieldChange, field_changes
from holdfast.backup.schema.backup_pb2 import AccountData, Contact, Group, NotificationProfile, Recipient


def no_name(_key: object) -> str | None:
    """Return no name."""
    return None


def test_numbers_texts_choices_and_switches_are_shown() -> None:
    """Numbers, texts and enums have their values, and a missing boolean is shown as "no"."""
    old, new = AccountData(givenName="Ada"), AccountData(givenName="Ada L", bioText="hi")
    new.accountSettings.readReceipts = True
    new.accountSettings.phoneNumberSharingMode = AccountData.EVERYBODY
    new.accountSettings.universalExpireTimerSeconds = 60
    assert set(field_changes(old, new, no_name)) == {
        FieldChange("givenName", "Ada", "Ada L"),
        FieldChange("bioText", "", "hi"),
        FieldChange("accountSettings.readReceipts", "no", "yes"),
        FieldChange("accountSettings.phoneNumberSharingMode", "", "EVERYBODY"),
        FieldChange("accountSettings.universalExpireTimerSeconds", "", "60"),
    }


def test_secrets_are_compared_and_not_shown() -> None:
    """Changed keys and a changed PIN are reported with hidden values."""
    old, new = AccountData(profileKey=b"1" * 32, svrPin="1234"), AccountData(profileKey=b"2" * 32, svrPin="4321")
    changes = field_changes(old, new, no_name)
    assert {(change.field, change.before, change.after) for change in changes} == {
        ("profileKey", HIDDEN, HIDDEN),
        ("svrPin", HIDDEN, HIDDEN),
    }


def test_members_are_told_one_by_one_and_by_name() -> None:
    """Members who joined, left or have another role are reported by name, in any order of the list."""
    ada, bob, cleo = (letter * 16 for letter in (b"a", b"b", b"c"))
    old, new = Recipient(id=1), Recipient(id=2)
    old.group.snapshot.members.extend(
        [Group.Member(userId=ada, role=Group.Member.DEFAULT), Group.Member(userId=bob, role=Group.Member.DEFAULT)]
    )
    new.group.snapshot.members.extend(
        [
            Group.Member(userId=cleo, role=Group.Member.DEFAULT),
            Group.Member(userId=ada, role=Group.Member.ADMINISTRATOR),
        ]
    )
    names = {ada: "Ada", bob: "Bob"}
    changes = field_changes(old, new, lambda key: names.get(key) if isinstance(key, bytes) else None)
    cleo_id = "63636363-6363-6363-6363-636363636363"
    assert {
        (change.field.removeprefix("group.snapshot.members "), change.before, change.after) for change in changes
    } == {
        ("Ada", "role DEFAULT", "role ADMINISTRATOR"),
        ("Bob", "role DEFAULT", ""),
        (cleo_id, "", "role DEFAULT"),
    }


def test_ids_of_recipients_are_compared_as_common_numbers() -> None:
    """Lists of recipient ids are compared by person, without their order, and shown as names."""
    old, new = NotificationProfile(allowedMembers=[1, 2]), NotificationProfile(allowedMembers=[9, 8])
    numbers = {1: 1, 2: 2}, {8: 1, 9: 2}
    assert field_changes(old, new, no_name, numbers) == ()
    new.allowedMembers.append(7)
    (change,) = field_changes(old, new, lambda key: f"P{key}", numbers)
    assert change == FieldChange("allowedMembers", "P1, P2", "P1, P2, P7")


def test_an_empty_record_is_something() -> None:
    """An empty contact is a change, and being registered is not, as it is the default."""
    added = field_changes(Recipient(), Recipient(contact=Contact()), no_name)
    assert added == (FieldChange("contact", "", "yes"),)
    old, new = Contact(e164=1), Contact(e164=1)
    new.registered.SetInParent()
    assert field_changes(old, new, no_name) == ()
