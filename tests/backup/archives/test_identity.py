"""Identity of recipients across backups."""

import hashlib
import random
from itertools import permutations
from pathlib import Path

from holdfast.backup import archives
from holdfast.backup.archives.identity import avatar_color, identities, service_id, stable_id, uuid_text
from holdfast.backup.schema.backup_pb2 import AvatarColor, Contact, Group, Recipient
from tests.backup.archives.dump import dump
from tests.backup.archives.histories import copies, import_backups, items, write


def test_the_strongest_identifier_comes_first() -> None:
    """The order is ACI, PNI, number and username, and usernames are compared in lower case."""
    contact = Contact(aci=b"a" * 16, pni=b"p" * 16, e164=15550100, username="Heron.01")
    kinds = [kind for kind, _ in identities(Recipient(contact=contact))]
    assert kinds == ["aci", "pni", "e164", "username"]
    assert identities(Recipient(contact=Contact(username="HERON.01"))) == [("username", "heron.01")]
    assert identities(Recipient()) == []


def test_ids_are_the_same_in_every_archive() -> None:
    """An id depends on its input only, and is never 0, which means nobody."""
    assert stable_id("account", "x") == stable_id("account", "x") != stable_id("account", "y")
    assert 0 < stable_id("anything") < 1 << 47


def test_a_colour_that_is_not_set_is_computed() -> None:
    """The colour is computed from the ACI, else the number, else the PNI with its prefix.

    A colour that is set is kept.
    """
    names = AvatarColor.keys()
    aci = b"\x07" * 16
    expected = names[hashlib.sha256(aci).digest()[0] % len(names)]
    assert avatar_color(Recipient(contact=Contact(aci=aci, e164=15550100))) == (expected, True)
    expected = names[hashlib.sha256(b"+15550100").digest()[0] % len(names)]
    assert avatar_color(Recipient(contact=Contact(pni=aci, e164=15550100))) == (expected, True)
    expected = names[hashlib.sha256(b"\x01" + aci).digest()[0] % len(names)]
    assert avatar_color(Recipient(contact=Contact(pni=aci))) == (expected, True)
    assert avatar_color(Recipient(contact=Contact(aci=aci, avatarColor=AvatarColor.A130))) == ("A130", False)
    assert avatar_color(Recipient(group=Group(masterKey=bytes(32))))[1]


def test_service_ids_are_written_as_others_do() -> None:
    """A service id is written as a UUID, and that of a PNI has the prefix "PNI:"."""
    assert service_id(b"\x01" + bytes(16)) == "PNI:00000000-0000-0000-0000-000000000000"
    assert service_id(bytes(16)) == "00000000-0000-0000-0000-000000000000"
    assert service_id(b"") == ""


def test_somebody_known_by_number_who_joins_later_is_the_same_person(tmp_path: Path) -> None:
    """A contact known by number only and later by ACI has one chat, in either order of imports."""
    header, frames = copies()
    person = next(
        frame.recipient.contact for frame in frames if frame.recipient.contact.aci and frame.recipient.contact.e164
    )
    newer = write(tmp_path / "newer", header, frames)
    person.ClearField("aci")
    person.ClearField("pni")
    person.ClearField("username")
    header.backupTimeMs -= 1000
    older = write(tmp_path / "older", header, frames)
    for name, order in (("a", (older, newer)), ("b", (newer, older))):
        _, second = import_backups(tmp_path / f"{name}.db", *order)
        assert (second.new, second.changed, second.vanished) == (0, 0, 0)
        with archives.open(tmp_path / f"{name}.db") as opened:
            assert sum(chat.messages for chat in opened.chats()) == 60
            # That somebody is better known changes none of their messages.
            assert opened.connection.execute("SELECT count(*) FROM message_change").fetchone() == (0,)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")


def test_a_number_and_a_pni_turn_out_to_be_one_person(tmp_path: Path) -> None:
    """A backup with both links the number to the PNI, and their messages are in one chat in any order."""
    header, frames = copies()
    person = next(
        frame.recipient.contact for frame in frames if frame.recipient.contact.aci and frame.recipient.contact.pni
    )
    complete = Contact.FromString(person.SerializeToString())
    sources = []
    for n, identifiers in enumerate(({"e164"}, {"pni"}, {"pni", "e164"})):
        person.CopyFrom(complete)
        person.ClearField("aci")
        person.ClearField("username")
        if "pni" not in identifiers:
            person.ClearField("pni")
        if "e164" not in identifiers:
            person.ClearField("e164")
        header.backupTimeMs += n
        sources.append(write(tmp_path / str(n), header, frames))
    for n, order in enumerate(permutations(sources)):
        import_backups(tmp_path / f"{n}.db", *order)
        assert dump(tmp_path / f"{n}.db") == dump(tmp_path / "0.db")
    with archives.open(tmp_path / "0.db") as opened:
        assert sum(chat.messages for chat in opened.chats()) == 60


def test_somebody_with_a_new_number_is_the_same_person(tmp_path: Path) -> None:
    """A new number and PNI with the same ACI adds no messages, and the contact has the new number."""
    header, frames = copies()
    person = next(
        frame.recipient.contact for frame in frames if frame.recipient.contact.aci and frame.recipient.contact.pni
    )
    source = write(tmp_path / "one", header, frames)
    number = person.e164
    person.e164, person.pni = 15550199, b"n" * 16
    header.backupTimeMs += 1
    _, second = import_backups(tmp_path / "a.db", source, write(tmp_path / "two", header, frames))
    assert (second.new, second.vanished) == (0, 0)
    with archives.open(tmp_path / "a.db") as opened:
        phones = {row.phone for row in opened.people()}
    assert ("+15550199" in phones, f"+{number}" in phones) == (True, False)


def test_the_owner_is_the_member_who_is_nobodys_contact(tmp_path: Path) -> None:
    """The ACI of the owner is unknown if two group members are nobody's contact."""
    header, frames = copies()
    own, other = b"o" * 16, b"s" * 16
    groups = [frame.recipient.group for frame in frames if frame.recipient.HasField("group")]
    contacts = {frame.recipient.contact.aci for frame in frames}
    for group in groups:
        strangers = [member for member in group.snapshot.members if member.userId not in contacts]
        for member in strangers:
            group.snapshot.members.remove(member)
        group.snapshot.members.add(userId=own, role=Group.Member.DEFAULT)
    for item in items(frames):
        for change in item.updateMessage.groupChange.updates if item.HasField("updateMessage") else ():
            change.genericGroupUpdate.SetInParent()
    import_backups(tmp_path / "a.db", write(tmp_path / "one", header, frames))
    for group in groups:
        group.snapshot.members.add(userId=other, role=Group.Member.DEFAULT)
    import_backups(tmp_path / "b.db", write(tmp_path / "two", header, frames))
    rows = []
    for name in ("a.db", "b.db"):
        with archives.open(tmp_path / name) as opened:
            rows += opened.connection.execute("SELECT self_aci FROM account").fetchall()
    assert rows == [(uuid_text(own),), (None,)]


def test_a_number_that_went_to_somebody_else_is_two_people(tmp_path: Path) -> None:
    """Two ACIs with the same number are two people, in either order of imports."""
    header, frames = copies()
    person = next(frame.recipient.contact for frame in frames if frame.recipient.contact.aci)
    source = write(tmp_path / "one", header, frames)
    person.aci, person.pni = random.Random(1).randbytes(16), b""
    header.backupTimeMs += 1
    two = write(tmp_path / "two", header, frames)
    import_backups(tmp_path / "a.db", source, two)
    import_backups(tmp_path / "b.db", two, source)
    assert dump(tmp_path / "a.db") == dump(tmp_path / "b.db")
    with archives.open(tmp_path / "a.db") as opened:
        phones = [row.phone for row in opened.people() if row.phone]
    assert len(phones) == len(set(phones)) + 1
